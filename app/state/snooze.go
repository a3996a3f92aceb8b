package state

import (
	"context"
	"fmt"
	"time"

	"fairlead/gateway/protocol"
)

// SnoozeFor is how long "Not now" snoozes an approval.
const SnoozeFor = protocol.SnoozeFor

// Waiting returns the pending approvals that are not snoozed.
func (v View) Waiting() []protocol.Approval {
	return drop(v.Approvals, func(q protocol.Approval) bool { return q.Later != 0 })
}

// Snooze snoozes approvals, in the windows of all programs. They still expire, and can still be
// answered.
func (a *App) Snooze(list ...protocol.Approval) {
	a.putOff(list, SnoozeFor)
}

// Wake ends the snoozing of an approval.
func (a *App) Wake(id protocol.ApprovalID) {
	a.putOff([]protocol.Approval{{ID: id}}, 0)
}

// putOff updates the view at once; the gateway's confirmation follows by the feed.
func (a *App) putOff(list []protocol.Approval, d time.Duration) {
	p := protocol.ApprovalSnoozeParams{For: d.Milliseconds()}
	for _, q := range list {
		p.IDs = append(p.IDs, q.ID)
	}
	set := func(later func(was int64) int64) {
		a.Value.Update(func(v View) View {
			open := make([]protocol.Approval, len(v.Approvals))
			for i, q := range v.Approvals {
				if holds(list, q.ID) {
					q.Later = later(q.Later)
				}
				open[i] = q
			}
			v.Approvals = open
			return v
		})
	}
	until := int64(0)
	if d > 0 {
		until = time.Now().Add(d).UnixMilli()
	}
	set(func(int64) int64 { return until })
	a.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		if _, err := Call(ctx, a, protocol.ApprovalSnooze, p); err != nil {
			a.fail(fmt.Errorf("the question could not be put off: %w", err))
			set(func(was int64) int64 {
				if was == until {
					return 0
				}
				return was
			})
		}
	})
}

// Group is an approval together with all pending ones that ask exactly the same.
type Group struct {
	protocol.Approval
	All []protocol.Approval
	// Later is the time until which a whole group is snoozed, in Unix milliseconds; 0 if it is not.
	Later int64
}

// Inbox returns the pending approvals, with identical ones grouped and snoozed ones last.
func Inbox(v View) []Group {
	var now, later []Group
	seen := make(map[protocol.ApprovalID]bool)
	for _, q := range v.Approvals {
		if seen[q.ID] {
			continue
		}
		g := Group{Approval: q, All: Alike(v.Approvals, q), Later: q.Later}
		for _, x := range g.All {
			seen[x.ID] = true
			if x.Later == 0 {
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
