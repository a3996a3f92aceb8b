package direct

import (
	"bufio"
	"crypto/tls"
	"net"
	"sync"

	"fairlead/gateway/protocol"
)

// batch is a connection below TLS. TLS writes a record of 16 KiB at a time, each of which would wake the other end: while a frame is written, its
// records are held until all of them can go together.
type batch struct {
	net.Conn
	in *bufio.Reader

	mu   sync.Mutex // guards what follows
	held []byte
	hold bool
}

func newBatch(raw net.Conn) *batch { return &batch{Conn: raw, in: bufio.NewReaderSize(raw, 64<<10)} }

func (b *batch) Read(p []byte) (int, error) { return b.in.Read(p) }

func (b *batch) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hold {
		b.held = append(b.held, p...)
		return len(p), nil
	}
	return b.Conn.Write(p)
}

// begin has what is written held until end, which returns what became of it.
func (b *batch) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held == nil {
		b.held = make([]byte, 0, protocol.ChunkSize+(8<<10)) // a frame, and what TLS adds
	}
	b.hold = true
}

func (b *batch) end() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold = false
	_, err := b.Conn.Write(b.held)
	b.held = b.held[:0]
	return err
}

// conn is a connection to the other end whose writes go out whole. One goroutine writes at a time.
type conn struct {
	*tls.Conn
	below *batch
}

func (c *conn) Write(p []byte) (int, error) {
	c.below.begin()
	n, err := c.Conn.Write(p)
	if endErr := c.below.end(); err == nil {
		err = endErr
	}
	return n, err
}
