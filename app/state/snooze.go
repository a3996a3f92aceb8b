package state

import (
	"context"
	"maps"
	"time"

	"fairlead/gateway/protocol"
)

// SnoozeFor is how long Not now puts a question off. It comes back earlier when the person opens it.
const SnoozeFor = 10 * time.Minute

// Waiting are the open questions that were not put off.
func (v View) Waiting() []protocol.Approval {
	if len(v.Later) == 0 {
		return v.Approvals
	}
	return drop(v.Approvals, func(q protocol.Approval) bool { return v.Later[q.ID] != 0 })
}

// Snooze puts questions off in the windows of this program. The gateway is not told: their time runs on, and every other window may answer them.
func (a *App) Snooze(list ...protocol.Approval) {
	until := time.Now().Add(SnoozeFor).UnixMilli()
	a.Value.Update(func(v View) View {
		v.Later = maps.Clone(v.Later)
		if v.Later == nil {
			v.Later = make(map[protocol.ApprovalID]int64)
		}
		for _, q := range list {
			v.Later[q.ID] = until
		}
		return v
	})
	a.start(func(ctx context.Context) {
		timer := time.NewTimer(SnoozeFor)
		defer timer.Stop()
		select {
		case <-timer.C:
			a.wake(func(id protocol.ApprovalID, at int64) bool { return at <= until })
		case <-ctx.Done():
		}
	})
}

// Wake brings a question back that was put off.
func (a *App) Wake(id protocol.ApprovalID) {
	a.wake(func(x protocol.ApprovalID, _ int64) bool { return x == id })
}

// wake also forgets what is not open any more.
func (a *App) wake(due func(protocol.ApprovalID, int64) bool) {
	a.Value.Update(func(v View) View {
		open := make(map[protocol.ApprovalID]bool)
		for _, q := range v.Approvals {
			open[q.ID] = true
		}
		v.Later = maps.Clone(v.Later)
		maps.DeleteFunc(v.Later, func(id protocol.ApprovalID, at int64) bool { return due(id, at) || !open[id] })
		return v
	})
}

// Group is a question with those that ask exactly the same, itself among them.
type Group struct {
	protocol.Approval
	All   []protocol.Approval
	Later int64 // until when all of it is put off, in Unix milliseconds; 0 is not
}

// Inbox are the open questions, identical ones together, those that were put off last.
func Inbox(v View) []Group {
	var now, later []Group
	seen := make(map[protocol.ApprovalID]bool)
	for _, q := range v.Approvals {
		if seen[q.ID] {
			continue
		}
		g := Group{Approval: q, All: Alike(v.Approvals, q), Later: v.Later[q.ID]}
		for _, x := range g.All {
			seen[x.ID] = true
			if v.Later[x.ID] == 0 {
				g.Later = 0
			}
		}
		if g.Later == 0 {
			now = append(now, g)
		} else {
			later = append(later, g)
		}
	}
	return append(now, later...)
}
