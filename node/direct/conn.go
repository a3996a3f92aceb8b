package direct

import (
	"crypto/tls"
	"errors"
	"net"

	"fairlead/gateway/peer/trust"
)

// conn is a connection to the other end. What is written at once goes out in one piece, in however many records; one goroutine writes at a time.
type conn struct {
	*tls.Conn
	pile *trust.Pile
}

// secure puts TLS upon a connection, by tls.Client or tls.Server.
func secure(raw net.Conn, upon func(net.Conn, *tls.Config) *tls.Conn, config *tls.Config) *conn {
	pile := trust.NewPile(raw)
	return &conn{upon(pile, config), pile}
}

func (c *conn) Write(p []byte) (int, error) {
	c.pile.Hold()
	n, err := c.Conn.Write(p)
	return n, errors.Join(err, c.pile.Release())
}
