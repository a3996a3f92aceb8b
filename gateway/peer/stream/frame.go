package stream

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"

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
	// Piece reports that the frame is a piece of a longer one. Fairlead's own ends do not send
	// those.
	Piece bool
}

var frames = sync.Pool{New: func() any { return &Frame{buf: make([]byte, 0, idSize+maxBody)} }}

func newFrame(id uint32) *Frame {
	f := frames.Get().(*Frame)
	f.buf, f.Piece = binary.LittleEndian.AppendUint32(f.buf[:0], id), false
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
		if f.Piece = piece; n == maxBody && !piece {
			// Only the next read tells whether the frame continues. A receiver of records
			// recognizes a long frame by its second piece.
			f.Piece = false
		}
		take(f)
		if end {
			return nil
		}
	}
}
