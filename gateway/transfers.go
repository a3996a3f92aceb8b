package gateway

import (
	"context"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// startTransfer puts a transfer into the queue as a person's own act.
func (g *Gateway) startTransfer(ctx context.Context, who auth.Principal, by protocol.AskedBy, p protocol.TransferStartParams) (protocol.Transfer, error) {
	return g.transfers.StartBy(ctx, g.calls, who, by, p)
}
