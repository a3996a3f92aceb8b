package direct

import (
	"context"
	"crypto/hmac"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
)

const (
	// dialLimit bounds the time for trying all addresses together.
	dialLimit = 2 * time.Second
	// leastPort is lower than the ports that systems choose by themselves.
	leastPort = 1024
)

// caller is the source.
type caller struct {
	c        *Connector
	transfer protocol.TransferID
	self     attemptKey
}

// Self implements stream.Caller.
func (c *caller) Self() protocol.TransferPeer { return protocol.TransferPeer{Pin: string(c.self.pin)} }

// Dial implements stream.Caller. It tries all addresses at once, for two seconds.
func (c *caller) Dial(ctx context.Context, peer protocol.TransferPeer) (net.Conn, error) {
	pin, err := identity.ParsePin(peer.Pin)
	if err != nil {
		return nil, errPin
	}
	token, err := parseSecret(peer.Token)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	var wg crash.Group
	networks := c.c.networks()
	connected := make(chan net.Conn, maxAddresses)
	defer func() {
		cancel()
		wg.Wait()
		close(connected)
		for conn := range connected { // a destination accepts only one connection
			conn.Close()
		}
	}()
	failed := make(chan error, maxAddresses)
	attempts := 0
	for _, text := range peer.Addresses[:min(len(peer.Addresses), maxAddresses)] {
		at, err := netip.ParseAddrPort(text)
		if err != nil || at.Port() < leastPort || !inside(networks, at.Addr()) {
			continue
		}
		attempts++
		wg.Go(func() {
			var conn net.Conn
			err := crash.Call("direct connection", func() (err error) {
				conn, err = c.reach(ctx, at.String(), pin, token)
				return err
			})
			if err != nil {
				failed <- err
				return
			}
			connected <- conn
		})
	}
	err = errors.New("the two machines share no network")
	for ; attempts > 0; attempts-- {
		select {
		case conn := <-connected:
			return conn, nil
		case err = <-failed:
		}
	}
	return nil, err
}

// reach connects to one address and verifies that the destination answers.
func (c *caller) reach(ctx context.Context, address string, pin identity.Pin, token secret) (net.Conn, error) {
	dial := c.c.DialContext
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	raw, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to the destination: %w", err)
	}
	hangUp := crash.WhenDone(ctx, func() { raw.Close() })
	conn := tls.Client(raw, c.self.config(pin))
	err = c.prove(ctx, conn, token)
	if !hangUp() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		raw.Close()
		return nil, fmt.Errorf("connect to the destination: %w", err)
	}
	return conn, nil
}

func (c *caller) prove(ctx context.Context, conn *tls.Conn, token secret) error {
	if err := conn.HandshakeContext(ctx); err != nil {
		return err
	}
	state := conn.ConnectionState()
	own, err := token.proof(bySource, c.transfer, state)
	if err != nil {
		return err
	}
	want, err := token.proof(byDestination, c.transfer, state)
	if err != nil {
		return err
	}
	if _, err := conn.Write(own); err != nil {
		return err
	}
	got := make([]byte, tokenSize)
	if _, err := io.ReadFull(conn, got); err != nil {
		return err
	}
	if !hmac.Equal(got, want) {
		return errProof
	}
	return nil
}
