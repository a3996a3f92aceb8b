package direct

import (
	"crypto/tls"
	"errors"
	"net"

	"fairlead/gateway/peer/wire"
)

// conn is a connection to the other machine. Each Write is sent in one piece, in as many TLS
// records as needed. Only one goroutine may write at a time.
type conn struct {
	*tls.Conn
	buffered *wire.BufferedConn
}

// secure adds TLS to a connection, by tls.Client or tls.Server.
func secure(raw net.Conn, upon func(net.Conn, *tls.Config) *tls.Conn, config *tls.Config) *conn {
	buffered := wire.NewBufferedConn(raw)
	return &conn{upon(buffered, config), buffered}
}

func (c *conn) Write(p []byte) (int, error) {
	c.buffered.Hold()
	n, err := c.Conn.Write(p)
	return n, errors.Join(err, c.buffered.Flush())
}
