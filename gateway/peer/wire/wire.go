// Package wire sends and receives the frames of one WebSocket connection (docs/protocol.md#frames).
// Gateway and client share it, so that limits, keep-alive and the order of frames are the same on
// both sides.
package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Time limits of writes.
const (
	// WriteLimit is the time limit for one frame, plus a second for each MinSpeed bytes.
	WriteLimit = 30 * time.Second
	// MinSpeed is the lowest supported speed of a peer, in bytes per second.
	MinSpeed = 64 << 10
	// closeLimit is the time limit for sending a close frame.
	closeLimit = 2 * time.Second
)

// Queue lengths in frames; when a queue is full, senders block.
const (
	maxText   = 64
	maxBinary = 2
)

// frame is a queued frame: text, binary, or close with its code.
type frame struct {
	text   []byte
	binary []byte
	free   func() // for a binary frame: called once when it was written or discarded
	code   int
	reason string
}

func (f frame) release() {
	if f.free != nil {
		f.free()
	}
}

// Writer sends the frames of one connection. Text and binary frames each keep their order. Text
// goes first, so that a file delays a message by at most one frame. It is safe for concurrent use.
type Writer struct {
	ws     *websocket.Conn
	text   chan frame // text and close frames
	binary chan frame // binary frames, and text frames that follow them
	pings  chan string
	done   chan struct{} // closed when Run has ended
}

// NewWriter creates the writer of a connection.
func NewWriter(ws *websocket.Conn) *Writer {
	return &Writer{
		ws: ws, text: make(chan frame, maxText), binary: make(chan frame, maxBinary), pings: make(chan string, 1),
		done: make(chan struct{}),
	}
}

// Send sends a text frame and takes ownership of text. It blocks while the peer is slow and the
// queue is full. It reports false when the connection or ctx has ended. A queued frame may be lost
// when the connection ends.
func (w *Writer) Send(ctx context.Context, text []byte) bool {
	return w.enqueue(ctx, w.text, frame{text: text})
}

// SendBinary sends a binary frame after the earlier binary frames. It blocks while the peer is
// slow, and reports false as [Writer.Send] does. free, which may be nil, is called exactly once in
// any case, as soon as data is no longer needed. It must not block.
func (w *Writer) SendBinary(ctx context.Context, data []byte, free func()) bool {
	return w.enqueue(ctx, w.binary, frame{binary: data, free: free})
}

// SendBehind sends a text frame after the earlier binary frames; [Writer.Send] may overtake those.
func (w *Writer) SendBehind(ctx context.Context, text []byte) bool {
	return w.enqueue(ctx, w.binary, frame{text: text})
}

// Close queues a close frame. Earlier text frames are sent first, later frames are dropped. It
// reports false when the connection or ctx has ended.
func (w *Writer) Close(ctx context.Context, code int, reason string) bool {
	return w.enqueue(ctx, w.text, frame{code: code, reason: reason})
}

// Pong lets Run answer a ping; only the latest one is answered (RFC 6455, section 5.5.3). It never
// blocks. Only the reader may call it.
func (w *Writer) Pong(payload string) {
	select {
	case <-w.pings:
	default:
	}
	w.pings <- payload // cannot block: only the reader puts pings there
}

func (w *Writer) enqueue(ctx context.Context, queue chan<- frame, f frame) bool {
	select {
	case <-w.done: // a full queue is not the only reason to refuse a frame
	default:
		select {
		case queue <- f:
			select {
			case <-w.done: // Run may have discarded the queue before
				w.discard()
				return false
			default:
				return true
			}
		case <-w.done:
		case <-ctx.Done():
		}
	}
	f.release()
	return false
}

// discard releases binary frames that will never be written.
func (w *Writer) discard() {
	for {
		select {
		case f := <-w.binary:
			f.release()
		default:
			return
		}
	}
}

