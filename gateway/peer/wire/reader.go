package wire

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Receive reads one text frame. Each piece that arrives is told to alive, so that a large frame may come slowly. A frame of another kind is given to
// other and what that leaves unread is skipped; other may be nil.
func Receive(ws *websocket.Conn, alive func(), other func(kind int, r io.Reader)) ([]byte, error) {
	for {
		kind, r, err := ws.NextReader()
		if err != nil {
			return nil, err
		}
		alive()
		if kind != websocket.TextMessage {
			if other != nil {
				other(kind, r)
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				return nil, err
			}
			continue
		}
		return readText(r, alive)
	}
}

// scratch holds what small frames are read into, which most are: such a frame gets memory of its own size, not that of a growing buffer.
var scratch = sync.Pool{New: func() any { return new([4 << 10]byte) }}

// readText reads a frame to its end, into memory that the caller owns.
func readText(r io.Reader, alive func()) ([]byte, error) {
	small := scratch.Get().(*[4 << 10]byte)
	defer scratch.Put(small)
	for n := 0; n < len(small); {
		got, err := r.Read(small[n:])
		n += got
		if errors.Is(err, io.EOF) {
			return bytes.Clone(small[:n]), nil
		}
		if err != nil {
			return nil, err
		}
	}
	buf := bytes.NewBuffer(append(make([]byte, 0, 4*len(small)), small[:]...))
	for {
		_, err := io.CopyN(buf, r, SlowRate)
		if errors.Is(err, io.EOF) {
			return buf.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
		alive()
	}
}

// Deadline keeps a connection's read deadline at a distance. Moving it costs as much as decoding a small frame, so it moves only when a
// good part of the time is over. It belongs to the reading goroutine.
type Deadline struct {
	ws   *websocket.Conn
	last time.Time
}

// NewDeadline keeps the deadline of ws.
func NewDeadline(ws *websocket.Conn) *Deadline { return &Deadline{ws: ws} }

// Extend gives the peer at least nine tenths of silence once more.
func (d *Deadline) Extend(silence time.Duration) {
	if now := time.Now(); now.Sub(d.last) > silence/10 {
		d.last = now
		d.ws.SetReadDeadline(now.Add(silence))
	}
}
