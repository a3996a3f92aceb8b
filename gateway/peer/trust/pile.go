package trust

import (
	"bufio"
	"net"
	"sync"

	"fairlead/gateway/peer/tcp"
)

const (
	// pileRead is how many bytes are read at once, pileWrite how many are written.
	pileRead  = 64 << 10
	pileWrite = 288 << 10
	// pileThrough is from how long a read on it goes to the connection: copying costs more than asking the system once more.
	pileThrough = 16 << 10
)

// Pile is a connection below TLS, whose records of 16 KiB would each be a write and a read of their own. It reads as much as is there, and what is written
// between Hold and Release goes out together.
type Pile struct {
	net.Conn
	r *bufio.Reader

	mu   sync.Mutex // guards what follows, and orders what is written
	held []byte     // nil: what is written goes out at once
}

var piles = sync.Pool{New: func() any { b := make([]byte, 0, pileWrite); return &b }}

// NewPile owns the connection from now on.
func NewPile(c net.Conn) *Pile {
	c = tcp.Wrap(c)
	return &Pile{Conn: c, r: bufio.NewReaderSize(c, pileRead)}
}

func (p *Pile) Read(b []byte) (int, error) {
	if len(b) >= pileThrough && p.r.Buffered() == 0 {
		return p.Conn.Read(b)
	}
	return p.r.Read(b)
}

// Peek gives the next n bytes, at most 64 KiB, and leaves them to be read. They are the pile's.
func (p *Pile) Peek(n int) ([]byte, error) { return p.r.Peek(n) }

// Buffered is how many bytes have come and were not read.
func (p *Pile) Buffered() int { return p.r.Buffered() }

// Bottom is the connection itself, for who goes on without the pile: nothing is held, and nothing buffered.
func (p *Pile) Bottom() net.Conn {
	if c, ok := p.Conn.(interface{ NetConn() net.Conn }); ok {
		return c.NetConn()
	}
	return p.Conn
}

func (p *Pile) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		return p.Conn.Write(b)
	}
	if len(p.held)+len(b) > cap(p.held) {
		if err := p.flushLocked(); err != nil {
			return 0, err
		}
	}
	if len(b) > cap(p.held) {
		return p.Conn.Write(b)
	}
	p.held = append(p.held, b...)
	return len(b), nil
}

func (p *Pile) flushLocked() error {
	if len(p.held) == 0 {
		return nil
	}
	_, err := p.Conn.Write(p.held)
	p.held = p.held[:0]
	return err
}

// Hold keeps what is written until Release, which the same goroutine calls soon.
func (p *Pile) Hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = *piles.Get().(*[]byte)
}

// Release sends what was written since Hold. It blocks while the peer is slow, up to the connection's write deadline.
func (p *Pile) Release() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.flushLocked()
	b := p.held
	p.held = nil
	piles.Put(&b)
	return err
}