// Run writes queued frames, and a ping each pingEvery, until ctx ends, a write fails or a close
// frame was sent. After that, nothing can be sent. It calls closing before the close frame. closed
// reports that the close frame was sent; the caller then waits for the peer's answer. The caller
// closes the connection.
func (w *Writer) Run(ctx context.Context, pingEvery time.Duration, closing func()) (closed bool) {
	defer w.discard()
	defer close(w.done)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for ctx.Err() == nil {
		var f frame
		select {
		case f = <-w.text: // before anything else
		default:
			select {
			case <-ctx.Done():
				return false
			case <-ping.C:
				if Ping(w.ws) != nil {
					return false
				}
				continue
			case payload := <-w.pings:
				if w.ws.WriteControl(websocket.PongMessage, []byte(payload), time.Now().Add(WriteLimit)) != nil {
					return false
				}
				continue
			case f = <-w.text:
			case f = <-w.binary:
			}
		}
		if f.code != 0 {
			closing()
			message := websocket.FormatCloseMessage(f.code, f.reason)
			return w.ws.WriteControl(websocket.CloseMessage, message, time.Now().Add(closeLimit)) == nil
		}
		err := w.write(f)
		f.release()
		if err != nil {
			return false
		}
	}
	return false
}

// write writes a text or binary frame.
func (w *Writer) write(f frame) error {
	kind, data := websocket.TextMessage, f.text
	if f.binary != nil {
		kind, data = websocket.BinaryMessage, f.binary
	}
	w.ws.SetWriteDeadline(time.Now().Add(WriteLimit + time.Duration(len(data)/MinSpeed)*time.Second))
	return w.ws.WriteMessage(kind, data)
}

// Receive reads one text frame and calls read with it, which must not keep its memory. It calls
// alive for each piece that arrives, so that a large frame may arrive slowly. It passes other kinds
// of frames to other, which may be nil, and skips what other leaves unread.
func Receive(ws *websocket.Conn, alive func(), other func(kind int, r io.Reader), read func(text []byte)) error {
	for {
		kind, r, err := ws.NextReader()
		if err != nil {
			return err
		}
		alive()
		if kind == websocket.TextMessage {
			return readText(r, alive, read)
		}
		if other != nil {
			other(kind, r)
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return err
		}
	}
}

// texts has the memory of text frames: one of several megabytes costs more to allocate than to read.
var texts = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// readText reads a whole frame.
func readText(r io.Reader, alive func(), read func(text []byte)) error {
	buf := texts.Get().(*bytes.Buffer)
	defer texts.Put(buf)
	buf.Reset()
	for {
		_, err := io.CopyN(buf, r, MinSpeed)
		if errors.Is(err, io.EOF) {
			read(buf.Bytes())
			return nil
		}
		if err != nil {
			return err
		}
		alive()
	}
}

// start is the zero of the times in pings, so that a peer learns nothing about this machine's
// clock.
var start = time.Now()

// Ping sends a ping that contains its time. It is safe to call concurrently with everything else on
// the connection.
func Ping(ws *websocket.Conn) error {
	payload := binary.BigEndian.AppendUint64(nil, uint64(time.Since(start)))
	return ws.WriteControl(websocket.PingMessage, payload, time.Now().Add(WriteLimit))
}

// RoundTrip returns the time since the ping that a pong answers; false if the pong does not answer
// a [Ping].
func RoundTrip(pong string) (time.Duration, bool) {
	if len(pong) != 8 {
		return 0, false
	}
	took := time.Since(start) - time.Duration(binary.BigEndian.Uint64([]byte(pong)))
	return took, took >= 0 && took < time.Hour
}

// TicketLocks has a first-in, first-out lock for each key: work with the same key, such as a chat,
// runs in the order in which it arrived, and work with different keys runs concurrently. The zero
// value is ready. It is safe for concurrent use.
type TicketLocks struct {
	mu   sync.Mutex
	last map[string]<-chan struct{} // by key: closed when the last ticket is released
}

// Ticket is a place in the queue of one key. Its owner must call Wait and then Release, each once.
type Ticket struct {
	locks    *TicketLocks
	key      string
	previous <-chan struct{} // nil for the first ticket
	released chan struct{}
}

// Take returns the ticket after all unreleased tickets of the key. It never blocks.
func (l *TicketLocks) Take(key string) Ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		l.last = make(map[string]<-chan struct{})
	}
	t := Ticket{locks: l, key: key, previous: l.last[key], released: make(chan struct{})}
	l.last[key] = t.released
	return t
}

// Wait blocks until all earlier tickets are released.
func (t Ticket) Wait() {
	if t.previous != nil {
		<-t.previous
	}
}

// Release lets the owner of the next ticket continue.
func (t Ticket) Release() {
	t.locks.mu.Lock()
	defer t.locks.mu.Unlock()
	if t.locks.last[t.key] == t.released {
		delete(t.locks.last, t.key)
	}
	close(t.released)
}
