package rpc

import (
	"context"
	"encoding/json"
	"io"

	"github.com/gorilla/websocket"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/transfer"
)

func registerTransfers(all methods, e *transfer.Engine, calls *transfer.Calls) {
	relays := e.Relays()
	handleReport(all, protocol.TransferMeta, relays.Meta)
	handleReport(all, protocol.TransferAccept, relays.Accept)
	handleReport(all, protocol.TransferComplete, relays.Complete)
	handleReport(all, protocol.TransferFinish, relays.Done)
	handle(all, protocol.TransferStart, func(ctx context.Context, r *request, p protocol.TransferStartParams) (protocol.Transfer, error) {
		return calls.StartBy(ctx, r.conn.transferClient(), p)
	})
	handle(all, protocol.TransferList, plain(e.List))
	handle(all, protocol.TransferGet, plain(e.Get))
	handle(all, protocol.TransferPause, plain(e.Pause))
	handle(all, protocol.TransferResume, byClient(e.Resume))
	handle(all, protocol.TransferCancel, plain(e.Cancel))
	handle(all, protocol.TransferRetry, byClient(e.Retry))
	handle(all, protocol.TransferUndo, byClient(calls.UndoBy))
	handle(all, protocol.TransferForget, plain(e.Forget))
}

// byClient adapts a method about a transfer that depends on who calls it.
func byClient(
	f func(context.Context, protocol.TransferParams, transfer.Client) (protocol.Transfer, error),
) func(context.Context, *request, protocol.TransferParams) (protocol.Transfer, error) {
	return func(ctx context.Context, r *request, p protocol.TransferParams) (protocol.Transfer, error) {
		return f(ctx, p, r.conn.transferClient())
	}
}

func (c *Conn) transferClient() transfer.Client {
	return transfer.Client{Principal: c.peer().principal, AskedBy: protocol.AskedBy{Kind: "client", Name: c.peer().client.ID}, Window: c.socket}
}

// handleReport registers a transfer report. Its response is sent before the transfer continues.
func handleReport[P any](all methods, m protocol.Method[P, protocol.OK], f func(transfer.Link, P) (func(), error)) {
	handle(all, m, func(_ context.Context, r *request, p P) (protocol.OK, error) {
		proceed, err := f(r.conn.socket, p)
		if err != nil {
			return protocol.OK{}, err
		}
		r.afterResponse(proceed)
		return protocol.OK{OK: true}, nil
	})
	decode := all[m.Name]
	all[m.Name] = func(ctx context.Context, r *request, params json.RawMessage) (any, error) {
		return decode(ctx, r, withoutInvalidID(params))
	}
}

// withoutInvalidID removes a transferId that is not a number: GSV treats it as missing.
func withoutInvalidID(params json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	var id *uint32
	if json.Unmarshal(params, &fields) != nil || json.Unmarshal(fields["transferId"], &id) == nil {
		return params
	}
	delete(fields, "transferId")
	if rest, err := json.Marshal(fields); err == nil {
		return rest
	}
	return params
}

// readBinary handles a binary frame. Before the handshake none is expected.
func (c *Conn) readBinary(kind int, r io.Reader) {
	if kind == websocket.BinaryMessage && c.socket.isConnected() && !c.socket.closing.Load() {
		// on an error the connection is broken, and the next read fails
		stream.ReadFrame(r, c.socket.extendDeadline, func(f *stream.Frame) { c.server.services.Transfers.Relays().Frame(c.socket, f) })
	}
}
