package wire

import (
	"errors"
	"io"
	"net"
	"time"

	"github.com/gorilla/websocket"
)

// maxMessage limits a message of a [Conn], in bytes. Those of [Conn.Write] are as long as what its
// caller writes.
const maxMessage = 1 << 20

// Conn is a connection whose bytes are the binary messages of a WebSocket. One goroutine may read and
// one may write at the same time.
type Conn struct {
	ws      *websocket.Conn
	message io.Reader // the rest of the message that is being read; nil before the first
}

// NewConn returns the connection over a WebSocket, of which nothing else reads or writes any more.
func NewConn(ws *websocket.Conn) *Conn {
	ws.SetReadLimit(maxMessage)
	ws.SetReadDeadline(time.Time{})
	return &Conn{ws: ws}
}

func (c *Conn) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if c.message == nil {
			var kind int
			if kind, c.message, err = c.ws.NextReader(); kind != websocket.BinaryMessage {
				c.message = nil // the next call of NextReader skips it
				continue
			}
		}
		if n, err = c.message.Read(p); errors.Is(err, io.EOF) {
			c.message, err = nil, nil
		}
		if len(p) == 0 {
			break
		}
	}
	return n, err
}

func (c *Conn) Write(p []byte) (int, error) {
	if err := c.ws.WriteMessage(websocket.BinaryMessage, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close closes the connection without a close frame: both sides know from the bytes when they are
// complete.
func (c *Conn) Close() error         { return c.ws.Close() }
func (c *Conn) LocalAddr() net.Addr  { return c.ws.LocalAddr() }
func (c *Conn) RemoteAddr() net.Addr { return c.ws.RemoteAddr() }

func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}
func (c *Conn) SetReadDeadline(t time.Time) error  { return c.ws.SetReadDeadline(t) }
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.ws.SetWriteDeadline(t) }
