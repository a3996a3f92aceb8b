package client

import (
	"context"
	"io"

	"github.com/gorilla/websocket"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// Buffer sizes of a connection that carries files: large enough for a frame with its ID.
const (
	bulkRead  = 64 << 10
	bulkWrite = protocol.ChunkSize + 64
)

// binary returns the handler of binary frames, or nil.
func (c *conn) binary(alive func()) func(kind int, r io.Reader) {
	if c.onFrame == nil {
		return nil
	}
	return func(kind int, r io.Reader) {
		if kind == websocket.BinaryMessage {
			stream.ReadFrame(r, alive, c.onFrame) // an error belongs to the connection; the next read returns it too
		}
	}
}

// event handles an event for a client that is itself an end of transfers.
func (c *Client) event(e protocol.EventFrame) {
	if !c.ends.Event(e.Event, e.Payload) && c.onEvent != nil {
		c.onEvent(e)
	}
}

// Peer returns the gateway in the form that the ends of transfers use. Reports and data go over the
// connection that is current at the time.
func (c *Client) Peer() stream.Peer { return gatewayPeer{c} }

type gatewayPeer struct{ c *Client }

func (p gatewayPeer) Report(ctx context.Context, method string, params any, behind bool) error {
	conn, _ := p.c.current()
	if conn == nil {
		return errLost(method)
	}
	_, err := callBehind(ctx, conn, protocol.Method[any, protocol.OK]{Name: method}, params, behind)
	return err
}

func (p gatewayPeer) SendFrame(ctx context.Context, f *stream.Frame) error {
	conn, _ := p.c.current()
	if conn == nil {
		f.Free()
		return errLost("a transfer")
	}
	if !conn.out.SendBinary(ctx, f.Bytes(), f.Free) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return errLost("a transfer")
	}
	return nil
}
