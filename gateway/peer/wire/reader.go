package wire

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Receive reads one text frame. It calls alive for each piece that arrives, so that a large frame
// may arrive slowly. It passes other kinds of frames to other, which may be nil, and skips what
// other leaves unread.
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

// scratch holds buffers for small frames, which most are. Such a frame then gets memory of exactly
// its size.
var scratch = sync.Pool{New: func() any { return new([4 << 10]byte) }}

// readText reads a whole frame into memory that the caller owns.
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

// Deadline extends the read deadline of a connection. Setting it costs as much as decoding a small
// frame, so it is set only after a tenth of the time has passed. It belongs to the reading
// goroutine.
type Deadline struct {
	ws   *websocket.Conn
	last time.Time
}

// NewDeadline creates the Deadline of ws.
func NewDeadline(ws *websocket.Conn) *Deadline { return &Deadline{ws: ws} }

// Extend gives the peer at least nine tenths of silence from now.
func (d *Deadline) Extend(silence time.Duration) {
	if now := time.Now(); now.Sub(d.last) > silence/10 {
		d.last = now
		d.ws.SetReadDeadline(now.Add(silence))
	}
}
