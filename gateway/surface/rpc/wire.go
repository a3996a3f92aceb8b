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

// Time limits of a connection.
const (
	handshakeLimit = 10 * time.Second // a socket without a handshake by then is closed
	pingEvery      = 30 * time.Second
	silenceLimit   = 75 * time.Second
	closeLimit     = 2 * time.Second // for the peer's response to a close frame
)

// receive reads one text frame. Binary frames belong to transfers. The time that the gateway itself
// has taken does not count as the peer's silence.
func (c *Conn) receive() ([]byte, error) {
	c.alive()
	return wire.Receive(c.ws, c.alive, c.binary)
}

// alive resets the read deadline. It does nothing before the handshake and after a close.
func (c *Conn) alive() {
	if c.connected() && !c.closing.Load() {
		c.ws.SetReadDeadline(time.Now().Add(silenceLimit))
	}
}

// tooLate sends the reason before a connection without a handshake is closed.
func (c *Conn) tooLate(err error) {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() && !c.connected() {
		c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(protocol.ClosePolicy, fmt.Sprintf("No connect within %s", handshakeLimit)), time.Now().Add(closeLimit))
	}
}

// tooBig discards the rest of a message that is over the limit. The peer has been sent a close
// frame (1009), which the operating system would discard if the socket were closed with unread
// input.
func (c *Conn) tooBig(err error) {
	if !errors.Is(err, websocket.ErrReadLimit) {
		return
	}
	limit := silenceLimit // for all of it: the rest of a large message takes time on a slow network
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

// write sends frames and pings until the connection ends, and then stops the rest of the
// connection.
func (c *Conn) write() {
	defer c.cancel()
	defer c.ws.Close() // ends the reader
	if c.out.Run(c.ctx, pingEvery, c.farewell) {
		// Let the peer read what was already sent: on a close with unread input, the operating
		// system would discard it.
		timer := time.NewTimer(closeLimit)
		defer timer.Stop()
		select {
		case <-c.ctx.Done(): // the reader has received the peer's close frame
		case <-timer.C:
		}
	}
}

// farewell starts the close: further requests of the peer are not answered.
func (c *Conn) farewell() {
	c.closing.Store(true)
	c.ws.SetReadDeadline(time.Now().Add(closeLimit))
}

// send sends a frame. It blocks while the peer is slow, and returns when the connection or ctx
// ends.
func (c *Conn) send(ctx context.Context, frame []byte) error {
	if c.out.Send(ctx, frame) {
		return nil
	}
	if c.ctx.Err() == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return protocol.ErrUnavailable.With("connection closed")
}

// SendEvent queues an event. It implements nodes.Link.
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

// Close sends the queued frames, then a close frame, and ends the connection within a few seconds.
// It blocks no longer than a stuck peer does. It implements nodes.Link.
func (c *Conn) Close(code int, reason string) {
	// A write to a stuck peer could otherwise block for a long time.
	kill := time.AfterFunc(2*closeLimit, func() { c.ws.Close() })
	context.AfterFunc(c.ctx, func() { kill.Stop() })
	c.out.Close(c.ctx, code, reason)
}
