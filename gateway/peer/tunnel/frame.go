package tunnel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ReadFrame reads a frame of a stream: its length, a byte that is its kind, and at most most-1 bytes
// of body (docs/protocol.md#terminals).
func ReadFrame(r io.Reader, most int) (kind byte, body []byte, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > uint32(most) {
		return 0, nil, fmt.Errorf("a frame of %d bytes: 1 to %d are allowed", n, most)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(r, data); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return data[0], data[1:], nil
}

// WriteFrame writes a frame of a stream in one piece.
func WriteFrame(w io.Writer, kind byte, body []byte) error {
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 5+len(body)), uint32(1+len(body)))
	frame = append(append(frame, kind), body...)
	_, err := w.Write(frame)
	return err
}
