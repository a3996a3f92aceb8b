package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
)

const (
	idSize = 4
	// maxBody is the maximum number of bytes after the ID in a frame that is sent.
	maxBody = protocol.ChunkSize
)

// Frame is one binary frame (docs/protocol.md#frames), or a piece of one that is longer than
// [ChunkSize]. The holder calls Free once, or passes the frame on.
type Frame struct {
	buf []byte // ID and body
}

var frames = sync.Pool{New: func() any { return &Frame{buf: make([]byte, 0, idSize+maxBody)} }}

func newFrame(id uint32) *Frame {
	f := frames.Get().(*Frame)
	f.buf = binary.LittleEndian.AppendUint32(f.buf[:0], id)
	return f
}

// ID returns the number of the transfer.
func (f *Frame) ID() uint32 { return binary.LittleEndian.Uint32(f.buf) }

// SetID changes the number of the transfer.
func (f *Frame) SetID(id uint32) { binary.LittleEndian.PutUint32(f.buf, id) }

// Bytes returns the whole frame as it is sent; Body returns the part after the ID.
func (f *Frame) Bytes() []byte { return f.buf }
func (f *Frame) Body() []byte  { return f.buf[idSize:] }

// Free returns the frame's memory to the pool.
func (f *Frame) Free() { frames.Put(f) }

// ReadFrame reads a binary frame and passes it to take, a long one in pieces; it calls alive for
// each. A frame without a complete ID is dropped.
func ReadFrame(r io.Reader, alive func(), take func(*Frame)) error {
	var head [idSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		return err
	}
	id := binary.LittleEndian.Uint32(head[:])
	for piece := false; ; piece = true {
		f := newFrame(id)
		n, err := io.ReadFull(r, f.buf[idSize:idSize+maxBody])
		f.buf = f.buf[:idSize+n]
		alive()
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		switch {
		case err != nil && !end:
			f.Free()
			return err
		case n == 0 && piece:
			f.Free()
			return nil
		}
		take(f)
		if end {
			return nil
		}
	}
}

// ErrFlood reports that a peer sent more than it was allowed to.
var ErrFlood = errors.New("the other machine sent more than allowed")

// Inbox queues the frames that arrived for one end, at most limit bytes. It is safe for concurrent
// use.
type Inbox struct {
	limit int
	wake  wake.Signal // holds a token when the queue may not be empty
	room  wake.Signal // holds a token when there may be space

	mu    sync.Mutex // guards the fields below
	queue []*Frame
	bytes int
	err   error // the reason, once closed
}

// NewInbox creates an inbox of limit bytes.
func NewInbox(limit int) *Inbox {
	return &Inbox{limit: limit, wake: wake.New(), room: wake.New()}
}

// Put adds a frame and takes ownership of it. It never blocks. A frame beyond the limit closes the
// inbox with [ErrFlood].
func (b *Inbox) Put(f *Frame) {
	b.mu.Lock()
	switch {
	case b.err != nil:
		f.Free()
	case b.bytes+len(f.Body()) > b.limit+maxBody:
		b.err = ErrFlood
		f.Free()
	default:
		b.queue = append(b.queue, f)
		b.bytes += len(f.Body())
	}
	b.mu.Unlock()
	b.wake.Send()
}

// PutWait is Put for a peer without flow control: it waits for space. It reports false when the
// inbox is closed or ctx has ended.
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

// Next waits for the next frame. After Close it returns the remaining frames, and then the reason.
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
			b.room.Send()
			return f, nil
		}
		err := b.err
		b.mu.Unlock()
		if err != nil {
			b.wake.Send() // wakes another waiting goroutine
			return nil, err
		}
		select {
		case <-b.wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Empty reports whether no frame is queued.
func (b *Inbox) Empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) == 0
}

// Close closes the inbox for new frames, with a reason.
func (b *Inbox) Close(err error) {
	b.mu.Lock()
	if b.err == nil {
		b.err = err
	}
	b.mu.Unlock()
	b.wake.Send()
	b.room.Send()
}
