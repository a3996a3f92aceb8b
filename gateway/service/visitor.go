package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sync/atomic"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service/console"
	"fairlead/gateway/store"
)

// visitor is one visitor's use of one service.
type visitor struct {
	service protocol.Service
	visit   store.Visit // zero without a sign-in
	from    string
	began   time.Time
	ctx     context.Context // ends with the right to visit
	cut     context.CancelFunc

	sent, received atomic.Int64 // bytes to and from the visitor

	// Guarded by the lock of presence.
	requests int64
	streams  int // requests that have not ended
	lastUsed time.Time
	isLogged bool // its beginning is in the audit log
}

func (v *visitor) line(at time.Time, what string) protocol.AuditEntry {
	by := "everyone"
	switch {
	case v.visit.IsOwner:
		by = "owner"
	case v.visit.Email != "":
		by = "visitor " + v.visit.Email
	}
	return protocol.AuditEntry{
		At: at.UnixMilli(), Kind: protocol.AuditService, By: by, Node: v.service.NodeID, Verdict: "allowed",
		What: fmt.Sprintf("%s %s, from %s", what, v.service.Title, v.from),
	}
}

// endLine is the line of the audit log about the end of a visit.
func (v *visitor) endLine(now time.Time) protocol.AuditEntry {
	end := v.lastUsed
	if v.streams > 0 { // it was cut
		end = now
	}
	e := v.line(now, "ended the visit to")
	e.What += fmt.Sprintf(", after %s: %s, %s to the visitor, %s from the visitor", format.Duration(end.Sub(v.began)),
		format.Plural(int(v.requests), "request"), format.Size(v.sent.Load()), format.Size(v.received.Load()))
	return e
}

// viewer names the visitor for others who see the same terminal.
func (v *visitor) viewer() console.Viewer {
	if v.visit.IsOwner {
		return console.Viewer{Name: "The owner", IsOwner: true}
	}
	return console.Viewer{Name: v.visit.Email}
}

// info describes the visit.
func (v *visitor) info() protocol.ServiceVisitor {
	return protocol.ServiceVisitor{
		From: v.from, Since: v.began.UnixMilli(), LastUsedAt: v.lastUsed.UnixMilli(), Requests: v.requests, Streams: v.streams,
		Sent: v.sent.Load(), Received: v.received.Load(),
	}
}

// sourceOf returns what addresses of one visitor have in common: all of IPv4, the network of IPv6,
// in which a visitor can choose any number of addresses.
func sourceOf(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if a = a.Unmap(); a.Is4() {
		return a.String()
	}
	network, _ := a.WithZone("").Prefix(64) // never fails for IPv6
	return network.String()
}

// counted counts the bytes of a body, or of a connection that took its place (RFC 9110, 7.8).
type counted struct {
	io.ReadCloser
	read, written *atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// countedConn is a connection that took the place of a body.
type countedConn struct {
	counted
	conn io.ReadWriteCloser
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// CloseWrite ends one direction, if the connection can.
func (c *countedConn) CloseWrite() error {
	if half, ok := c.conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// countBody counts what the visitor gets.
func (v *visitor) countBody(body io.ReadCloser) io.ReadCloser {
	c := counted{body, &v.sent, &v.received}
	if conn, ok := body.(io.ReadWriteCloser); ok {
		return &countedConn{c, conn}
	}
	return &c
}
