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

// Transfers is the queue of transfers, and takes the reports and data of connections.
type Transfers interface {
	Frame(l transfer.Link, f *stream.Frame)
	Meta(l transfer.Link, p protocol.TransferMetaParams) (proceed func(), err error)
	Accept(l transfer.Link, p protocol.TransferAcceptParams) (proceed func(), err error)
	Complete(l transfer.Link, p protocol.TransferCompleteParams) (proceed func(), err error)
	Done(l transfer.Link, p protocol.TransferDoneParams) (proceed func(), err error)
	StartBy(ctx context.Context, c transfer.Client, in protocol.TransferStartParams) (protocol.Transfer, error)
	UndoBy(ctx context.Context, c transfer.Client, in protocol.TransferParams) (protocol.Transfer, error)
	Open() []protocol.Transfer
	List(ctx context.Context, in protocol.TransferListParams) (protocol.TransferListResult, error)
	Get(ctx context.Context, in protocol.TransferParams) (protocol.Transfer, error)
	Pause(ctx context.Context, in protocol.TransferParams) (protocol.Transfer, error)
	Resume(ctx context.Context, in protocol.TransferParams, here transfer.Window) (protocol.Transfer, error)
	Cancel(ctx context.Context, in protocol.TransferParams) (protocol.Transfer, error)
	Retry(ctx context.Context, in protocol.TransferParams, here transfer.Window) (protocol.Transfer, error)
	Forget(ctx context.Context, in protocol.TransferForgetParams) (protocol.TransferForgetResult, error)
}

// transfers registers the transfer reports of nodes and the methods of the queue.
func (s *Server) transfers(all map[string]handler) {
	handle(all, protocol.TransferMeta, report(s.s.Transfers.Meta))
	handle(all, protocol.TransferAccept, report(s.s.Transfers.Accept))
	handle(all, protocol.TransferComplete, report(s.s.Transfers.Complete))
	handle(all, protocol.TransferFinish, report(s.s.Transfers.Done))
	handle(all, protocol.TransferStart, func(ctx context.Context, c *Conn, p protocol.TransferStartParams) (protocol.Transfer, error) {
		if err := mayMove(c.who(), native.TransferIn{Sources: p.Sources, Destination: p.Destination, Into: p.Into}); err != nil {
			return protocol.Transfer{}, err
		}
		return s.s.Transfers.StartBy(ctx, c.transferClient(), p)
	})
	handle(all, protocol.TransferList, plain(s.s.Transfers.List))
	handle(all, protocol.TransferGet, plain(s.s.Transfers.Get))
	handle(all, protocol.TransferPause, plain(s.s.Transfers.Pause))
	handle(all, protocol.TransferResume, func(ctx context.Context, c *Conn, p protocol.TransferParams) (protocol.Transfer, error) {
		if err := s.mayGoOn(ctx, c, p); err != nil {
			return protocol.Transfer{}, err
		}
		return s.s.Transfers.Resume(ctx, p, c)
	})
	handle(all, protocol.TransferCancel, plain(s.s.Transfers.Cancel))
	handle(all, protocol.TransferRetry, func(ctx context.Context, c *Conn, p protocol.TransferParams) (protocol.Transfer, error) {
		if err := s.mayGoOn(ctx, c, p); err != nil {
			return protocol.Transfer{}, err
		}
		return s.s.Transfers.Retry(ctx, p, c)
	})
	handle(all, protocol.TransferUndo, func(ctx context.Context, c *Conn, p protocol.TransferParams) (protocol.Transfer, error) {
		if err := s.mayGoOn(ctx, c, p); err != nil {
			return protocol.Transfer{}, err
		}
		return s.s.Transfers.UndoBy(ctx, c.transferClient(), p)
	})
	handle(all, protocol.TransferForget, plain(s.s.Transfers.Forget))
}

// transferClient returns the peer as the one who requests a transfer.
func (c *Conn) transferClient() transfer.Client {
	return transfer.Client{Principal: c.who(), AskedBy: protocol.AskedBy{Kind: "client", Name: c.clientID()}, Window: c}
}

// mayGoOn refuses to continue a transfer for a peer that could not have started it.
func (s *Server) mayGoOn(ctx context.Context, c *Conn, p protocol.TransferParams) error {
	t, err := s.s.Transfers.Get(ctx, p)
	if err != nil {
		return err
	}
	return mayMove(c.who(), native.TransferIn{Sources: t.Sources, Destination: t.Destination, Into: t.Into})
}

// report sends the response to a transfer report before the transfer continues.
func report[P any](f func(transfer.Link, P) (func(), error)) func(context.Context, *Conn, P) (protocol.OK, error) {
	return func(ctx context.Context, c *Conn, p P) (protocol.OK, error) {
		proceed, err := f(c, p)
		if err != nil {
			return protocol.OK{}, err
		}
		afterResponse(ctx, proceed)
		return protocol.OK{OK: true}, nil
	}
}

// binary handles a binary frame. Before the handshake none is expected.
func (c *Conn) binary(kind int, r io.Reader) {
	if kind == websocket.BinaryMessage && c.connected() && !c.closing.Load() {
		// on an error the connection is broken, and the next read fails
		stream.ReadFrame(r, c.alive, func(f *stream.Frame) { c.srv.s.Transfers.Frame(c, f) })
	}
}

// SendEventBehind, SendFrame and Gone implement transfer.Link.
func (c *Conn) SendEventBehind(ctx context.Context, name string, payload any) error {
	frame, err := protocol.EncodeEvent(name, payload, 0)
	if err != nil {
		return err
	}
	if c.out.SendBehind(ctx, frame) {
		return nil
	}
	return c.sendFailed(ctx)
}

func (c *Conn) SendFrame(ctx context.Context, f *stream.Frame) error {
	if c.out.SendBinary(ctx, f.Bytes(), f.Free) {
		return nil
	}
	return c.sendFailed(ctx)
}

func (c *Conn) sendFailed(ctx context.Context) error {
	if c.ctx.Err() == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return protocol.ErrUnavailable.With("connection closed")
}

func (c *Conn) Gone() <-chan struct{} { return c.ctx.Done() }

// Device implements transfer.Window.
func (c *Conn) Device() protocol.DeviceID { return c.who().Device }
