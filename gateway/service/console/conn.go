package console

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

const (
	// window is the number of bytes that a page gets before it has shown them. A browser reads a
	// WebSocket faster than it can show what comes.
	window = 1 << 20
	// acknowledged is the kind of a frame of the page alone, whose body is the number of bytes of
	// output and snapshots that it has shown, with one for each frame, in decimal digits.
	acknowledged = 'w'
	// closeOffline tells the page that the machine is offline; the reason is a text for people.
	closeOffline = 4503
)

// Conn carries the frames of a terminal to a page and back. One goroutine may read; writing is safe
// for concurrent use.
type Conn struct {
	frames         *wire.Frames
	ctx            context.Context // ends with the connection, or the right to it
	end            context.CancelFunc
	sent, received *atomic.Int64

	shown atomic.Int64
	more  chan struct{} // shown has grown

	mu    sync.Mutex // guards total; held while output is written
	total int64      // bytes of output and snapshots
}

// accept upgrades a request of a page at the same host. If that fails, it has answered.
func accept(ctx context.Context, w http.ResponseWriter, r *http.Request, v Visit) (*Conn, error) {
	frames, err := wire.AcceptFrames(w, r, protocol.MaxTerminalFrame)
	if err != nil {
		return nil, err
	}
	c := &Conn{frames: frames, sent: v.Sent, received: v.Received, more: make(chan struct{}, 1)}
	c.ctx, c.end = context.WithCancel(ctx)
	crash.WhenDone(c.ctx, func() { c.frames.Close() }) // interrupts Read and Write
	crash.Go(func() {
		c.frames.KeepAlive(c.ctx)
		c.end()
	})
	return c, nil
}

// Read returns the next frame of the page.
func (c *Conn) Read() (kind byte, body []byte, err error) {
	for {
		kind, body, err = c.frames.Read()
		switch {
		case err != nil:
			c.end()
			return kind, body, err
		case kind == acknowledged:
			c.acknowledge(string(body))
		default:
			c.received.Add(int64(len(body) + 1))
			return kind, body, nil
		}
	}
}

func (c *Conn) acknowledge(shown string) {
	n, err := strconv.ParseInt(shown, 10, 64)
	if err != nil || n <= c.shown.Load() {
		return
	}
	c.shown.Store(n)
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// Write sends a frame. It waits while the page has not shown enough of the output that it got
// before; somebody must read meanwhile.
func (c *Conn) Write(kind byte, body []byte) error {
	size := int64(len(body) + 1)
	if kind == protocol.TerminalOutput || kind == protocol.TerminalSnapshot {
		c.mu.Lock()
		defer c.mu.Unlock()
		for c.total-c.shown.Load() >= window {
			select {
			case <-c.more:
			case <-c.ctx.Done():
				return context.Cause(c.ctx)
			}
		}
		c.total += size
	}
	c.sent.Add(size)
	err := c.frames.Write(kind, body)
	if err != nil {
		c.end()
	}
	return err
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.end()
	return nil
}
