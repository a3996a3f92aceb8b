package rpc

import (
	"context"
	"io"

	"github.com/gorilla/websocket"

	"fairlead/gateway/native"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/transfer"
)

// transferMethods are the transfer reports of nodes and windows, and the methods of the queue.
type transferMethods struct{ transfers *transfer.Engine }

func (m transferMethods) register(all methods) {
	handle(all, protocol.TransferMeta, report(m.transfers.Meta))
	handle(all, protocol.TransferAccept, report(m.transfers.Accept))
	handle(all, protocol.TransferComplete, report(m.transfers.Complete))
	handle(all, protocol.TransferFinish, report(m.transfers.Done))
	handle(all, protocol.TransferStart, func(ctx context.Context, r *request, p protocol.TransferStartParams) (protocol.Transfer, error) {
		if err := checkTransferScopes(r.conn.principal(), native.TransferIn{Sources: p.Sources, Destination: p.Destination, Into: p.Into}); err != nil {
			return protocol.Transfer{}, err
		}
		return m.transfers.StartBy(ctx, r.conn.transferClient(), p)
	})
	handle(all, protocol.TransferList, plain(m.transfers.List))
	handle(all, protocol.TransferGet, plain(m.transfers.Get))
	handle(all, protocol.TransferPause, plain(m.transfers.Pause))
	handle(all, protocol.TransferResume, func(ctx context.Context, r *request, p protocol.TransferParams) (protocol.Transfer, error) {
		if err := m.checkContinue(ctx, r, p); err != nil {
			return protocol.Transfer{}, err
		}
		return m.transfers.Resume(ctx, p, r.conn)
	})
	handle(all, protocol.TransferCancel, plain(m.transfers.Cancel))
	handle(all, protocol.TransferRetry, func(ctx context.Context, r *request, p protocol.TransferParams) (protocol.Transfer, error) {
		if err := m.checkContinue(ctx, r, p); err != nil {
			return protocol.Transfer{}, err
		}
		return m.transfers.Retry(ctx, p, r.conn)
	})
	handle(all, protocol.TransferUndo, func(ctx context.Context, r *request, p protocol.TransferParams) (protocol.Transfer, error) {
		if err := m.checkContinue(ctx, r, p); err != nil {
			return protocol.Transfer{}, err
		}
		return m.transfers.UndoBy(ctx, r.conn.transferClient(), p)
	})
	handle(all, protocol.TransferForget, plain(m.transfers.Forget))
}

// transferClient returns the peer as the one who requests a transfer.
func (c *Conn) transferClient() transfer.Client {
	return transfer.Client{Principal: c.principal(), AskedBy: protocol.AskedBy{Kind: "client", Name: c.clientID()}, Window: c}
}

// checkContinue refuses to continue a transfer for a peer that could not have started it.
func (m transferMethods) checkContinue(ctx context.Context, r *request, p protocol.TransferParams) error {
	t, err := m.transfers.Get(ctx, p)
	if err != nil {
		return err
	}
	return checkTransferScopes(r.conn.principal(), native.TransferIn{Sources: t.Sources, Destination: t.Destination, Into: t.Into})
}

// report sends the response to a transfer report before the transfer continues.
func report[P any](f func(transfer.Link, P) (func(), error)) func(context.Context, *request, P) (protocol.OK, error) {
	return func(ctx context.Context, r *request, p P) (protocol.OK, error) {
		proceed, err := f(r.conn, p)
		if err != nil {
			return protocol.OK{}, err
		}
		r.afterResponse(proceed)
		return protocol.OK{OK: true}, nil
	}
}

// readBinary handles a binary frame. Before the handshake none is expected.
func (c *Conn) readBinary(kind int, r io.Reader) {
	if kind == websocket.BinaryMessage && c.connected() && !c.closing.Load() {
		// on an error the connection is broken, and the next read fails
		stream.ReadFrame(r, c.extendDeadline, func(f *stream.Frame) { c.server.services.Transfers.Frame(c, f) })
	}
}

// Device implements transfer.Window.
func (c *Conn) Device() protocol.DeviceID { return c.principal().Device }
