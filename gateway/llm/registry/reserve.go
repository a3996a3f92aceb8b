package registry

import (
	"context"
	"fmt"

	"fairlead/gateway/protocol"
)

// CheckReserve refuses a reserve (compaction.reserveTokens) of more than half of a model's context
// window, because the chat would have no room. It accepts any reserve if the window is unknown.
func (r *Registry) CheckReserve(ctx context.Context, ref protocol.ModelRef, tokens int64) error {
	_, info, err := r.Open(ctx, ref)
	if err != nil || info.ContextWindow <= 0 || tokens <= info.ContextWindow/2 {
		return nil // the model's own problem is reported when it is used
	}
	return protocol.ErrBadRequest.With(fmt.Sprintf("compaction.reserveTokens may be at most %d, not %d: %s can read %d tokens, and half of them are for the chat",
		info.ContextWindow/2, tokens, ref.ID, info.ContextWindow))
}
