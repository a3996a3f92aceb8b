package tool

import (
	"context"

	"fairlead/gateway/protocol"
)

type causeKey struct{}

// WithCause returns a context that carries who caused the actions in it.
func WithCause(ctx context.Context, by protocol.AskedBy) context.Context {
	return context.WithValue(ctx, causeKey{}, by)
}

// Cause returns who caused the call for which one of the gateway's own tools runs. Work that
// outlives the call, such as a transfer, has the same cause: a later decision about it must not
// take it for the person's own.
func Cause(ctx context.Context) protocol.AskedBy {
	by, _ := ctx.Value(causeKey{}).(protocol.AskedBy)
	return by
}
