package tool

import (
	"context"
	"log/slog"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// ReviewPending decides pending approvals again when rules, permissions or a chat's approval mode
// change: calls that are now allowed or denied need no answer any more. It blocks until ctx ends.
func (p *Pipeline) ReviewPending(ctx context.Context) {
	sub := p.Bus.SubscribeOnly(func(c protocol.Change) bool {
		switch c.Kind {
		case protocol.ChangeRules, protocol.ChangeConfig, protocol.ChangeSession:
			return true
		}
		return false
	})
	defer sub.Close()
	for c := range sub.All(ctx) {
		p.review(ctx, c)
	}
}

// review checks the approvals that a change can affect.
func (p *Pipeline) review(ctx context.Context, c protocol.Change) {
	pending := map[protocol.ApprovalID]policy.Request{}
	p.mu.Lock()
	for _, o := range p.open {
		if o.request != nil && o.info != nil && (c.Kind != protocol.ChangeSession || c.Session != nil && o.request.Session == c.Session.SessionKey) {
			pending[o.info.ApprovalID] = *o.request
		}
	}
	p.mu.Unlock()
	if len(pending) == 0 {
		return
	}
	err := p.Approver.Review(ctx, func(a protocol.Approval) bool {
		r, ok := pending[a.ID]
		if !ok || p.addChat(ctx, &r) != nil {
			return false // it still needs an approval
		}
		return p.Policy.Evaluate(r).Verdict != policy.Ask
	})
	if err != nil && ctx.Err() == nil {
		slog.Error("Cannot review pending approvals", "err", err)
	}
}
