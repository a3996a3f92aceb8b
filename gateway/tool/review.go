package tool

import (
	"context"
	"log/slog"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// Watch decides pending approvals again when rules, permissions or a chat's approval mode change:
// calls that are now allowed or denied need no answer any more. It blocks until ctx ends.
func (d *Pipeline) Watch(ctx context.Context) {
	sub := d.bus.SubscribeOnly(func(c protocol.Change) bool {
		switch c.Kind {
		case protocol.ChangeRules, protocol.ChangeConfig, protocol.ChangeSession:
			return true
		}
		return false
	})
	defer sub.Close()
	for c := range sub.All(ctx) {
		d.review(ctx, c)
	}
}

// review checks the approvals that a change can affect.
func (d *Pipeline) review(ctx context.Context, c protocol.Change) {
	open := map[protocol.ApprovalID]policy.Request{}
	d.mu.Lock()
	for _, r := range d.open {
		if r.asks != nil && r.info != nil && (c.Kind != protocol.ChangeSession || c.Session != nil && r.asks.Session == c.Session.SessionKey) {
			open[r.info.ApprovalID] = *r.asks
		}
	}
	d.mu.Unlock()
	if len(open) == 0 {
		return
	}
	err := d.gate.Review(ctx, func(a protocol.Approval) bool {
		r, ok := open[a.ID]
		if !ok || d.refresh(ctx, &r) != nil {
			return false // it still needs an approval
		}
		return d.rules.Evaluate(r).Verdict != policy.Ask
	})
	if err != nil && ctx.Err() == nil {
		slog.Error("Open questions could not be looked at again", "err", err)
	}
}
