package wire

import (
	"context"
	"slices"
)

func (f frame) end() {
	if f.done != nil {
		f.done()
	}
}

// drain discards binary frames that will never be written.
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

// put queues a frame for Run, and waits while the queue is full.
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
	if !w.busy { // otherwise, release signals Run
		signal(w.wake)
	}
	return true
}

// closing, full, add and take require w.mu.

func (w *Writer) closing() bool { return len(w.ready) > 0 && w.ready[len(w.ready)-1].code != 0 }

func (w *Writer) full() bool { return len(w.ready) >= maxReady || w.bytes > maxReadyBytes }

func (w *Writer) add(f frame) {
	w.ready = append(w.ready, f)
	w.bytes += len(f.text)
}

// take starts writing and returns the queued frames.
func (w *Writer) take() []frame {
	batch := w.ready
	w.busy, w.held, w.ready, w.spare, w.bytes = true, false, w.spare, nil, 0
	if w.room != nil {
		close(w.room)
		w.room = nil
	}
	return batch
}

// release ends writing, and reuses the memory of the written frames.
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

// closeIn returns the index of a close frame; -1 if there is none.
func closeIn(list []frame) int {
	return slices.IndexFunc(list, func(f frame) bool { return f.code != 0 })
}

// rest writes what the system did not accept at once.
func (w *Writer) rest() bool {
	err := w.sock.Flush()
	w.release(nil)
	return err == nil
}
