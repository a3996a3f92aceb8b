package wire

import (
	"bufio"
	"net"
	"sync"
)

const (
	// maxRecord is the maximum size of a TLS record in bytes.
	maxRecord = 16 << 10
	// readBuffer and writeBuffer are the sizes of the buffers in bytes. The latter holds the
	// records of the largest binary frame.
	readBuffer  = 64 << 10
	writeBuffer = 288 << 10
)

// BufferedConn buffers a connection below TLS, because each TLS record of 16 KiB would otherwise be
// a write and a read of its own. It reads as much as is available. Writes between Hold and Flush
// are sent together.
type BufferedConn struct {
	net.Conn
	r *bufio.Reader

	mu sync.Mutex    // guards the field below, and serializes writes
	w  *bufio.Writer // nil: writes are not buffered
}

var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeBuffer) }}

// NewBufferedConn takes ownership of the connection.
func NewBufferedConn(c net.Conn) *BufferedConn {
	return &BufferedConn{Conn: c, r: bufio.NewReaderSize(c, readBuffer)}
}

func (c *BufferedConn) Read(b []byte) (int, error) { return c.r.Read(b) }

// Peek returns the next n bytes, at most 64 KiB, without consuming them. They are valid until the
// next Read.
func (c *BufferedConn) Peek(n int) ([]byte, error) { return c.r.Peek(n) }

// Buffered returns the number of bytes that were received and not read yet.
func (c *BufferedConn) Buffered() int { return c.r.Buffered() }

func (c *BufferedConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.w != nil {
		return c.w.Write(b)
	}
	return c.Conn.Write(b)
}

// Hold buffers writes until Flush, which the same goroutine calls soon.
func (c *BufferedConn) Hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.w = writers.Get().(*bufio.Writer)
	c.w.Reset(c.Conn)
}

// Flush sends everything that was written since Hold. It blocks while the peer is slow, up to the
// connection's write deadline.
func (c *BufferedConn) Flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.w
	c.w = nil
	err := w.Flush()
	w.Reset(nil)
	writers.Put(w)
	return err
}
