package tunnel

import (
	"io"
	"net"

	"fairlead/gateway/peer/crash"
)

// copyBuffer is the number of bytes that are copied at once, in each direction of a stream. It fills a
// message of yamux, whose header has 12 bytes; one byte more would be a message of its own.
const copyBuffer = 64<<10 - 12

// HalfCloser is a connection whose sending direction can end alone.
type HalfCloser interface{ CloseWrite() error }

// Join copies between two connections in both directions until both have ended, and closes them. The
// end of one direction is passed on alone if the other connection is a [HalfCloser]. If a connection
// fails, the other is aborted, so that its reader does not take what has arrived for everything.
func Join(a, b net.Conn) {
	defer a.Close()
	defer b.Close()
	var back crash.Group
	back.Go(func() { copyTo(a, b) })
	copyTo(b, a)
	back.Wait()
}

// copyTo copies from one connection to another and ends that direction. After a failure, it aborts
// both.
func copyTo(to, from net.Conn) {
	// Without these types, a TCP connection would copy with a smaller buffer of its own.
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, copyBuffer))
	if err == nil {
		if half, ok := to.(HalfCloser); ok {
			err = half.CloseWrite()
		} else {
			to.Close()
		}
	}
	if err != nil {
		Abort(to)
		Abort(from)
	}
}

// Abort closes a connection so that its peer gets an error instead of an end.
func Abort(c net.Conn) {
	switch c := c.(type) {
	case *net.TCPConn:
		c.SetLinger(0)
	case interface{ Reset() error }:
		c.Reset()
	}
	c.Close()
}
