package wire

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// Send sends a text frame and takes ownership of text. It blocks while the peer is slow. It reports
// false when the connection or ctx has ended. A queued frame may be lost when the connection ends.
func (w *Writer) Send(ctx context.Context, text []byte) bool { return w.send(ctx, text, false) }

// SendAmong is Send for one of many frames that several goroutines are about to send: it yields
// first, so that their frames are sent in the same write.
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
		if end := closeIn(batch); end >= 0 { // Run sends the close frame
			w.ready, batch = slices.Clone(batch[end:]), batch[:end]
		}
		w.mu.Unlock()
		err := w.write(batch)
		w.release(batch)
		if err != nil {
			w.ws.Close() // ends the reader, and with it the connection
		}
		return err == nil
	}
	w.mu.Unlock()
	return w.put(ctx, frame{text: text})
}

// Hold queues a frame without sending it, because more will follow; the caller calls [Writer.Flush]
// soon, without blocking before. It never blocks. It reports false, without taking the frame, when
// the queue is full or the connection has ended.
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

// Flush writes the held frames as far as possible at once; Run writes the rest. It never blocks.
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

// Pong lets Run answer a ping; only the latest one is answered (RFC 6455, section 5.5.3). It never
// blocks. Only the reader may call it.
func (w *Writer) Pong(payload string) {
	select {
	case <-w.ping:
	default:
	}
	w.ping <- payload // cannot block: only the reader puts pings there
}

// Offer is Send without blocking. It reports false as [Writer.Hold] does.
func (w *Writer) Offer(text []byte) bool {
	if !w.Hold(text) {
		return false
	}
	w.Flush()
	return true
}

// SendSoon is Offer for a frame that nobody waits for: it is sent with the next frame, or alone
// after a millisecond.
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

// Close queues a close frame. Earlier frames are sent first, later ones are dropped. It reports
// false when the connection or ctx has ended.
func (w *Writer) Close(ctx context.Context, code int, reason string) bool {
	return w.put(ctx, frame{code: code, reason: reason})
}

// SendBinary sends a binary frame after the earlier binary frames. It blocks while the peer is
// slow, and reports false as [Writer.Send] does. done, which may be nil, is called exactly once in
// any case, as soon as data is no longer needed. It must not block.
func (w *Writer) SendBinary(ctx context.Context, data []byte, done func()) bool {
	return w.lane(ctx, frame{binary: data, done: done})
}

// SendBehind sends a text frame after the earlier binary frames; [Writer.Send] may overtake those.
func (w *Writer) SendBehind(ctx context.Context, text []byte) bool {
	return w.lane(ctx, frame{text: text})
}

func (w *Writer) lane(ctx context.Context, f frame) bool {
	select {
	case w.bulk <- f:
		select {
		case <-w.over: // Run may have drained the binary queue before
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
