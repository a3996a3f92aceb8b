package conversation

import (
	"slices"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// State is everything that the view shows of a conversation. Its slices must not change after they
// were passed; Messages may share its beginning with the previous state's.
type State struct {
	Session protocol.SessionEntry
	// Messages are the loaded messages, oldest first; History.Older loads more.
	Messages []protocol.Message
	More     bool
	Loading  bool
	// Problem says why the conversation cannot be shown or changed; empty without one.
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
	if v.Status.IsLost() {
		s.Offline = "Not connected. " + v.Status.Problem
	}
	return s
}

// IsRunning reports whether a run is in progress.
func (s *State) IsRunning() bool {
	return slices.ContainsFunc(s.Runs, func(r protocol.RunInfo) bool { return !r.Over() && r.State != protocol.RunQueued })
}

// showsFailure reports whether the failure of a run is shown by the run's own row.
func (s *State) showsFailure(run protocol.RunID) bool {
	return slices.ContainsFunc(s.Runs, func(r protocol.RunInfo) bool { return r.RunID == run && r.State == protocol.RunFailed })
}

// IsOffline reports whether a machine is known and not connected.
func (s *State) IsOffline(id protocol.NodeID) bool {
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

// Stored returns a stored message; nil if it is not loaded.
func (s *State) Stored(id protocol.MessageID) *protocol.Message {
	i := slices.IndexFunc(s.Messages, func(m protocol.Message) bool { return m.ID == id })
	if i < 0 || id == "" {
		return nil
	}
	return &s.Messages[i]
}
