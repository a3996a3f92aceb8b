//go:build unix

package wire

import (
	"errors"
	"net"
	"syscall"
)

// tryFunc gives what writes as much as the system takes at once; nil for a connection of another kind.
func tryFunc(c net.Conn) func([]byte) (int, error) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	t := &trier{raw: raw}
	t.f = t.once
	return t.write
}

// trier belongs to whoever has the turn to write.
type trier struct {
	raw syscall.RawConn
	f   func(uintptr) bool
	b   []byte
	n   int
	err error
}

func (t *trier) write(b []byte) (int, error) {
	t.b, t.n, t.err = b, 0, nil
	err := t.raw.Write(t.f)
	t.b = nil
	return t.n, errors.Join(err, t.err)
}

// once writes until the system takes no more. It never waits.
func (t *trier) once(fd uintptr) bool {
	for t.n < len(t.b) {
		n, err := syscall.Write(int(fd), t.b[t.n:])
		if n > 0 {
			t.n += n
		}
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return true
		case err != nil:
			t.err = err
			return true
		}
	}
	return true
}
