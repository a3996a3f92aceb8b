package client

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
)

// Memory returns a transport inside one process: connections from dial arrive at the listener. The
// WebSocket protocol runs over it as over TCP, so that local and remote windows share one
// implementation. After the listener is closed, dial fails.
func Memory() (dial func(context.Context) (net.Conn, error), l net.Listener) {
	m := &memory{conns: make(chan net.Conn), closed: make(chan struct{})}
	return m.dial, m
}

type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (m *memory) dial(ctx context.Context) (net.Conn, error) {
	near, far := pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "memory" }

// maxBuffered is the number of buffered bytes per direction; beyond it, a write blocks.
const maxBuffered = 1 << 20

// pipe is a net.Pipe with a buffer, so that two sides that answer each other's pings never
// deadlock.
func pipe() (net.Conn, net.Conn) {
	a, b := newDirection(), newDirection()
	return &pipeConn{in: a, out: b}, &pipeConn{in: b, out: a}
}

// direction is one direction of a pipe.
type direction struct {
	mu     sync.Mutex // guards the fields below
	wake   sync.Cond
	buf    []byte
	closed bool
	read   deadline
	write  deadline
}

type deadline struct {
	at    time.Time
	timer *time.Timer
}

func newDirection() *direction {
	s := new(direction)
	s.wake.L = &s.mu
	return s
}

func (d *deadline) hasPassed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (s *direction) set(d *deadline, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.at = t
	if !t.IsZero() {
		d.timer = crash.AfterFunc(time.Until(t), func() {
			s.mu.Lock()
			s.wake.Broadcast()
			s.mu.Unlock()
		})
	}
	s.wake.Broadcast()
}

func (s *direction) receive(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.buf) == 0 {
		switch {
		case s.closed:
			return 0, io.EOF
		case s.read.hasPassed():
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		}
		s.wake.Wait()
	}
	n := copy(p, s.buf)
	s.buf = s.buf[n:]
	if len(s.buf) == 0 {
		s.buf = nil
	}
	s.wake.Broadcast()
	return n, nil
}

func (s *direction) send(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(p) > 0 {
		switch {
		case s.closed:
			return n, io.ErrClosedPipe
		case s.write.hasPassed():
			return n, os.ErrDeadlineExceeded
		case len(s.buf) >= maxBuffered:
			s.wake.Wait()
			continue
		}
		k := min(len(p), maxBuffered-len(s.buf))
		s.buf = append(s.buf, p[:k]...)
		p, n = p[k:], n+k
		s.wake.Broadcast()
	}
	return n, nil
}

func (s *direction) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, d := range []*deadline{&s.read, &s.write} {
		if d.timer != nil {
			d.timer.Stop()
		}
	}
	s.wake.Broadcast()
}

type pipeConn struct{ in, out *direction }

func (c *pipeConn) Read(p []byte) (int, error)  { return c.in.receive(p) }
func (c *pipeConn) Write(p []byte) (int, error) { return c.out.send(p) }

func (c *pipeConn) Close() error {
	c.in.close()
	c.out.close()
	return nil
}
func (c *pipeConn) LocalAddr() net.Addr  { return memoryAddr{} }
func (c *pipeConn) RemoteAddr() net.Addr { return memoryAddr{} }
func (c *pipeConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *pipeConn) SetReadDeadline(t time.Time) error {
	c.in.set(&c.in.read, t)
	return nil
}

func (c *pipeConn) SetWriteDeadline(t time.Time) error {
	c.out.set(&c.out.write, t)
	return nil
}
