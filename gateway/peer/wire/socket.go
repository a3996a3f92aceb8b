package wire

import (
	"errors"
	"net"
	"sync"
	"time"

	"fairlead/gateway/peer/tcp"
)

// Socket is a TCP connection, or one within the process, that can be written without waiting for
// the peer. Writes during Hold are sent as one: a hundred small frames then cost the system as much
// as one.
type Socket struct {
	net.Conn
	try func([]byte) (int, error) // writes what the system accepts at once; nil if the connection does not support it

	// Before, when set, is called by the reading goroutine before a read that may block. It must be
	// set before reading begins.
	Before func()

	mu       sync.Mutex // guards the fields below
	deadline time.Time
	holding  bool
	writing  bool   // a goroutine is writing the held bytes or the backlog
	held     []byte // written between Hold and Release
	behind   []byte // backlog: bytes that the system has not accepted yet, and everything written after them
}

// maxBehind is the maximum backlog in bytes of a peer that does not read: one batch, and the
// control frames after it.
const maxBehind = 4 << 20

// errBehind closes a connection whose peer sends requests but does not read.
var errBehind = errors.New("the peer takes nothing")

// buffers holds buffers for writes that are sent as one.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 8<<10); return &b }}

// keepBuffer is the size in bytes of the largest buffer that is reused: enough for the records of a
// binary frame.
const keepBuffer = 512 << 10

// tryWriter is a connection that can write without blocking: one of package tcp, or one within the
// process.
type tryWriter interface{ TryWrite([]byte) (int, error) }

// NewSocket takes ownership of the connection.
func NewSocket(c net.Conn) *Socket {
	s := &Socket{Conn: tcp.Wrap(c)}
	if t, ok := s.Conn.(tryWriter); ok {
		s.try = t.TryWrite
	}
	return s
}

func (s *Socket) Read(p []byte) (int, error) {
	if s.Before != nil {
		s.Before()
	}
	return s.Conn.Read(p)
}

// SetWriteDeadline limits writes that block. Most do not, and setting a deadline costs as much as
// part of the write, so the system's deadline is set only when needed.
func (s *Socket) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = t
	return nil
}

// SetDeadline sets both deadlines.
func (s *Socket) SetDeadline(t time.Time) error {
	return errors.Join(s.SetWriteDeadline(t), s.SetReadDeadline(t))
}

// Write writes b, or appends it to the held bytes or the backlog. Only one goroutine at a time may
// call it.
func (s *Socket) Write(b []byte) (int, error) {
	s.mu.Lock()
	switch {
	case s.holding:
		s.held = append(s.held, b...)
		s.mu.Unlock()
		return len(b), nil
	case s.writing || len(s.behind) > 0:
		defer s.mu.Unlock()
		if len(s.behind)+len(b) > maxBehind {
			return 0, errBehind
		}
		s.behind = append(s.behind, b...)
		return len(b), nil
	}
	deadline := s.deadline
	s.mu.Unlock()
	n := 0
	if s.try != nil {
		var err error
		if n, err = s.try(b); err != nil || n == len(b) {
			return n, err
		}
	}
	m, err := s.wait(b[n:], deadline)
	return n + m, err
}

// wait writes b and blocks while the peer is slow, up to the deadline.
func (s *Socket) wait(b []byte, deadline time.Time) (int, error) {
	s.Conn.SetWriteDeadline(deadline)
	n, err := s.Conn.Write(b)
	if err == nil {
		s.Conn.SetWriteDeadline(time.Time{}) // a past deadline would fail later writes, even those that do not block
	}
	return n, err
}

// Hold buffers writes until Release or TryRelease, which the same goroutine calls soon.
func (s *Socket) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = true
	s.held = (*buffers.Get().(*[]byte))[:0]
}

// let ends Hold. It returns the held bytes, or appends them to the backlog if there is one.
func (s *Socket) let() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held
	s.held, s.holding = nil, false
	if s.writing || len(s.behind) > 0 {
		s.behind = append(s.behind, held...)
		free(held)
		return nil
	}
	s.writing = len(held) > 0
	return held
}

func free(b []byte) {
	if cap(b) > 0 && cap(b) <= keepBuffer {
		buffers.Put(&b)
	}
}

// Release sends the held bytes and the backlog. It blocks while the peer is slow, up to
// [WriteLimit] and a second more for each [SlowRate] bytes.
func (s *Socket) Release() error {
	held := s.let()
	defer free(held)
	return s.flush(held)
}

// flush writes b and then the backlog.
func (s *Socket) flush(b []byte) error {
	n := 0
	var err error
	if s.try != nil && len(b) > 0 {
		n, err = s.try(b)
	}
	for {
		if err != nil {
			return err // writing stays set: nothing may follow an incomplete frame
		}
		s.mu.Lock()
		if n == len(b) {
			if len(s.behind) == 0 {
				s.writing = false
				s.mu.Unlock()
				return nil
			}
			b, n, s.behind, s.writing = s.behind, 0, nil, true
		}
		s.mu.Unlock()
		var m int
		m, err = s.wait(b[n:], limit(len(b)))
		n += m
	}
}

// TryRelease sends as much of the held bytes as possible without blocking. It reports whether that
// was all; otherwise [Socket.Flush] sends the rest.
func (s *Socket) TryRelease() (all bool, err error) {
	held := s.let()
	defer free(held)
	n := 0
	if s.try != nil && len(held) > 0 {
		if n, err = s.try(held); err != nil {
			return false, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < len(held) {
		s.behind = append(append(make([]byte, 0, len(held)-n+len(s.behind)), held[n:]...), s.behind...)
	}
	if len(held) > 0 {
		s.writing = false
	}
	return len(s.behind) == 0, nil
}

// Flush sends the backlog. It blocks as Release does.
func (s *Socket) Flush() error { return s.flush(nil) }

// Listener makes every accepted connection a [Socket] if possible. TLS connections stay unchanged.
type Listener struct{ net.Listener }

// Accept waits for a connection.
func (l Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return Wrap(c), nil
}

// Wrap makes a connection a [Socket] if possible.
func Wrap(c net.Conn) net.Conn {
	switch c.(type) {
	case *net.TCPConn, tryWriter:
		return NewSocket(c)
	}
	return c
}
