// Package wire sends and receives the text frames of seed 004 over one WebSocket connection. Gateway and client share it: limits, keep-alive and
// the order of frames are the same at both ends.
package wire

import (
	"context"
	"crypto/tls"
	"errors"
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

// maxBulk is how many binary frames wait to be written.
const maxBulk = 2

// maxDirect is how many bytes a frame may have that its sender writes itself: it fits into the system's buffer of a peer that keeps up.
const maxDirect = 32 << 10

// frame is something to write: text, binary, or a close with its code.
type frame struct {
	text   []byte
	binary []byte
	done   func() // of a binary frame: it was written, or never will be
	code   int
	reason string
}

// Writer sends frames in the order they were given to it. A sender that finds nothing waiting writes its frame itself, which saves the way over another goroutine:
// half of what a small request takes. Everything else goes through a queue that [Writer.Run] empties. Binary frames have a lane of their own, in which text goes first:
// a file on its way delays a message by one frame at most.
type Writer struct {
	ws     *websocket.Conn
	queue  chan frame
	bulk   chan frame
	queued atomic.Int64  // frames given to the queue and not written yet
	turn   chan struct{} // holds one token while nobody writes
	over   chan struct{} // closed when Run has ended
	pile   pile          // nil without TLS
}

// pile is what TLS writes to, when it can hold the records of a frame until all are there.
type pile interface {
	Hold()
	Release() error
}

// record is the most that TLS writes at once.
const record = 16 << 10

func pileOf(ws *websocket.Conn) pile {
	if t, ok := ws.NetConn().(*tls.Conn); ok {
		p, _ := t.NetConn().(pile)
		return p
	}
	return nil
}

// NewWriter makes the writer of a connection.
func NewWriter(ws *websocket.Conn) *Writer {
	w := &Writer{ws: ws, queue: make(chan frame, 64), bulk: make(chan frame, maxBulk), turn: make(chan struct{}, 1), over: make(chan struct{}), pile: pileOf(ws)}
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

// SendBinary sends a binary frame behind those that were sent before. It blocks while the peer is slow, and reports false as [Writer.Send] does. done, which may
// be nil, is called exactly once in any case, when data is not needed any more; it must not block.
func (w *Writer) SendBinary(ctx context.Context, data []byte, done func()) bool {
	return w.lane(ctx, frame{binary: data, done: done})
}

// SendBehind sends a text frame behind the binary ones that were sent before; [Writer.Send] may overtake those.
func (w *Writer) SendBehind(ctx context.Context, text []byte) bool {
	return w.lane(ctx, frame{text: text})
}

func (w *Writer) lane(ctx context.Context, f frame) bool {
	select {
	case w.bulk <- f:
		select {
		case <-w.over: // Run may have emptied the lane before
			w.drain()
			return false
		default:
			return true
		}
	case <-w.over:
	case <-ctx.Done():
	}
	f.end()
	return false
}

func (f frame) end() {
	if f.done != nil {
		f.done()
	}
}

// drain lets go of what nobody will write.
func (w *Writer) drain() {
	for {
		select {
		case f := <-w.bulk:
			f.end()
		default:
			return
		}
	}
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
	defer w.drain()
	defer close(w.over)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for ctx.Err() == nil {
		var f frame
		select {
		case f = <-w.queue: // before anything binary
		default:
			select {
			case <-ctx.Done():
				return false
			case <-ping.C:
				if Ping(w.ws) != nil {
					return false
				}
				continue
			case f = <-w.queue:
			case f = <-w.bulk:
				ok := w.take(ctx) && w.writeBulk(f) == nil
				f.end()
				if !ok {
					return false
				}
				w.turn <- struct{}{}
				continue
			}
		}
		if !w.take(ctx) { // kept when the end has come
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
	return false
}

func (w *Writer) take(ctx context.Context) bool {
	select {
	case <-w.turn:
		return true
	case <-ctx.Done():
		return false
	}
}

// closeLimit is how long a close frame may take.
const closeLimit = 2 * time.Second

func (w *Writer) write(text []byte) error {
	w.ws.SetWriteDeadline(time.Now().Add(WriteLimit + time.Duration(len(text)/SlowRate)*time.Second))
	return w.message(websocket.TextMessage, text)
}

// message writes a frame, in one piece also when it is several records.
func (w *Writer) message(kind int, data []byte) error {
	if w.pile == nil || len(data) < record {
		return w.ws.WriteMessage(kind, data)
	}
	w.pile.Hold()
	err := w.ws.WriteMessage(kind, data)
	return errors.Join(err, w.pile.Release())
}

func (w *Writer) writeBulk(f frame) error {
	if f.binary == nil {
		return w.write(f.text)
	}
	w.ws.SetWriteDeadline(time.Now().Add(WriteLimit + time.Duration(len(f.binary)/SlowRate)*time.Second))
	return w.message(websocket.BinaryMessage, f.binary)
}
