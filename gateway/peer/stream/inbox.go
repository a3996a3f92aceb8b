package stream

import (
	"context"
	"errors"
	"sync"
)

// ErrFlood says that a peer sent more than it was allowed to.
var ErrFlood = errors.New("the other end sent more than it was allowed to")

// Inbox holds the frames that arrived for one end and were not taken yet, at most limit bytes of them. It is safe for use by many goroutines.
type Inbox struct {
	limit int
	wake  chan struct{} // holds a token when there may be something to take
	room  chan struct{} // holds a token when there may be room

	mu    sync.Mutex // guards what follows
	queue []*Frame
	bytes int
	err   error // why there will be no more
}

// NewInbox makes an inbox of limit bytes.
func NewInbox(limit int) *Inbox {
	return &Inbox{limit: limit, wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// Put adds a frame, which the inbox owns from then on. It never blocks; a frame for which there is no room ends the inbox with [ErrFlood].
func (b *Inbox) Put(f *Frame) {
	b.mu.Lock()
	switch {
	case b.err != nil:
		f.Free()
	case b.bytes+len(f.Body()) > b.limit+maxBody:
		b.closeLocked(ErrFlood)
		f.Free()
	default:
		b.queue = append(b.queue, f)
		b.bytes += len(f.Body())
	}
	b.mu.Unlock()
	signal(b.wake)
}

// PutWait is Put for a peer that knows no limits: it waits until there is room. It reports false when the inbox or ctx has ended.
func (b *Inbox) PutWait(ctx context.Context, f *Frame) bool {
	for {
		b.mu.Lock()
		if b.err != nil || b.bytes < b.limit {
			ended := b.err != nil
			b.mu.Unlock()
			b.Put(f)
			return !ended
		}
		b.mu.Unlock()
		select {
		case <-b.room:
		case <-ctx.Done():
			f.Free()
			return false
		}
	}
}

// Next takes the next frame. After the inbox was closed it gives what is left, and then the reason.
func (b *Inbox) Next(ctx context.Context) (*Frame, error) {
	for {
		b.mu.Lock()
		if len(b.queue) > 0 {
			f := b.queue[0]
			b.queue[0] = nil
			if b.queue = b.queue[1:]; len(b.queue) == 0 {
				b.queue = nil
			}
			b.bytes -= len(f.Body())
			b.mu.Unlock()
			signal(b.room)
			return f, nil
		}
		err := b.err
		b.mu.Unlock()
		if err != nil {
			signal(b.wake) // for whoever else waits
			return nil, err
		}
		select {
		case <-b.wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Empty reports whether there is nothing to take at the moment.
func (b *Inbox) Empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) == 0
}

// Close says that nothing more comes, and why.
func (b *Inbox) Close(err error) {
	b.mu.Lock()
	b.closeLocked(err)
	b.mu.Unlock()
	signal(b.wake)
	signal(b.room)
}

func (b *Inbox) closeLocked(err error) {
	if b.err == nil {
		b.err = err
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
