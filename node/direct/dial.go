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
	"sync"
	"time"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/junction"
	"fairlead/gateway/protocol"
)

const (
	// dialLimit bounds the time for trying all addresses together.
	dialLimit = 2 * time.Second
	// joinLimit bounds the time until the gateway has joined this connection to the destination's.
	joinLimit = 10 * time.Second
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

// Dial implements stream.Caller: it connects from machine to machine if the destination offers that
// and it succeeds, otherwise through the gateway, which joins both connections.
func (c *caller) Dial(ctx context.Context, peer protocol.TransferPeer) (conn net.Conn, route string, err error) {
	pin, err := identity.ParsePin(peer.Pin)
	if err != nil {
		return nil, "", errPin
	}
	token, err := parseSecret(peer.Token)
	if err != nil {
		return nil, "", err
	}
	if err = errNoRoute; len(peer.Addresses) > 0 && !c.c.Alone {
		if conn, err = c.dialDirect(ctx, peer.Addresses, pin, token); err == nil {
			return conn, protocol.RouteDirect, nil
		}
	}
	if peer.Ticket == "" || c.c.Beside == nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	raw, err := c.c.Beside(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("open another connection to the gateway: %w", err)
	}
	if err := junction.Enter(ctx, raw, peer.Ticket); err != nil {
		return nil, "", err
	}
	conn, err = c.secure(ctx, raw, pin, token)
	return conn, protocol.RouteRelay, err
}

// dialDirect tries all addresses at once, for two seconds.
func (c *caller) dialDirect(ctx context.Context, addresses []string, pin identity.Pin, token secret) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	var wg sync.WaitGroup
	networks := c.c.networks()
	won := make(chan net.Conn, maxAddresses)
	defer func() {
		cancel()
		wg.Wait()
		close(won)
		for conn := range won { // a destination accepts only one connection
			conn.Close()
		}
	}()
	lost := make(chan error, maxAddresses)
	tried := 0
	for _, text := range addresses[:min(len(addresses), maxAddresses)] {
		at, err := netip.ParseAddrPort(text)
		if err != nil || at.Port() < leastPort || !inside(networks, at.Addr()) {
			continue
		}
		tried++
		wg.Go(func() {
			conn, err := c.reach(ctx, at.String(), pin, token)
			if err != nil {
				lost <- err
				return
			}
			won <- conn
		})
	}
	err := errors.New("the two machines share no network")
	for ; tried > 0; tried-- {
		select {
		case conn := <-won:
			return conn, nil
		case err = <-lost:
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
	return c.secure(ctx, raw, pin, token)
}

// secure performs the TLS handshake and verifies that the destination is at the other end;
// otherwise it closes the connection.
func (c *caller) secure(ctx context.Context, raw net.Conn, pin identity.Pin, token secret) (net.Conn, error) {
	hangUp := context.AfterFunc(ctx, func() { raw.Close() })
	conn := secure(raw, tls.Client, c.self.config(pin))
	err := c.prove(ctx, conn.Conn, token)
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
