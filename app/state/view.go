package state

import (
	"cmp"
	"strings"

	"fairlead/gateway/protocol"
)

// View is the state of the whole gateway. Its slices must not be changed.
type View struct {
	Connected bool
	// Problem is the reason why there is no connection. It is empty while connected and during the
	// first attempt.
	Problem   string
	Loaded    bool // the first snapshot has arrived
	Status    protocol.Status
	Sessions  []protocol.SessionEntry // newest activity first
	Nodes     []protocol.NodeInfo     // online first, then by name
	Approvals []protocol.Approval     // pending and not being answered here, oldest first
	Runs      []protocol.RunInfo      // active runs, and the latest failed run of each chat
	Calls     []protocol.CallInfo
	Transfers []protocol.Transfer // unfinished, oldest first
	Notice    *protocol.Notice    // the latest notice
	// Closed are recently closed approvals, oldest first, for the windows that showed them.
	Closed []Closed
	// Finished are the transfers that succeeded or failed while this window was open, oldest first.
	Finished []protocol.Transfer
	// Models are the choices of the model menu in the header.
	Models []ModelChoice
	// ConfigChanged, Devices and Ended count the changes of the configuration, of pairings, and of
	// the history of transfers.
	ConfigChanged, DevicesChanged, HistoryChanged int
	// SkillsChanged and Channels count the changes of the agent's skills, and of channels and their
	// contacts.
	SkillsChanged, ChannelsChanged int
	// AccessRequests is the number of people on channels who wait for access.
	AccessRequests int

	// RulesChanged counts the changes of the rules, FilesChanged those of the agents' files.
	RulesChanged, FilesChanged int

	// Remote reports whether the gateway is remote. Device is the ID of this computer as a
	// paired device there, if it is one.
	Remote bool
	Device protocol.DeviceID

	answering map[protocol.ApprovalID]bool // approvals with an answer of this window on its way
}

// Closed is an approval that is no longer pending. Here reports whether this window answered it.
type Closed struct {
	protocol.Approval
	AnsweredHere bool
}

// maxFinished is the number of finished transfers that are retained.
const maxFinished = 32

// maxClosed is the number of closed approvals that are retained.
const maxClosed = 32

// Working reports whether any run is in progress.
func (v View) Working() bool {
	for _, r := range v.Runs {
		if !r.Over() && r.State != protocol.RunQueued {
			return true
		}
	}
	return false
}

// Session finds a chat. For an unknown chat it returns an entry with its key, marked as the main
// chat if the gateway says so.
func (v View) Session(key protocol.SessionKey) (protocol.SessionEntry, bool) {
	for _, s := range v.Sessions {
		if s.SessionKey == key {
			return s, true
		}
	}
	return protocol.SessionEntry{SessionKey: key, Main: key == cmp.Or(v.Status.MainSession, protocol.MainSession)}, false
}

// IsMainAlias reports whether a key is the default key of the main chat while the gateway's main
// chat has another key: messages to the default key arrive in that chat.
func (v View) IsMainAlias(key protocol.SessionKey) bool {
	main := v.Status.MainSession
	if key != protocol.MainSession || main == "" || main == key {
		return false
	}
	e, known := v.Session(key)
	return !known || !e.Main || strings.HasPrefix(string(main), "agent:"+string(protocol.MainAgent)+":")
}

// Local finds the machine that runs in the gateway's own process.
func (v View) Local() (protocol.NodeInfo, bool) {
	for _, n := range v.Nodes {
		if n.Local {
			return n, true
		}
	}
	return protocol.NodeInfo{}, false
}

// Node finds a machine.
func (v View) Node(id protocol.NodeID) (protocol.NodeInfo, bool) {
	for _, n := range v.Nodes {
		if n.ID == id {
			return n, true
		}
	}
	return protocol.NodeInfo{}, false
}

// CallsOn returns the calls in progress on a machine.
func (v View) CallsOn(id protocol.NodeID) []protocol.CallInfo {
	return without(v.Calls, func(c protocol.CallInfo) bool { return c.Node != id || c.Over() })
}

// NameOf returns a machine's display name.
func NameOf(n protocol.NodeInfo) string {
	if n.Name != "" {
		return n.Name
	}
	return string(n.ID)
}

// MachineName returns the display name of a machine ID, even if the machine no longer exists.
func (v View) MachineName(id protocol.NodeID) string {
	if n, ok := v.Node(id); ok {
		return NameOf(n)
	}
	return string(id)
}

// TitleOf returns a chat's title in lists.
func TitleOf(s protocol.SessionEntry) string {
	switch {
	case s.Title != "":
		return s.Title
	case s.Main:
		return "Main chat"
	}
	return "New chat"
}

// ChatName returns the display name of a chat key, even if the chat no longer exists.
func (v View) ChatName(key protocol.SessionKey) string {
	if s, ok := v.Session(key); ok {
		return TitleOf(s)
	}
	return string(key)
}
