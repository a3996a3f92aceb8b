package chat

import (
	"fyne.io/fyne/v2"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// State is everything the pane shows of a conversation. Its slices must not change after they were given; Messages may share
// its beginning with the one before.
type State struct {
	Session protocol.SessionEntry
	// Messages are those loaded, oldest first. More says that there are older ones, which [Handlers.Older] fetches.
	Messages []protocol.Message
	More     bool
	Loading  bool
	// Problem is why the conversation cannot be shown or changed, empty when all is well.
	Problem string
	// Runs are those of this conversation that are not over, in order, and the last that failed until another begins.
	Runs []protocol.RunInfo
	// Calls are those of this conversation that are not over.
	Calls []protocol.CallInfo
	// Approvals are the open questions of this conversation.
	Approvals []protocol.Approval
	Nodes     []protocol.NodeInfo
	Elsewhere bool // none of them is this computer
	// Model is what answers, after the conversation's own settings. Models are offered in the header's menu.
	Model  protocol.ModelRef
	Models []Model
	Paused bool
	// Offline says why nothing is going on just now: the gateway cannot be reached. Empty while it can.
	Offline string
}

// StateOf picks a conversation's state out of the view-models. The caller may fill in Models.
func StateOf(v state.View, c state.ChatView) State {
	s := State{Messages: c.Messages, More: c.More, Loading: c.Loading, Problem: c.Problem, Nodes: v.Nodes, Elsewhere: v.Elsewhere, Model: v.Status.Model, Paused: v.Status.Paused}
	s.Session, _ = v.Session(c.Key)
	s.Session.SessionKey = c.Key
	if p := s.Session.Settings; p != nil && p.Model != nil {
		s.Model = *p.Model
	}
	for _, r := range v.Runs {
		if r.SessionKey == c.Key {
			s.Runs = append(s.Runs, r)
		}
	}
	for _, x := range v.Calls {
		if x.SessionKey == c.Key {
			s.Calls = append(s.Calls, x)
		}
	}
	for _, q := range v.Approvals {
		if q.SessionKey == c.Key {
			s.Approvals = append(s.Approvals, q)
		}
	}
	if !v.Connected && v.Problem != "" {
		s.Offline = "Not connected: " + v.Problem
	}
	return s
}

// Model is a choice of the header's menu.
type Model struct {
	Ref  protocol.ModelRef
	Name string
}

// Handlers are what the pane calls, on the GUI thread. A nil one hides what it is for. Those with done call it later, on the
// GUI thread.
type Handlers struct {
	Send       func(text string, images []protocol.Attachment, node protocol.NodeID)
	Stop       func() // the run in progress
	Unqueue    func(protocol.RunID)
	StopCall   func(protocol.CallID)
	Answer     func(q protocol.Approval, decision string)
	Review     func(protocol.ApprovalID) // open the dialog
	Older      func()
	SearchAll  func(query string) // look for a text in every chat
	Reload     func()
	Rename     func(title string)
	Export     func()
	Earlier    func() // what was said before the chat was begun afresh
	Reset      func()
	Delete     func()
	SetModel   func(protocol.ModelRef) // zero is the default again
	SetThink   func(level string)      // empty is the default again
	SetMode    func(state.ModeChoice)  // how the chat asks
	Settings   func()                  // the settings' page of models
	Resume     func()                  // the paused agent
	OpenURL    func(string)
	OpenImage  func(fyne.Resource)
	ReadFile   func(path string, done func(protocol.Attachment, error))
	PickFiles  func(done func(paths []string))
	PasteImage func(done func(protocol.Attachment, error)) // when the clipboard holds no text
	Media      func(key string, done func(data []byte, err error))
	Pictures   func(said protocol.Content, done func([]protocol.Attachment)) // of a stored message, to be sent again; done is not called where they cannot be read
	Work       func(work, done func())                                       // runs work beside the GUI thread, then done; nil runs both at once
}
