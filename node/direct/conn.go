package direct

import (
	"crypto/tls"
	"errors"
	"net"

	"fairlead/gateway/peer/trust"
)

// conn is a connection to the other machine. Each Write is sent in one piece, in as many TLS
// records as needed. Only one goroutine may write at a time.
type conn struct {
	*tls.Conn
	pile *trust.Pile
}

// secure adds TLS to a connection, by tls.Client or tls.Server.
func secure(raw net.Conn, upon func(net.Conn, *tls.Config) *tls.Conn, config *tls.Config) *conn {
	pile := trust.NewPile(raw)
	return &conn{upon(pile, config), pile}
}

func (c *conn) Write(p []byte) (int, error) {
	c.pile.Hold()
	n, err := c.Conn.Write(p)
	return n, errors.Join(err, c.pile.Release())
}
