// Package wire sends and receives the text frames of seed 004 over one WebSocket connection. Gateway and client share it: limits, keep-alive and
// the order of frames are the same at both ends.
package wire

import (
	"context"
	"crypto/tls"
	"sync"
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

// What may wait to be written before a sender waits too.
const (
	maxReady      = 256
	maxReadyBytes = 1 << 20
)

// keepReady is how many frames a connection keeps memory for.
const keepReady = 64

// soon is how long a frame of [Writer.SendSoon] waits for company.
const soon = time.Millisecond

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

// Writer sends frames in the order they were given to it. A sender that finds nothing waiting writes its frame itself, which saves the way over another
// goroutine: half of what a small request takes. What comes while somebody writes goes out in one piece afterwards, by [Writer.Run]. Binary frames have a
// lane of their own, in which text goes first: a file on its way delays a message by one frame at most.
type Writer struct {
	ws   *websocket.Conn
	bulk chan frame
	wake chan struct{} // holds a token when Run has something to do
	free chan struct{} // holds a token when Run has waited for its turn and may look again
	left chan struct{} // holds a token when the system did not take all: Run has the turn, and the rest to write
	ping chan string   // holds the last ping that is not answered
	over chan struct{} // closed when Run has ended
	pile pile          // nil where frames go out one by one
	sock *Socket       // nil where nothing can be tried

	mu    sync.Mutex // guards what follows
	busy  bool       // somebody writes
	wants bool       // Run waits for its turn
	held  bool       // who put the first of ready there will write it
	ready []frame    // text and close frames, in order
	spare []frame    // memory for the next ready
	bytes int        // of ready
	room  chan struct{}
	timer *time.Timer
	armed bool // the timer will come
	ended bool
}

// pile is a connection that can hold what is written until all is there: the records of a frame, or many small frames.
type pile interface {
	Hold()
	Release() error
}

// record is the most that TLS writes at once.
const record = 16 << 10

func pileOf(ws *websocket.Conn) (pile, *Socket) {
	switch c := ws.NetConn().(type) {
	case *Socket:
		return c, c
	case *tls.Conn:
		p, _ := c.NetConn().(pile)
		return p, nil
	}
	return nil, nil
}

// NewWriter makes the writer of a connection.
func NewWriter(ws *websocket.Conn) *Writer {
	w := &Writer{ws: ws, bulk: make(chan frame, maxBulk), wake: make(chan struct{}, 1), free: make(chan struct{}, 1), left: make(chan struct{}, 1), over: make(chan struct{}), ping: make(chan string, 1)}
	w.pile, w.sock = pileOf(ws)
	return w
}

// Run writes what is queued, and a ping each pingEvery, until ctx ends, a write fails or a close frame was sent. After that nothing can be sent.
// closed says that it was the close frame; the caller then lets the peer answer. The caller closes the connection.
func (w *Writer) Run(ctx context.Context, pingEvery time.Duration, closing func()) (closed bool) {
	defer w.drain()
	defer w.end()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for ctx.Err() == nil {
		ok := false
		select {
		case <-ctx.Done():
		case <-ping.C:
			ok = Ping(w.ws) == nil
		case payload := <-w.ping:
			ok = w.ws.WriteControl(websocket.PongMessage, []byte(payload), time.Now().Add(WriteLimit)) == nil
		case <-w.left:
			ok = w.rest()
		case <-w.wake:
			ok, closed = w.texts(ctx, closing)
		case f := <-w.bulk:
			ok, closed = w.texts(ctx, closing) // before anything binary
			if ok = ok && w.turn(ctx); ok {
				ok = w.writeBulk(f) == nil
				w.release(nil)
			}
			f.end()
		}
		if !ok {
			return closed
		}
	}
	return false
}

// texts writes what is ready until nothing is.
func (w *Writer) texts(ctx context.Context, closing func()) (ok, closed bool) {
	for {
		w.mu.Lock()
		empty := len(w.ready) == 0
		w.mu.Unlock()
		if empty {
			return true, false
		}
		if !w.turn(ctx) {
			return false, false
		}
		w.mu.Lock()
		batch := w.take()
		w.mu.Unlock()
		end := closeIn(batch)
		if end < 0 {
			if w.write(batch) != nil {
				return false, false
			}
			w.release(batch)
			continue
		}
		if w.write(batch[:end]) != nil { // the turn is kept when the end has come
			return false, false
		}
		closing()
		last := websocket.FormatCloseMessage(batch[end].code, batch[end].reason)
		return false, w.ws.WriteControl(websocket.CloseMessage, last, time.Now().Add(closeLimit)) == nil
	}
}

func (w *Writer) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended, w.ready, w.bytes = true, nil, 0
	if w.timer != nil {
		w.timer.Stop()
	}
	close(w.over)
}

// turn waits for the turn.
func (w *Writer) turn(ctx context.Context) bool {
	for {
		w.mu.Lock()
		if !w.busy {
			w.busy = true
			w.mu.Unlock()
			return true
		}
		w.wants = true
		w.mu.Unlock()
		select {
		case <-w.free:
		case <-w.left:
			if !w.rest() {
				return false
			}
		case <-ctx.Done():
			return false
		}
	}
}
