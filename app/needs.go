package app

import (
	"context"
	"encoding/json"

	"fyne.io/fyne/v2"

	"fairlead/app/approve"
	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// approvalHandlers returns the callbacks of the approval dialog of a window.
func (s *shell) approvalHandlers(w fyne.Window) approve.Handlers {
	return approve.Handlers{
		Answer: s.b.state.Approvals.Answer, Shown: func(id protocol.ApprovalID) { s.b.state.Approvals.MarkShown(id, "") }, Copy: s.app.Clipboard().SetContent, Grow: w.Resize,
		Snooze: func(q protocol.Approval) { s.b.state.Approvals.Snooze(q) },
		Try: func(policy json.RawMessage, done func(protocol.RuleTryResult, error)) {
			bind.Go(s.ctx, func(ctx context.Context) (protocol.RuleTryResult, error) { return s.b.state.Rules.Try(ctx, policy) }, done)
		},
	}
}

const inboxTitle = "Needs you"

// inboxPage is the page of all pending approvals.
func (s *shell) inboxPage() page {
	return page{"needsyou", inboxTitle, func(ctx context.Context) fyne.CanvasObject {
		in := approve.NewInbox(approve.InboxHandlers{
			Review: s.review, ReviewAll: s.reviewAll, Wake: s.b.state.Approvals.Unsnooze, Chat: s.open,
			Snooze: func(list []protocol.Approval) { s.b.state.Approvals.Snooze(list...) },
			Deny: func(list []protocol.Approval) {
				s.b.state.Approvals.Answer(list, state.Reply{Decision: protocol.DecisionDeny})
			},
		}, &s.machines)
		s.inbox = in
		context.AfterFunc(ctx, func() {
			bind.Do(s.ctx, func() {
				if s.inbox == in {
					s.inbox = nil
				}
			})
		})
		in.Update(s.view)
		return in.Box
	}}
}

func (s *shell) openInbox() { s.openPage(s.inboxPage()) }
