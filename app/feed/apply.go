package feed

import (
	"fairlead/gateway/protocol"
)

// ApplySnapshot sets the facts to a snapshot. The window's own state is retained.
func (f *Facts) ApplySnapshot(s protocol.FeedSnapshot) {
	f.Update(func(v *View) {
		v.Status.Loaded, v.Status.Status = true, s.Status
		v.Sessions.set(s.Sessions)
		v.Runs.List, v.Texts = withoutTexts(s.Runs), textsOf(s.Runs)
		v.Calls, v.Transfers.List = s.Calls, s.Transfers
		v.Machines = sortedMachines(s.Nodes)
		v.Questions.set(s.Questions)
		v.Pulls = nil // the page loads them again
		for kind, counter := range v.Changed.counters() {
			if kind != protocol.ChangeConfig && kind != protocol.ChangeFile {
				*counter++
			}
		}
	}, f.Status, f.Sessions, f.Runs, f.Texts, f.Calls, f.Transfers, f.Machines, f.Questions, f.Pulls, f.Changed)
}

// Apply applies a change, unless it lacks the value that its kind requires.
func (f *Facts) Apply(c protocol.Change) {
	switch {
	case c.Kind == protocol.ChangeSession && c.Session != nil:
		f.Sessions.Update(func(s *Sessions) { s.apply(*c.Session) })
	case c.Kind == protocol.ChangeSessionDeleted:
		f.Sessions.Update(func(s *Sessions) { s.remove(c.SessionKey) })
	case c.Kind == protocol.ChangeRun && c.Run != nil:
		f.Update(func(v *View) {
			v.Runs.apply(*c.Run)
			v.Texts = v.Texts.withRun(*c.Run, v.Runs.List)
		}, f.Runs, f.Texts)
	case c.Kind == protocol.ChangeDelta && c.Delta != nil:
		f.Texts.Update(func(t *Texts) { *t = t.withDelta(*c.Delta) })
	case c.Kind == protocol.ChangeMessage && c.Message != nil:
		f.applyMessage(*c.Message)
	case c.Kind == protocol.ChangeCall && c.Call != nil:
		f.Calls.Update(func(l *CallList) { *l = l.with(*c.Call) })
	case c.Kind == protocol.ChangeQuestion && c.Question != nil:
		f.Questions.Update(func(q *Questions) { q.apply(*c.Question) })
	case c.Kind == protocol.ChangeNode && c.Node != nil:
		f.Machines.Update(func(l *MachineList) { *l = l.with(*c.Node) })
	case c.Kind == protocol.ChangeNodeForgotten && c.Node != nil:
		f.Machines.Update(func(l *MachineList) { *l = l.without(c.Node.ID) })
	case c.Kind == protocol.ChangeTransfer && c.Transfer != nil:
		f.applyTransfer(*c.Transfer)
	case c.Kind == protocol.ChangePull && c.Pull != nil:
		f.applyPull(*c.Pull)
	case c.Kind == protocol.ChangeStatus && c.Status != nil:
		f.Status.Update(func(s *Status) { s.Status = *c.Status })
	case c.Kind == protocol.ChangeNotice && c.Notice != nil:
		f.Notice.Update(func(n **protocol.Notice) { *n = c.Notice })
	default:
		f.count(c.Kind)
	}
}

// count counts a change that has no other effect.
func (f *Facts) count(kind string) {
	if new(Changed).counters()[kind] != nil {
		f.Changed.Update(func(c *Changed) { *c.counters()[kind]++ })
	}
}

// applyMessage removes the streamed text and the call that a stored message replaces.
func (f *Facts) applyMessage(m protocol.Message) {
	switch {
	case m.Role == protocol.RoleAssistant && m.RunID != "" && m.Origin == protocol.OriginPerson:
		f.Texts.Update(func(t *Texts) { *t = t.cleared(m.RunID) })
	case m.Role == protocol.RoleToolResult:
		f.Calls.Update(func(l *CallList) { *l = l.answered(m) })
	}
}

// applyTransfer applies a transfer's state. A finished transfer moves to the history.
func (f *Facts) applyTransfer(t protocol.Transfer) {
	if !t.Over() {
		f.Transfers.Update(func(l *Transfers) { l.put(t) })
		return
	}
	f.Update(func(v *View) {
		v.Transfers.finish(t)
		v.Changed.History++
	}, f.Transfers, f.Changed)
}
