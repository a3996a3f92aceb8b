// Package state contains the view models of the windows, as plain values and without a GUI toolkit:
// it follows the gateway's feed, updates the view models, and carries out a person's actions.
// Unless documented as blocking, actions return at once; their results arrive as changed values.
package feed

import (
	"cmp"
	"slices"
	"strings"

	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// View is the state of the whole gateway. Its slices must not be changed.
type View struct {
	Connected bool
	// Problem says why there is no connection; empty while connected and at first.
	Problem   string
	Loaded    bool // the first snapshot has arrived
	Status    protocol.Status
	Sessions  ChatList                // the person's chats, newest activity first
	Scheduled []protocol.SessionEntry // the chats of schedules, in no order; they are shown with their schedules
	// LoadingChats reports that Sessions lacks older chats, which are being loaded.
	LoadingChats bool
	Nodes        MachineList         // online first, then by name
	Approvals    []protocol.Question // pending and not being answered here, in the same order as Questions
	Runs         []protocol.RunInfo  // active runs, and the latest failed run of each chat
	Calls        CallList
	Transfers    []protocol.Transfer // unfinished, oldest first
	Notice       *protocol.Notice    // the latest notice
	// Closed are recently closed approvals, oldest first, for the windows that showed them.
	Closed []Closed
	// Finished are the transfers that succeeded or failed while this window was open, oldest first.
	Finished []protocol.Transfer
	// EndedRuns are the runs that ended while this window was open, oldest first.
	EndedRuns []protocol.RunInfo
	// Models are the choices of the model menu in the header.
	Models []ModelChoice
	// The following count changes of these parts, so that pages load them again.
	ConfigChanged, HistoryChanged, SkillsChanged, FilesChanged, ChannelsChanged, RulesChanged, SchedulesChanged int
	// Questions are the pending questions other than approvals, and not being answered here, in the
	// order in which the person should answer them.
	Questions QuestionList
	// Pairing has the paired devices.
	Pairing Pairing
	// Apps has the connected apps.
	Apps ConnectedApps
	// Servers has the MCP servers.
	Servers ServerList
	// AccessRequests is the number of people on channels who wait for access.
	AccessRequests int

	// Remote reports whether the gateway is remote; Device is this paired computer's ID there.
	Remote bool
	Device protocol.DeviceID

	Answering   map[protocol.QuestionID]bool // questions with an answer of this window on its way
	PairingLoad int64                        // number of the request that Pairing is the result of
	AppLoad     int64                        // number of the request that Apps is the result of
	ServerLoad  int64                        // number of the request that Servers is the result of
	// removed are the transfers that will be removed from the history unless the person undoes that
	Removed map[protocol.TransferID]bool
}

// Closed is an approval that is no longer pending. Here reports whether this window answered it.
type Closed struct {
	protocol.Question
	AnsweredHere bool
}

// Numbers of finished transfers and runs, and of closed approvals, that are retained.
const (
	MaxFinished = 32
	maxClosed   = 32
)

// Needs returns the number of questions that wait for the person.
func (v View) Needs() int { return len(v.Approvals) + len(v.Questions) }

// Working reports whether any run is in progress.
func (v View) Working() bool {
	return slices.ContainsFunc(v.Runs, func(r protocol.RunInfo) bool { return !r.Over() && r.State != protocol.RunQueued })
}

// Session finds a chat. An unknown one has only its key, and Main if the gateway says so.
func (v View) Session(key protocol.SessionKey) (protocol.SessionEntry, bool) {
	for _, list := range [][]protocol.SessionEntry{v.Sessions, v.Scheduled} {
		if s, ok := lists.Find(list, func(s protocol.SessionEntry) bool { return s.SessionKey == key }); ok {
			return s, true
		}
	}
	return protocol.SessionEntry{SessionKey: key, Main: key == cmp.Or(v.Status.MainSession, protocol.MainSession)}, false
}

// IsMainAlias reports whether a key leads to the main chat, although that has another key.
func (v View) IsMainAlias(key protocol.SessionKey) bool {
	main := v.Status.MainSession
	if key != protocol.MainSession || main == "" || main == key {
		return false
	}
	e, known := v.Session(key)
	return !known || !e.Main || strings.HasPrefix(string(main), "agent:"+string(protocol.MainAgent)+":")
}

// NameOf returns a machine's display name.
func NameOf(n protocol.NodeInfo) string { return cmp.Or(n.Name, string(n.ID)) }

// PlaceName returns the name of a place with files: a machine, or the agent's own files if empty.
func (v View) PlaceName(id protocol.NodeID) string {
	n, ok := v.Nodes.Find(id)
	switch {
	case id == "":
		return "Agent's files"
	case ok && n.Local && !v.Remote:
		return NameOf(n) + " (this computer)"
	}
	return v.Nodes.Name(id)
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
