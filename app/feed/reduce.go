package feed

import (
	"cmp"
	"maps"
	"slices"

	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// ApplySnapshot sets the view to a snapshot. The window's own state is retained.
func ApplySnapshot(v *View, s protocol.FeedSnapshot) {
	v.Loaded, v.Status, v.Nodes, v.Approvals = true, s.Status, slices.SortedStableFunc(slices.Values(s.Nodes), byPresence), nil
	isScheduled := func(e protocol.SessionEntry) bool { return e.Schedule != "" }
	v.Sessions = lists.Without(s.Sessions, isScheduled)
	v.Scheduled = lists.Without(s.Sessions, func(e protocol.SessionEntry) bool { return !isScheduled(e) })
	v.Runs, v.Calls, v.Transfers = s.Runs, s.Calls, s.Transfers
	v.LoadingChats = len(s.Sessions) >= protocol.MaxSnapshotSessions
	for kind, counter := range v.counters() {
		if kind != protocol.ChangeConfig && kind != protocol.ChangeFile {
			*counter++
		}
	}
	v.Questions = nil
	for _, q := range s.Questions {
		ReduceQuestion(v, q)
	}
}

// MapWith returns a copy of a map that has the value for some keys, or does not have the keys.
func MapWith[K comparable, V any](m map[K]V, value V, present bool, keys ...K) map[K]V {
	out := make(map[K]V, len(m)+len(keys))
	maps.Copy(out, m)
	for _, key := range keys {
		out[key] = value
		if !present {
			delete(out, key)
		}
	}
	return out
}

// Reduce applies a change to the view, unless it lacks the value that its kind requires.
func Reduce(v *View, c protocol.Change) {
	switch {
	case c.Kind == protocol.ChangeSession && c.Session != nil && c.Session.Schedule != "":
		v.Scheduled = lists.Replace(v.Scheduled, *c.Session, func(s protocol.SessionEntry) bool { return s.SessionKey == c.Session.SessionKey })
	case c.Kind == protocol.ChangeSession && c.Session != nil:
		v.Sessions = lists.Replace(v.Sessions, *c.Session, func(s protocol.SessionEntry) bool { return s.SessionKey == c.Session.SessionKey })
		SortByActivity(v.Sessions)
	case c.Kind == protocol.ChangeSessionDeleted:
		gone := func(s protocol.SessionEntry) bool { return s.SessionKey == c.SessionKey }
		v.Sessions, v.Scheduled = lists.Without(v.Sessions, gone), lists.Without(v.Scheduled, gone)
	case c.Kind == protocol.ChangeRun && c.Run != nil:
		reduceEndedRun(v, *c.Run)
		v.Runs = reduceRun(v.Runs, *c.Run)
	case c.Kind == protocol.ChangeDelta && c.Delta != nil:
		v.Runs = reduceDelta(v.Runs, *c.Delta)
	case c.Kind == protocol.ChangeMessage && c.Message != nil:
		reduceMessage(v, *c.Message)
	case c.Kind == protocol.ChangeCall && c.Call != nil:
		same := func(x protocol.CallInfo) bool { return x.CallID == c.Call.CallID }
		if c.Call.Over() && c.Call.ToolCallID == "" { // no message will follow
			v.Calls = lists.Without(v.Calls, same)
		} else {
			v.Calls = lists.Replace(v.Calls, *c.Call, same)
		}
	case c.Kind == protocol.ChangeQuestion && c.Question != nil:
		ReduceQuestion(v, *c.Question)
	case c.Kind == protocol.ChangeNode && c.Node != nil:
		v.Nodes = lists.Replace(v.Nodes, *c.Node, func(n protocol.NodeInfo) bool { return n.ID == c.Node.ID })
		slices.SortStableFunc(v.Nodes, byPresence)
	case c.Kind == protocol.ChangeNodeForgotten && c.Node != nil:
		v.Nodes = lists.Without(v.Nodes, func(n protocol.NodeInfo) bool { return n.ID == c.Node.ID })
	case c.Kind == protocol.ChangeTransfer && c.Transfer != nil:
		reduceTransfer(v, *c.Transfer)
	case c.Kind == protocol.ChangeStatus && c.Status != nil:
		v.Status = *c.Status
	case c.Kind == protocol.ChangeNotice && c.Notice != nil:
		v.Notice = c.Notice
	default:
		if counter := v.counters()[c.Kind]; counter != nil {
			*counter++
		}
	}
}

// SortByActivity sorts chats, the newest activity first.
func SortByActivity(list []protocol.SessionEntry) {
	slices.SortStableFunc(list, func(a, b protocol.SessionEntry) int { return cmp.Compare(b.LastActiveAt, a.LastActiveAt) })
}

// counters returns the counters of changes that are only counted, by the kind of change.
func (v *View) counters() map[string]*int {
	return map[string]*int{
		protocol.ChangeRules: &v.RulesChanged, protocol.ChangeFile: &v.FilesChanged,
		protocol.ChangeSkills:   &v.SkillsChanged,
		protocol.ChangeChannels: &v.ChannelsChanged, protocol.ChangeConfig: &v.ConfigChanged,
		protocol.ChangeTransferRemoved: &v.HistoryChanged, protocol.ChangeSchedules: &v.SchedulesChanged,
	}
}

// byPresence puts the gateway's own machine first, then those that are online.
func byPresence(a, b protocol.NodeInfo) int {
	return cmp.Or(lists.TrueFirst(a.Local, b.Local), lists.TrueFirst(a.Online, b.Online), cmp.Compare(a.ID, b.ID))
}

// reduceTransfer applies a transfer's state. A finished transfer moves to the history.
func reduceTransfer(v *View, t protocol.Transfer) {
	same := func(x protocol.Transfer) bool { return x.ID == t.ID }
	if t.Over() {
		// otherwise it finished earlier, and another property changed
		if t.State != protocol.TransferCancelled && slices.ContainsFunc(v.Transfers, same) {
			v.Finished = append(lists.Without(v.Finished, same), t)
			v.Finished = v.Finished[max(0, len(v.Finished)-MaxFinished):]
		}
		v.Transfers = lists.Without(v.Transfers, same)
		v.HistoryChanged++
		return
	}
	v.Transfers = lists.Replace(v.Transfers, t, same)
}

// ReduceQuestion applies a question's state.
func ReduceQuestion(v *View, q protocol.Question) {
	if q.IsOfCall() {
		reduceApproval(v, q)
		return
	}
	v.Questions = lists.Without(v.Questions, func(x protocol.Question) bool { return x.ID == q.ID })
	switch {
	case q.State != protocol.QuestionPending:
		v.Answering = MapWith(v.Answering, true, false, q.ID)
	case !v.Answering[q.ID]:
		v.Questions = append(v.Questions, q)
		protocol.SortQuestions(v.Questions)
	}
}

func reduceApproval(v *View, q protocol.Question) {
	same := func(x protocol.Question) bool { return x.ID == q.ID }
	if q.State != protocol.QuestionPending {
		v.Approvals = lists.Without(v.Approvals, same)
		v.Closed = append(lists.Without(v.Closed, func(x Closed) bool { return x.ID == q.ID }), Closed{q, v.Answering[q.ID]})
		v.Closed = v.Closed[max(0, len(v.Closed)-maxClosed):]
		v.Answering = MapWith(v.Answering, true, false, q.ID)
		return
	}
	if v.Answering[q.ID] {
		return
	}
	v.Approvals = lists.Replace(v.Approvals, q, same)
	protocol.SortQuestions(v.Approvals)
}

// reduceRun applies a run's state. Streamed text is retained until its step is complete.
func reduceRun(runs []protocol.RunInfo, r protocol.RunInfo) []protocol.RunInfo {
	for _, old := range runs {
		if old.RunID == r.RunID && old.Step == r.Step && !r.Over() {
			r.Text, r.Thinking = old.Text, old.Thinking
		}
	}
	if r.Over() && r.State != protocol.RunFailed {
		return lists.Without(runs, func(x protocol.RunInfo) bool { return x.RunID == r.RunID })
	}
	if r.State != protocol.RunQueued { // a new run replaces an old failure
		runs = lists.Without(runs, func(x protocol.RunInfo) bool {
			return x.SessionKey == r.SessionKey && x.State == protocol.RunFailed && x.RunID != r.RunID
		})
	}
	return lists.Replace(runs, r, func(x protocol.RunInfo) bool { return x.RunID == r.RunID })
}

// reduceEndedRun remembers a run that ends.
func reduceEndedRun(v *View, r protocol.RunInfo) {
	runs := func(x protocol.RunInfo) bool { return x.RunID == r.RunID && !x.Over() }
	if r.Over() && slices.ContainsFunc(v.Runs, runs) {
		v.EndedRuns = append(slices.Clone(v.EndedRuns), r)
		v.EndedRuns = v.EndedRuns[max(0, len(v.EndedRuns)-MaxFinished):]
	}
}

// reduceDelta appends to a run's text, unless a piece is missing, as for a slow window.
func reduceDelta(runs []protocol.RunInfo, d protocol.Delta) []protocol.RunInfo {
	i := slices.IndexFunc(runs, func(r protocol.RunInfo) bool { return r.RunID == d.RunID })
	if i < 0 || d.Step < runs[i].Step || d.Offset < 0 {
		return runs
	}
	r := runs[i]
	if d.Step > r.Step {
		r.Step, r.Text, r.Thinking = d.Step, "", ""
	}
	text := &r.Text
	if d.Thinking {
		text = &r.Thinking
	}
	skip := len(*text) - d.Offset
	if skip < 0 || skip >= len(d.Text) {
		return runs // a piece is missing, or the text has this piece already
	}
	*text += d.Text[skip:]
	out := slices.Clone(runs)
	out[i] = r
	return out
}

// reduceMessage removes the streamed text and the call that a stored message replaces.
func reduceMessage(v *View, m protocol.Message) {
	switch m.Role {
	case protocol.RoleAssistant:
		i := slices.IndexFunc(v.Runs, func(r protocol.RunInfo) bool { return r.RunID == m.RunID })
		if i >= 0 && m.RunID != "" && m.Origin == protocol.OriginPerson {
			v.Runs = slices.Clone(v.Runs)
			v.Runs[i].Text, v.Runs[i].Thinking = "", ""
		}
	case protocol.RoleToolResult:
		v.Calls = lists.Without(v.Calls, func(c protocol.CallInfo) bool { return c.RunID == m.RunID && c.ToolCallID == m.ToolCallID })
	}
}
