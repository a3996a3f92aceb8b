// Package wire sends and receives the text frames of seed 004 over one WebSocket connection. Gateway and client share it: limits, keep-alive and
// the order of frames are the same at both ends.
package wire

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Timing of writes.
const (
	// WriteLimit is how long one frame may take, and a second more for each SlowRate bytes.
	WriteLimit = 30 * time.Second
	// SlowRate is the slowest peer that is served, in bytes a second.
	SlowRate = 64 << 10
)

// maxDirect is how many bytes a frame may have that its sender writes itself: it fits into the system's buffer of a peer that keeps up.
const maxDirect = 32 << 10

// frame is something to write: text, or a close with its code.
type frame struct {
	text   []byte
	code   int
	reason string
}

// Writer sends frames in the order they were given to it. A sender that finds nothing waiting writes its frame itself, which saves the way over another goroutine:
// half of what a small request takes. Everything else goes through a queue that [Writer.Run] empties.
type Writer struct {
	ws     *websocket.Conn
	queue  chan frame
	queued atomic.Int64  // frames given to the queue and not written yet
	turn   chan struct{} // holds one token while nobody writes
	over   chan struct{} // closed when Run has ended
}

// NewWriter makes the writer of a connection.
func NewWriter(ws *websocket.Conn) *Writer {
	w := &Writer{ws: ws, queue: make(chan frame, 64), turn: make(chan struct{}, 1), over: make(chan struct{})}
	w.turn <- struct{}{}
	return w
}

// Send sends a text frame, which the writer owns from then on. It blocks while the peer is slow. It reports false when the connection has ended,
// or ctx, of which the caller knows; a frame that was queued may be lost when the connection ends.
func (w *Writer) Send(ctx context.Context, text []byte) bool {
	if len(text) <= maxDirect && w.queued.Load() == 0 {
		select {
		case <-w.over:
			return false
		case <-w.turn:
			err := w.write(text)
			w.turn <- struct{}{}
			if err != nil {
				w.ws.Close() // ends the reader, which ends everything
			}
			return err == nil
		default:
		}
	}
	return w.put(ctx, frame{text: text})
}

// Close queues a close frame: what was sent before goes first, and what comes after is dropped. It reports false when the connection has ended, or ctx.
func (w *Writer) Close(ctx context.Context, code int, reason string) bool {
	return w.put(ctx, frame{code: code, reason: reason})
}

func (w *Writer) put(ctx context.Context, f frame) bool {
	w.queued.Add(1) // before it is in the queue: nobody may overtake it from here on
	select {
	case w.queue <- f:
		return true
	case <-w.over:
	case <-ctx.Done():
	}
	w.queued.Add(-1)
	return false
}

// Run writes what is queued, and a ping each pingEvery, until ctx ends, a write fails or a close frame was sent. After that nothing can be sent.
// closed says that it was the close frame; the caller then lets the peer answer. The caller closes the connection.
func (w *Writer) Run(ctx context.Context, pingEvery time.Duration, closing func()) (closed bool) {
	defer close(w.over)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ping.C:
			if Ping(w.ws) != nil {
				return false
			}
		case f := <-w.queue:
			select {
			case <-w.turn: // kept when the end has come
			case <-ctx.Done():
				return false
			}
			if f.code != 0 {
				closing()
				return w.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(f.code, f.reason), time.Now().Add(closeLimit)) == nil
			}
			if w.write(f.text) != nil {
				return false
			}
			w.queued.Add(-1)
			w.turn <- struct{}{}
		}
	}
}

// closeLimit is how long a close frame may take.
const closeLimit = 2 * time.Second

func (w *Writer) write(text []byte) error {
	w.ws.SetWriteDeadline(time.Now().Add(WriteLimit + time.Duration(len(text)/SlowRate)*time.Second))
	return w.ws.WriteMessage(websocket.TextMessage, text)
}
