package junction

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
)

const (
	// call begins the words of a machine that shows a ticket. It begins neither a TLS record nor a method of HTTP.
	call = 0xF1
	// joined is the gateway's word that the other end is there.
	joined = 0x01
	// ticketSize is how long a ticket is.
	ticketSize = 32
)

// ticket lets one connection in.
type ticket [ticketSize]byte

func newTicket() (t ticket) {
	rand.Read(t[:]) // never fails
	return t
}

func (t ticket) text() string { return base64.StdEncoding.EncodeToString(t[:]) }

func parseTicket(s string) (t ticket, err error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || len(b) != ticketSize {
		return t, errors.New("the ticket is damaged")
	}
	return ticket(b), nil
}

// Enter shows a ticket over a new connection to the gateway and waits until the other end is there: from then on the connection leads to it. When ctx ends
// the connection is closed, and so it is with an error.
func Enter(ctx context.Context, conn net.Conn, text string) error {
	t, err := parseTicket(text)
	if err != nil {
		conn.Close()
		return err
	}
	hangUp := context.AfterFunc(ctx, func() { conn.Close() })
	if err = t.enter(conn); !hangUp() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return fmt.Errorf("be joined to the other end: %w", err)
	}
	return nil
}

func (t ticket) enter(conn net.Conn) error {
	if _, err := conn.Write(append([]byte{call}, t[:]...)); err != nil {
		return err
	}
	var answer [1]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return err
	}
	if answer[0] != joined {
		return errors.New("the gateway answers something else")
	}
	return nil
}
