package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

// Timing of a connection.
const (
	handshakeLimit = 10 * time.Second // a socket that has not shaken hands by then is closed
	pingEvery      = 30 * time.Second
	silenceLimit   = 75 * time.Second
	closeLimit     = 2 * time.Second // for the peer's answer to a close
)

// receive reads one text frame. Binary ones belong to transfers. What the gateway has just taken its time for is none of the peer's silence.
func (c *Conn) receive() ([]byte, error) {
	c.alive()
	return wire.Receive(c.ws, c.alive, c.binary)
}

// alive gives the peer its time once more. Before the handshake nothing does, and after a close nothing does any more.
func (c *Conn) alive() {
	if c.connected() && !c.closing.Load() {
		c.deadline.Extend(silenceLimit)
	}
}

// tooLate tells a peer that has not shaken hands in time why the connection ends.
func (c *Conn) tooLate(err error) {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() && !c.connected() {
		c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(protocol.ClosePolicy, fmt.Sprintf("No connect within %s", handshakeLimit)), time.Now().Add(closeLimit))
	}
}

// tooBig takes in what a peer still sends of a message that is over the limit. It has been told so by a close frame (1009), which the system would
// throw away if the socket were closed with unread input.
func (c *Conn) tooBig(err error) {
	if !errors.Is(err, websocket.ErrReadLimit) {
		return
	}
	limit := silenceLimit // for all of it: the rest of a large message takes its time on a slow wire
	if !c.connected() {
		limit = handshakeLimit
	}
	end := time.Now().Add(limit)
	buf := make([]byte, 32<<10)
	for left := 2 * protocol.MaxReadFrame; left > 0 && time.Now().Before(end); {
		c.ws.NetConn().SetReadDeadline(time.Now().Add(closeLimit))
		n, err := c.ws.NetConn().Read(buf)
		if err != nil {
			return
		}
		left -= n
	}
}

// write sends frames and pings until the connection ends; then everything else of it ends too.
func (c *Conn) write() {
	defer c.cancel()
	defer c.ws.Close() // ends the reader
	if c.out.Run(c.ctx, pingEvery, c.farewell) {
		// The peer reads what was sent before: closing a socket with unread input would make the system throw that away.
		timer := time.NewTimer(closeLimit)
		defer timer.Stop()
		select {
		case <-c.ctx.Done(): // the reader has seen the answer
		case <-timer.C:
		}
	}
}

// farewell begins the end: what the peer still asks is not answered.
func (c *Conn) farewell() {
	c.closing.Store(true)
	c.ws.SetReadDeadline(time.Now().Add(closeLimit))
}

// send sends a frame; it blocks while the peer is slow, and gives up when the connection or ctx ends.
func (c *Conn) send(ctx context.Context, frame []byte) error {
	if c.out.Send(ctx, frame) {
		return nil
	}
	if c.ctx.Err() == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return protocol.ErrUnavailable.With("connection closed")
}

// SendEvent queues an event. It is nodes.Link.
func (c *Conn) SendEvent(ctx context.Context, name string, payload any) error {
	frame, err := protocol.EncodeEvent(name, payload, 0)
	if err != nil {
		return err
	}
	if len(frame) > protocol.MaxWriteFrame {
		return tooLarge("the event "+name, len(frame), "do it in parts")
	}
	return c.send(ctx, frame)
}

// OfferEvent is SendEvent that never blocks, for a reader that flushes soon: it reports false when the event would have to wait, and has done nothing
// then. It is nodes.Offerer.
func (c *Conn) OfferEvent(name string, payload any) bool {
	frame, err := protocol.EncodeEvent(name, payload, 0)
	return err == nil && len(frame) <= protocol.MaxWriteFrame && c.srv.held.hold(c.out, frame)
}

// Close sends what is queued, then a close frame, and ends the connection within a few seconds. It does not block for longer than a peer that
// takes nothing does. It is nodes.Link.
func (c *Conn) Close(code int, reason string) {
	// A write to a peer that is stuck may last longer than anyone wants to wait.
	kill := time.AfterFunc(2*closeLimit, func() { c.ws.Close() })
	context.AfterFunc(c.ctx, func() { kill.Stop() })
	c.out.Close(c.ctx, code, reason)
}
