// Package wire sends and receives the frames of one WebSocket connection (docs/protocol.md#frames).
// Gateway and client share it, so that limits, keep-alive and the order of frames are the same on
// both sides.
package wire

import (
	"context"
	"crypto/tls"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Time limits of writes.
const (
	// WriteLimit is the time limit for one frame, plus a second for each SlowRate bytes.
	WriteLimit = 30 * time.Second
	// SlowRate is the lowest supported speed of a peer, in bytes per second.
	SlowRate = 64 << 10
)

// maxBulk is the maximum number of queued binary frames.
const maxBulk = 2

// Limits of the text queue; beyond them, senders block.
const (
	maxReady      = 256
	maxReadyBytes = 1 << 20
)

// keepReady is the maximum length of a queue whose memory is reused.
const keepReady = 64

// soon is the maximum delay of a frame of [Writer.SendSoon].
const soon = time.Millisecond

// maxDirect is the maximum size in bytes of frames that the sender writes itself: they fit into the
// system's buffer of a peer that keeps up.
const maxDirect = 32 << 10

// frame is a queued frame: text, binary, or close with its code.
type frame struct {
	text   []byte
	binary []byte
	done   func() // for a binary frame: called when it was written or discarded
	code   int
	reason string
}

// Writer sends frames in the order in which they are given to it. If the queue is empty, the sender
// writes its frame itself, which avoids another goroutine: half of the time of a small request.
// Frames that arrive during a write are then written together by [Writer.Run]. Binary frames have a
// queue of their own, and text goes first, so that a file delays a message by at most one frame.
type Writer struct {
	ws   *websocket.Conn
	bulk chan frame
	wake chan struct{} // holds a token when Run has work
	free chan struct{} // holds a token when Run, which waited for another writer, may try again
	left chan struct{} // holds a token when the system did not accept everything: Run then writes the rest
	ping chan string   // holds the latest unanswered ping
	over chan struct{} // closed when Run has ended
	pile pile          // nil if frames are written one by one
	sock *Socket       // nil if writes cannot be non-blocking

	mu    sync.Mutex // guards the fields below
	busy  bool       // a goroutine is writing
	wants bool       // Run waits for another writer
	held  bool       // the goroutine that queued the first of ready will write it
	ready []frame    // text and close frames, in order
	spare []frame    // memory for the next ready
	bytes int        // of all frames in ready
	room  chan struct{}
	timer *time.Timer
	armed bool // timer is running
	ended bool
}

// pile is a connection that can buffer writes: the records of a frame, or many small frames.
type pile interface {
	Hold()
	Release() error
}

// record is the maximum size of a TLS record.
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

// NewWriter creates the writer of a connection.
func NewWriter(ws *websocket.Conn) *Writer {
	w := &Writer{ws: ws, bulk: make(chan frame, maxBulk), wake: make(chan struct{}, 1), free: make(chan struct{}, 1), left: make(chan struct{}, 1), over: make(chan struct{}), ping: make(chan string, 1)}
	w.pile, w.sock = pileOf(ws)
	return w
}

// Run writes queued frames, and a ping each pingEvery, until ctx ends, a write fails or a close
// frame was sent. After that, nothing can be sent. It calls closing before the close frame. closed
// reports that the close frame was sent; the caller then waits for the peer's answer. The caller
// closes the connection.
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
			ok, closed = w.texts(ctx, closing) // before binary frames
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

// texts writes queued text frames until there are none.
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
		if w.write(batch[:end]) != nil { // busy stays set: nothing may follow the close frame
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

// turn waits until no other goroutine writes, and sets busy.
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
