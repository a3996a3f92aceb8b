package dispatch

import (
	"context"

	"fairlead/gateway/protocol"
)

type causeKey struct{}

// WithCause says who caused what is done in a context.
func WithCause(ctx context.Context, by protocol.AskedBy) context.Context {
	return context.WithValue(ctx, causeKey{}, by)
}

// Cause is who caused the call for which one of the gateway's own tools runs. What the tool begins and goes on after it, such as a transfer, is theirs too:
// it must not be taken for the person's when it is asked about again.
func Cause(ctx context.Context) protocol.AskedBy {
	by, _ := ctx.Value(causeKey{}).(protocol.AskedBy)
	return by
}
