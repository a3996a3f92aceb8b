package chat

import (
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/gateway/export"
	"fairlead/gateway/protocol"
)

// State is everything that the pane shows of a conversation. Its slices must not change after they
// were passed; Messages may share its beginning with the previous state's.
type State struct {
	Session protocol.SessionEntry
	// Messages are the loaded messages, oldest first; [Handlers.Older] loads more.
	Messages []protocol.Message
	More     bool
	Loading  bool
	// Problem is why the conversation cannot be shown or changed; empty if there is no problem.
	Problem string
	// Runs are the unfinished runs, in order, and the last failed one until another starts.
	Runs []protocol.RunInfo
	// Calls are the unfinished calls of this conversation.
	Calls []protocol.CallInfo
	// Approvals are the pending approvals of this conversation.
	Approvals []protocol.Question
	Nodes     []protocol.NodeInfo
	Elsewhere bool // no machine is this computer
	// Model is the model in use, Models are the choices of the header's menu.
	Model  protocol.ModelRef
	Models []feed.ModelChoice
	Paused bool
	// Offline is why the gateway cannot be reached; empty while it can.
	Offline string
}

// StateOf extracts a conversation's state from the view models.
func StateOf(v feed.View, c chats.Messages) State {
	s := State{Messages: c.List, More: c.More, Loading: c.Loading, Problem: c.Problem, Nodes: v.Machines, Elsewhere: v.Status.Remote, Model: v.Status.Model, Models: v.Models, Paused: v.Status.Paused}
	s.Session, _ = v.Session(c.Key)
	s.Session.SessionKey = c.Key
	if p := s.Session.Settings; p != nil && p.Model != nil {
		s.Model = *p.Model
	}
	s.Runs = v.Runs.In(c.Key, v.Texts)
	s.Calls = slices.DeleteFunc(slices.Clone(v.Calls), func(x protocol.CallInfo) bool { return x.SessionKey != c.Key })
	s.Approvals = slices.DeleteFunc(v.Questions.Pending.OfCalls(), func(q protocol.Question) bool {
		return q.SessionKey != c.Key
	})
	if !v.Status.Connected && v.Status.Problem != "" {
		s.Offline = "Not connected. " + v.Status.Problem
	}
	return s
}

func (s *State) isRunning() bool {
	return slices.ContainsFunc(s.Runs, func(r protocol.RunInfo) bool { return !r.Over() && r.State != protocol.RunQueued })
}

// showsFailure reports whether the failure of a run is shown by the run's own row.
func (s *State) showsFailure(run protocol.RunID) bool {
	return slices.ContainsFunc(s.Runs, func(r protocol.RunInfo) bool { return r.RunID == run && r.State == protocol.RunFailed })
}

// isOffline reports whether a machine is known and not connected.
func (s *State) isOffline(id protocol.NodeID) bool {
	return slices.ContainsFunc(s.Nodes, func(n protocol.NodeInfo) bool { return n.ID == id && !n.Online })
}

// liveCall returns the known state of a call without a result.
func (s *State) liveCall(run protocol.RunID, toolCall string) (*protocol.CallInfo, *protocol.Question) {
	for i := range s.Calls {
		c := &s.Calls[i]
		if c.ToolCallID == toolCall && (c.RunID == run || c.RunID == "" || run == "") {
			return c, s.pendingApproval(*c)
		}
	}
	return nil, nil
}

// pendingApproval returns the approval that a call waits for.
func (s *State) pendingApproval(c protocol.CallInfo) *protocol.Question {
	for i := range s.Approvals {
		q := &s.Approvals[i]
		isOf := q.CallID != "" && q.CallID == c.CallID || c.ApprovalID != "" && q.ID == c.ApprovalID
		if isOf && (q.State == protocol.QuestionPending || q.State == "") {
			return q
		}
	}
	return nil
}

// storedMessage returns a stored message; nil if it is not loaded.
func (s *State) storedMessage(id protocol.MessageID) *protocol.Message {
	i := slices.IndexFunc(s.Messages, func(m protocol.Message) bool { return m.ID == id })
	if i < 0 || id == "" {
		return nil
	}
	return &s.Messages[i]
}

// Handlers are the pane's callbacks, called on the GUI thread. Those with a done function call it
// later, on the GUI thread. A reader uses only OpenURL, OpenImage, Media, Settings and Older.
type Handlers struct {
	// Output loads the whole output of a call; done is not called on failure.
	Output func(id protocol.CallID, done func(text string))
	// OpenOutput opens an output in a window; search focuses its search field.
	OpenOutput func(title, text string, search bool)
	// WrapOutput is whether outputs wrap their lines at first; SetWrap stores a change.
	WrapOutput bool
	SetWrap    func(on bool)
	// Undo reverts a call's change of a file, or with redo repeats it.
	Undo func(call protocol.CallInfo, redo bool, done func(error))
	Send func(text string, images []protocol.Attachment, node protocol.NodeID)
	// Resend replaces a message of the person, and everything after it. SessionKey is not set.
	Resend        func(protocol.ChatResendParams)
	DeleteMessage func(id protocol.MessageID, what string) // what names it, such as "The answer"
	// Fork opens a new chat with the messages up to one; with a draft, with those before it.
	Fork func(id protocol.MessageID, draft protocol.Content)
	// Complete finds what can be inserted after a text; nil offers nothing.
	Complete   func(before string, node protocol.NodeID, done func(Completions))
	Stop       func() // stops the run in progress
	Unqueue    func(protocol.RunID)
	StopCall   func(protocol.CallID)
	Answer     func(q protocol.Question, decision string)
	Review     func(protocol.QuestionID) // opens the approval dialog
	Older      func()
	SearchAll  func(query string) // searches in all chats
	Reload     func()
	Rename     func(title string)
	Export     func(export.Format)
	Menu       func() []*fyne.MenuItem // the actions on the chat; may be nil
	Reset      func()
	SetModel   func(protocol.ModelRef) // the zero value restores the default
	SetThink   func(level string)      // empty restores the default
	SetMode    func(chats.ModeChoice)  // sets the approval mode
	Settings   func()                  // opens the settings' page of models
	Budget     func()                  // opens the settings of the budget
	Resume     func()                  // resumes the paused agent
	OpenURL    func(string)
	OpenImage  func(fyne.Resource)
	ReadFile   func(path string, done func(protocol.Attachment, error))
	PickFiles  func(done func(paths []string))
	PasteImage func(done func(protocol.Attachment, error)) // for a clipboard without text; nil if unsupported
	Media      func(key string, done func(data []byte, err error))
	// loads pictures of a stored message, to be sent again; done is not called on failure
	Pictures func(content protocol.Content, done func([]protocol.Attachment))
	// runs work off the GUI thread, then done on it; nil runs both directly
	Work func(work, done func())
}
