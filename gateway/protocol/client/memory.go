package client

import (
	"context"
	"net"
	"sync"
)

// Memory returns a transport inside one process: connections from dial arrive at the listener. The
// WebSocket protocol runs over it as over TCP, so that local and remote windows share one
// implementation. Writes block until the other side reads. Dial fails when the listener is closed.
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
	near, far := net.Pipe()
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
