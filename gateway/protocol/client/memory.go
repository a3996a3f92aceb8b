package client

import (
	"context"
	"net"
	"sync"
)

// Memory returns a transport inside one process: connections from dial arrive at the listener. The
// WebSocket protocol runs over it as over TCP, so that local and remote windows share one
// implementation. A write waits for the other side, which reads all the time. After the listener is
// closed, dial fails.
func Memory() (dial func(context.Context) (net.Conn, error), l net.Listener) {
	m := newMemory()
	return func(ctx context.Context) (net.Conn, error) { return m.connect(ctx, net.Pipe) }, m
}

type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemory() *memory { return &memory{conns: make(chan net.Conn), closed: make(chan struct{})} }

// connect delivers one end of a pipe to the listener and returns the other.
func (m *memory) connect(ctx context.Context, pipe func() (net.Conn, net.Conn)) (net.Conn, error) {
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

func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }
