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
	// maxBody is how many bytes follow the id in a frame that we make.
	maxBody = protocol.ChunkSize
)

// Frame is one binary frame (docs/protocol.md#frames), or a piece of one that is longer than
// [ChunkSize]. The holder calls Free once, or passes the frame on.
type Frame struct {
	buf []byte // id and body
	// Piece says that the frame it belongs to goes on, or went before: such a frame is not one of ours.
	Piece bool
}

var frames = sync.Pool{New: func() any { return &Frame{buf: make([]byte, 0, idSize+maxBody)} }}

func newFrame(id uint32) *Frame {
	f := frames.Get().(*Frame)
	f.buf, f.Piece = binary.LittleEndian.AppendUint32(f.buf[:0], id), false
	return f
}

// ID is the transfer's.
func (f *Frame) ID() uint32 { return binary.LittleEndian.Uint32(f.buf) }

// SetID gives the frame another transfer's number.
func (f *Frame) SetID(id uint32) { binary.LittleEndian.PutUint32(f.buf, id) }

// Bytes is the frame as it goes over the wire; Body what follows the id.
func (f *Frame) Bytes() []byte { return f.buf }
func (f *Frame) Body() []byte  { return f.buf[idSize:] }

// Free lets others use the frame's memory.
func (f *Frame) Free() { frames.Put(f) }

// ReadFrame reads a binary frame and hands it on, a long one in pieces; alive is called for each. One that is too short to have an id is dropped.
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
			// It is long if there is more to come, which only the next read says; a receiver of records finds that out by the piece that follows.
			f.Piece = false
		}
		take(f)
		if end {
			return nil
		}
	}
}
