//go:build unix

package tcp

import (
	"net"
	"os"
	"sync"
	"syscall"
)

// Conn is a TCP connection. It is safe for concurrent use, like [net.Conn].
type Conn struct {
	net.Conn
	in, out side
}

// Wrap makes a TCP connection a [*Conn], which takes ownership of it. It returns other connections
// unchanged.
func Wrap(c net.Conn) net.Conn {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return c
	}
	w := &Conn{Conn: c}
	w.in.raw, w.out.raw = raw, raw
	w.in.f, w.out.f = w.in.read, w.out.write
	return w
}

// NetConn returns the wrapped connection.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// TryWrite writes as much as the system accepts at once, and returns the number of bytes. It never
// waits for the peer.
func (c *Conn) TryWrite(b []byte) (int, error) { return c.write(b, false) }

func (c *Conn) write(b []byte, all bool) (int, error) {
	s := &c.out
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b, s.n, s.all, s.err = b, 0, all, nil
	err := s.raw.Write(s.f)
	s.b = nil
	if s.err != nil {
		err = c.failed("write", s.err)
	}
	return s.n, err
}

// failed wraps an error of the system as package net does.
func (c *Conn) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(op, err)}
}

// side is one direction of a connection. Its calls are serialized, as in package net.
type side struct {
	raw syscall.RawConn
	f   func(fd uintptr) bool // the read or write method, created once, because a method value for each call would be allocated on the heap

	mu  sync.Mutex // guards the fields below, which belong to the current call
	b   []byte
	n   int
	all bool // write everything before returning
	err error
}

// read reports whether the call is finished: data or an error arrived.
func (s *side) read(fd uintptr) bool {
	for {
		n, err := read(fd, s.b)
		switch err {
		case nil:
			s.n = n
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return false
		default:
			s.err = err
		}
		return true
	}
}

// write reports whether the call is finished.
func (s *side) write(fd uintptr) bool {
	for s.n < len(s.b) {
		n, err := write(fd, s.b[s.n:])
		switch err {
		case nil:
			s.n += n
		case syscall.EINTR:
		case syscall.EAGAIN:
			return !s.all
		default:
			s.err = err
			return true
		}
	}
	return true
}
