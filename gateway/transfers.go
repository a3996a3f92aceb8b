package gateway

import (
	"context"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/transfer"
)

// startTransfer queues a transfer as a direct action of the person.
func (g *Gateway) startTransfer(ctx context.Context, who auth.Principal, by protocol.AskedBy, p protocol.TransferStartParams) (protocol.Transfer, error) {
	return g.transfers.StartBy(ctx, g.calls, who, by, p)
}

// undoTransfer restores the files that a transfer has replaced, as a direct action of the person.
func (g *Gateway) undoTransfer(ctx context.Context, who auth.Principal, by protocol.AskedBy, p protocol.TransferParams) (protocol.Transfer, error) {
	return g.transfers.UndoBy(ctx, g.calls, who, by, p)
}

// guardTransfers decides waiting transfers again after the rules have changed.
func (g *Gateway) guardTransfers(version func() string) {
	g.transfers.Guard(version, func(ctx context.Context, t protocol.Transfer) error { return transfer.AskAgain(ctx, g.calls, t) })
}

// unpaired cancels the transfers of a device that is no longer paired, unless another machine has
// its name by now.
func (g *Gateway) unpaired(d protocol.Device) {
	if n, known := g.hub.Node(d.NodeID); known && n.Device != d.ID {
		return
	}
	g.transfers.Unpaired(d)
}
