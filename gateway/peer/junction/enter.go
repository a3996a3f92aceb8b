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
	// call is the first byte from a machine that shows a ticket. Neither a TLS record nor an HTTP
	// method begins with it.
	call = 0xF1
	// joined is the gateway's message that the other end is connected.
	joined = 0x01
	// ticketSize is the length of a ticket in bytes.
	ticketSize = 32
)

// ticket admits one connection.
type ticket [ticketSize]byte

func newTicket() (t ticket) {
	rand.Read(t[:]) // cannot fail
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

// Enter shows a ticket over a new connection to the gateway and waits for the other end. After
// that, the connection leads to the other end. When ctx ends or an error occurs, it closes the
// connection.
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
		return fmt.Errorf("join the connection to the other machine: %w", err)
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
		return errors.New("the gateway sent an unexpected response")
	}
	return nil
}
