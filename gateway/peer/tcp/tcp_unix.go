//go:build unix

package tcp

import (
	"net"
	"os"
	"sync"
	"syscall"
)

// Conn is a TCP connection. It is safe for use by many goroutines, as [net.Conn] has it.
type Conn struct {
	net.Conn
	in, out side
}

// Wrap makes a [*Conn] of a TCP connection, which is owned by it from now on; another connection stays what it is.
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

// NetConn is the connection that was wrapped.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// TryWrite writes what the system takes at once, and returns how much that was. It never waits for the peer.
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

// failed is an error of the system in the words of package net.
func (c *Conn) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(op, err)}
}

// side is one direction. Calls in it follow each other, as those of package net do.
type side struct {
	raw syscall.RawConn
	f   func(fd uintptr) bool // one of the methods, made once: a value of it for each call would be on the heap

	mu  sync.Mutex // guards what follows, which belongs to the call under way
	b   []byte
	n   int
	all bool // nothing is to be left
	err error
}

// read reports whether there was something to read, or nothing will come.
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

// write reports whether the call is over.
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
