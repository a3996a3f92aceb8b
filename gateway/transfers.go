package gateway

import (
	"context"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/transfer"
)

// startTransfer puts a transfer into the queue as a person's own act.
func (g *Gateway) startTransfer(ctx context.Context, who auth.Principal, by protocol.AskedBy, p protocol.TransferStartParams) (protocol.Transfer, error) {
	return g.transfers.StartBy(ctx, g.calls, who, by, p)
}

// undoTransfer brings back what a transfer has replaced, as a person's own act.
func (g *Gateway) undoTransfer(ctx context.Context, who auth.Principal, by protocol.AskedBy, p protocol.TransferParams) (protocol.Transfer, error) {
	return g.transfers.UndoBy(ctx, g.calls, who, by, p)
}

// guardTransfers has transfers that waited while the rules changed asked about again.
func (g *Gateway) guardTransfers(version func() string) {
	g.transfers.Guard(version, func(ctx context.Context, t protocol.Transfer) error { return transfer.AskAgain(ctx, g.calls, t) })
}

// unpaired ends the transfers of a device whose pairing has ended, unless its machine's name is another one's by now.
func (g *Gateway) unpaired(d protocol.Device) {
	if n, known := g.hub.Node(d.NodeID); known && n.Device != d.ID {
		return
	}
	g.transfers.Unpaired(d)
}
