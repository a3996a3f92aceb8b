package client

import (
	"context"
	"io"

	"github.com/gorilla/websocket"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// Buffers of a connection that carries files: a frame with its id fits.
const (
	bulkRead  = 64 << 10
	bulkWrite = protocol.ChunkSize + 64
)

// binary gives what takes binary frames, or nil.
func (c *conn) binary(alive func()) func(kind int, r io.Reader) {
	if c.onFrame == nil {
		return nil
	}
	return func(kind int, r io.Reader) {
		if kind == websocket.BinaryMessage {
			stream.ReadFrame(r, alive, c.onFrame) // an error is the connection's, which the next read meets
		}
	}
}

// event takes an event of a client that is an end of transfers itself.
func (c *Client) event(e protocol.EventFrame) {
	if !c.ends.Event(e.Event, e.Payload) && c.other != nil {
		c.other(e)
	}
}

// Peer is the gateway as the ends of transfers see it: what is reported and sent goes over the connection that there is at the time.
func (c *Client) Peer() stream.Peer { return link{c} }

type link struct{ c *Client }

func (p link) Report(ctx context.Context, method string, params any, behind bool) error {
	conn, _ := p.c.current()
	if conn == nil {
		return lost(method)
	}
	_, err := callBehind(ctx, conn, protocol.Method[any, protocol.OK]{Name: method}, params, behind)
	return err
}

func (p link) SendFrame(ctx context.Context, f *stream.Frame) error {
	conn, _ := p.c.current()
	if conn == nil {
		f.Free()
		return lost("a transfer")
	}
	if !conn.out.SendBinary(ctx, f.Bytes(), f.Free) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return lost("a transfer")
	}
	return nil
}
