package trust

import (
	"bufio"
	"net"
	"sync"

	"fairlead/gateway/peer/tcp"
)

const (
	// pileRead is the size of the read buffer in bytes, pileWrite that of the write buffer.
	pileRead  = 64 << 10
	pileWrite = 288 << 10
	// pileThrough is the size from which a read bypasses the buffer: copying costs more than
	// another system call.
	pileThrough = 16 << 10
)

// Pile buffers a connection below TLS, because each TLS record of 16 KiB would otherwise be a write
// and a read of its own. It reads as much as is available. What is written between Hold and Release
// is sent together.
type Pile struct {
	net.Conn
	r *bufio.Reader

	mu   sync.Mutex // guards the fields below, and serializes writes
	held []byte     // nil: writes are not buffered
}

var piles = sync.Pool{New: func() any { b := make([]byte, 0, pileWrite); return &b }}

// NewPile takes ownership of the connection.
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

// Peek returns the next n bytes, at most 64 KiB, without consuming them. They belong to the Pile.
func (p *Pile) Peek(n int) ([]byte, error) { return p.r.Peek(n) }

// Buffered returns the number of buffered bytes that were not read yet.
func (p *Pile) Buffered() int { return p.r.Buffered() }

// Bottom returns the connection itself, for use without the Pile. Nothing may be held or buffered.
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

// Hold buffers writes until Release, which the same goroutine calls soon.
func (p *Pile) Hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = *piles.Get().(*[]byte)
}

// Release sends everything that was written since Hold. It blocks while the peer is slow, up to the
// connection's write deadline.
func (p *Pile) Release() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.flushLocked()
	b := p.held
	p.held = nil
	piles.Put(&b)
	return err
}
