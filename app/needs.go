package app

import (
	"context"
	"encoding/json"

	"fyne.io/fyne/v2"

	"fairlead/app/approve"
	"fairlead/app/bind"
	"fairlead/gateway/protocol"
)

// approvalHandlers are what the dialog in a window does.
func (s *shell) approvalHandlers(w fyne.Window) approve.Handlers {
	return approve.Handlers{
		Answer: s.b.state.Reply, Shown: s.b.state.Shown, Copy: s.app.Clipboard().SetContent, Grow: w.Resize,
		Try: func(policy json.RawMessage, done func(protocol.RuleTryResult, error)) {
			bind.Go(s.ctx, func(ctx context.Context) (protocol.RuleTryResult, error) { return s.b.state.TryRule(ctx, policy) }, done)
		},
	}
}
