// Package wire sends and receives the text frames of seed 004 over one WebSocket connection. Gateway and client share it: limits, keep-alive and
// the order of frames are the same at both ends.
package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"runtime"
	"slices"
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

// Send sends a text frame, which the writer owns from then on. It blocks while the peer is slow. It reports false when the connection has ended,
// or ctx, of which the caller knows; a frame that was queued may be lost when the connection ends.
func (w *Writer) Send(ctx context.Context, text []byte) bool { return w.send(ctx, text, false) }

// SendAmong is Send of a frame among many that others are about to send: theirs go along, in one write.
func (w *Writer) SendAmong(ctx context.Context, text []byte) bool { return w.send(ctx, text, true) }

func (w *Writer) send(ctx context.Context, text []byte, among bool) bool {
	w.mu.Lock()
	if !w.ended && !w.busy && len(text) <= maxDirect && (len(w.ready) == 0 || w.held && !w.closing()) {
		w.add(frame{text: text})
		w.busy, w.held = true, false
		if among {
			w.mu.Unlock()
			runtime.Gosched()
			w.mu.Lock()
		}
		batch := w.take()
		if end := closeIn(batch); end >= 0 { // which is Run's
			w.ready, batch = slices.Clone(batch[end:]), batch[:end]
		}
		w.mu.Unlock()
		err := w.write(batch)
		w.release(batch)
		if err != nil {
			w.ws.Close() // ends the reader, which ends everything
		}
		return err == nil
	}
	w.mu.Unlock()
	return w.put(ctx, frame{text: text})
}

// Hold is Send that never blocks, of a frame that waits for more: the caller calls [Writer.Flush] soon, without waiting for anything before. It reports
// false when the frame would have to wait for room, or the connection has ended; then the writer has not taken it.
func (w *Writer) Hold(text []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || w.full() {
		return false
	}
	if len(w.ready) == 0 && !w.busy {
		w.held = true
	}
	w.add(frame{text: text})
	return true
}

// Flush writes what is held, as far as it can be written at once; Run does the rest. It never blocks.
func (w *Writer) Flush() {
	w.mu.Lock()
	w.held = false
	if w.busy || w.ended || len(w.ready) == 0 {
		w.mu.Unlock()
		return
	}
	if w.sock == nil || w.bytes > maxDirect || w.closing() {
		w.mu.Unlock()
		signal(w.wake)
		return
	}
	batch := w.take()
	w.mu.Unlock()
	all, err := w.together(batch, w.sock.TryRelease)
	switch {
	case err != nil:
		w.ws.Close()
		w.release(batch)
	case all:
		w.release(batch)
	default:
		signal(w.left)
	}
}

// Pong has Run answer a ping; of several that wait, the last one (RFC 6455, 5.5.3). It never blocks. Only the reader may call it.
func (w *Writer) Pong(payload string) {
	select {
	case <-w.ping:
	default:
	}
	w.ping <- payload // there is room: nobody else puts one
}

// Offer is Send that never blocks. It reports false as [Writer.Hold] does.
func (w *Writer) Offer(text []byte) bool {
	if !w.Hold(text) {
		return false
	}
	w.Flush()
	return true
}

// SendSoon is Offer of a frame for which nobody waits: it goes along with the next one, or by itself after a millisecond.
func (w *Writer) SendSoon(text []byte) bool {
	if !w.Hold(text) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.armed || w.ended {
		return true
	}
	w.armed = true
	if w.timer == nil {
		w.timer = time.AfterFunc(soon, w.late)
	} else {
		w.timer.Reset(soon)
	}
	return true
}

func (w *Writer) late() {
	w.mu.Lock()
	w.armed = false
	w.mu.Unlock()
	w.Flush()
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

// put queues a frame for Run, once there is room.
func (w *Writer) put(ctx context.Context, f frame) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.ended && w.full() {
		if w.room == nil {
			w.room = make(chan struct{})
		}
		room := w.room
		w.mu.Unlock()
		select {
		case <-room:
		case <-w.over:
		case <-ctx.Done():
		}
		w.mu.Lock()
		if ctx.Err() != nil {
			return false
		}
	}
	if w.ended {
		return false
	}
	w.add(f)
	if !w.busy { // else who is sees to it
		signal(w.wake)
	}
	return true
}

// The following have w.mu.

func (w *Writer) closing() bool { return len(w.ready) > 0 && w.ready[len(w.ready)-1].code != 0 }

func (w *Writer) full() bool { return len(w.ready) >= maxReady || w.bytes > maxReadyBytes }

func (w *Writer) add(f frame) {
	w.ready = append(w.ready, f)
	w.bytes += len(f.text)
}

// take takes the turn and what is ready.
func (w *Writer) take() []frame {
	batch := w.ready
	w.busy, w.held, w.ready, w.spare, w.bytes = true, false, w.spare, nil, 0
	if w.room != nil {
		close(w.room)
		w.room = nil
	}
	return batch
}

// release gives the turn back, and the memory of what was written.
func (w *Writer) release(batch []frame) {
	clear(batch)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy = false
	if batch != nil && cap(batch) <= keepReady {
		w.spare = batch[:0]
	}
	if w.wants {
		w.wants = false
		signal(w.free)
	}
	if len(w.ready) > 0 {
		signal(w.wake)
	}
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
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

// closeIn is where a close frame is; -1 for none.
func closeIn(list []frame) int {
	return slices.IndexFunc(list, func(f frame) bool { return f.code != 0 })
}

// rest writes what the system did not take at once.
func (w *Writer) rest() bool {
	err := w.sock.Flush()
	w.release(nil)
	return err == nil
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

// closeLimit is how long a close frame may take.
const closeLimit = 2 * time.Second

// limit is when a write of so many bytes must be over.
func limit(size int) time.Time {
	return time.Now().Add(WriteLimit + time.Duration(size/SlowRate)*time.Second)
}

// write writes text frames, small ones in one piece. The caller has the turn.
func (w *Writer) write(list []frame) error {
	for len(list) > 0 {
		n, size := 0, 0
		for ; n < len(list) && size+len(list[n].text) <= maxDirect; n++ {
			size += len(list[n].text)
		}
		var err error
		if n < 2 || w.pile == nil {
			n = 1
			w.ws.SetWriteDeadline(limit(len(list[0].text)))
			err = w.message(websocket.TextMessage, list[0].text)
		} else {
			_, err = w.together(list[:n], func() (bool, error) { return true, w.pile.Release() })
		}
		if err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// together writes frames in one piece.
func (w *Writer) together(list []frame, release func() (bool, error)) (bool, error) {
	w.ws.SetWriteDeadline(limit(maxDirect))
	w.pile.Hold()
	var err error
	for _, f := range list {
		if err = w.ws.WriteMessage(websocket.TextMessage, f.text); err != nil {
			break
		}
	}
	all, late := release()
	return all, errors.Join(err, late)
}

// message writes a frame, in one piece also when it is several records.
func (w *Writer) message(kind int, data []byte) error {
	if w.pile == nil || w.sock != nil || len(data) < record {
		return w.ws.WriteMessage(kind, data)
	}
	w.pile.Hold()
	err := w.ws.WriteMessage(kind, data)
	return errors.Join(err, w.pile.Release())
}

func (w *Writer) writeBulk(f frame) error {
	if f.binary == nil {
		return w.write([]frame{f})
	}
	w.ws.SetWriteDeadline(limit(len(f.binary)))
	return w.message(websocket.BinaryMessage, f.binary)
}
