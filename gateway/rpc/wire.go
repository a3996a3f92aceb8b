package rpc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
)

// Timing of a connection.
const (
	handshakeLimit = 15 * time.Second // a socket that has not shaken hands by then is closed
	pingEvery      = 30 * time.Second
	silenceLimit   = 75 * time.Second
	writeLimit     = 30 * time.Second // for a frame, and a second more for each slowRate bytes
	slowRate       = 64 << 10
	closeLimit     = 2 * time.Second // for what is queued and the peer's answer to a close
)

// outgoing is a frame to write, or a close.
type outgoing struct {
	frame []byte
	code  int // of a close, 0 for a frame
	text  string
}

// receive reads one text frame. Frames of other kinds are skipped: binary ones belong to transfers, and none is known here. Bytes that
// arrive keep the connection alive, so that a large frame may come slowly.
func (c *Conn) receive() ([]byte, error) {
	for {
		kind, r, err := c.ws.NextReader()
		if err != nil {
			return nil, err
		}
		var buf bytes.Buffer
		if kind != websocket.TextMessage {
			if _, err := io.Copy(io.Discard, r); err != nil {
				return nil, err
			}
			c.alive()
			continue
		}
		for {
			c.alive()
			if _, err := io.CopyN(&buf, r, slowRate); errors.Is(err, io.EOF) {
				return buf.Bytes(), nil
			} else if err != nil {
				return nil, err
			}
		}
	}
}

// alive gives the peer its time once more. Before the handshake nothing does, and after a close nothing does any more.
func (c *Conn) alive() {
	if c.connected() && !c.closing.Load() {
		c.ws.SetReadDeadline(time.Now().Add(silenceLimit))
	}
}

// write sends frames and pings until the connection ends; then everything else of it ends too.
func (c *Conn) write() {
	defer c.cancel()
	defer c.ws.Close() // ends the reader
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		var err error
		select {
		case <-c.ctx.Done():
			return
		case o := <-c.out:
			if o.code != 0 {
				c.farewell(o)
				return
			}
			c.ws.SetWriteDeadline(time.Now().Add(writeLimit + time.Duration(len(o.frame)/slowRate)*time.Second))
			err = c.ws.WriteMessage(websocket.TextMessage, o.frame)
		case <-ping.C:
			err = c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeLimit))
		}
		if err != nil {
			return
		}
	}
}

// farewell sends a close frame and lets the peer read what was sent before: closing a socket with unread input would make the system throw
// that away. What is queued after the close is dropped.
func (c *Conn) farewell(o outgoing) {
	c.closing.Store(true)
	deadline := time.Now().Add(closeLimit)
	c.ws.SetReadDeadline(deadline)
	if c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(o.code, o.text), deadline) != nil {
		return
	}
	timer := time.NewTimer(closeLimit)
	defer timer.Stop()
	for {
		select {
		case <-c.out:
		case <-c.ctx.Done(): // the reader has seen the answer
			return
		case <-timer.C:
			return
		}
	}
}

// send queues a frame; it blocks while the peer is slow, and gives up when the connection or ctx ends.
func (c *Conn) send(ctx context.Context, frame []byte) error {
	select {
	case c.out <- outgoing{frame: frame}:
		return nil
	case <-c.ctx.Done():
		return protocol.ErrUnavailable.With("connection closed")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// SendEvent queues an event. It is nodes.Link.
func (c *Conn) SendEvent(ctx context.Context, name string, payload any) error {
	frame, err := protocol.EncodeEvent(name, payload, 0)
	if err != nil {
		return err
	}
	if len(frame) > protocol.MaxWriteFrame {
		return tooLarge("the event "+name, len(frame))
	}
	return c.send(ctx, frame)
}

// Close sends what is queued, then a close frame, and ends the connection within a few seconds. It does not block for longer than a peer that
// takes nothing does. It is nodes.Link.
func (c *Conn) Close(code int, reason string) {
	// A write to a peer that is stuck may last longer than anyone wants to wait.
	kill := time.AfterFunc(2*closeLimit, func() { c.ws.Close() })
	context.AfterFunc(c.ctx, func() { kill.Stop() })
	select {
	case c.out <- outgoing{code: code, text: reason}:
	case <-c.ctx.Done():
	}
}
