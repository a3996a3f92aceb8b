// Package direct connects two machines for one transfer, without the gateway between them. It is an
// extension between Fairlead's own peers:
// docs/protocol.md#transfers-between-fairleads-own-peers. Package stream defines the data that moves
// over the connection; it is the same as in messages through the gateway.
//
// The gateway stays in charge: only the gateway starts a transfer, tells each machine about the
// other, receives the progress, and stops both. A machine that loses its gateway stops as well.
//
// The risk is a port that opens on somebody's machine. Therefore:
//
//   - A machine opens no port and connects to no other machine unless its owner allows it ([LAN]).
//     By default it makes only outgoing connections to its gateway. A machine that runs in the
//     gateway's own process does not take part, because its data needs no other route.
//   - The destination listens only for a transfer that it has accepted, on the addresses of its own
//     private networks and never on all addresses, and on ports that the system chooses. It listens
//     until the source has connected, at most 30 seconds. Connections from other networks are
//     closed.
//   - The source connects only to private networks that it is on itself, and never to a port below
//     1024: a gateway cannot use it to probe other networks.
//   - Both machines use TLS 1.3 without resumption. Each shows a certificate whose key is made for
//     this one attempt and identified by its SHA-256, which the other learns over its own
//     authenticated connection to the gateway. The long-lived device keys are not used: nothing
//     that is learned here is valid elsewhere, and machines that share a token without being paired
//     can take part too.
//   - Within TLS the source proves that it has the token of this transfer, and the destination
//     answers in kind. The proof is an HMAC over the transfer's ID and keying material that only
//     the two ends of this TLS session know (RFC 9266). The token itself never crosses a direct
//     connection, and a recorded or relayed proof is useless in another session. Only one proof is
//     accepted.
//
// A gateway could lie about the pins and sit between the two machines. It already sees every byte
// of a transfer that goes through it in messages, so this gives it nothing new. An honest gateway
// cannot read a connection of the machines' own.
package direct

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// Modes of direct connections, set by the machine's owner.
const (
	Off = "off" // no direct connections
	LAN = "lan" // with machines on the same private network
)

// Usage is the help text of the flag that sets the mode.
const Usage = "whether files may be sent directly between this machine and others on its network, not through the gateway: off, or lan, " +
	"which opens a port on private networks while a file is received"

// Parse parses a mode. It returns nil for Off and for an empty text.
func Parse(mode string) (*Connector, error) {
	switch mode {
	case "", Off:
		return nil, nil
	case LAN:
		return &Connector{}, nil
	}
	return nil, fmt.Errorf("%q is not a direct mode: use off or lan", mode)
}

// Connector implements stream.Direct. The zero value connects machines on the same private network.
// It is safe for use by many goroutines.
type Connector struct {
	// Networks returns this machine's addresses with their networks; nil means those of its
	// interfaces.
	Networks func() []netip.Prefix
	// DialContext connects; nil means TCP.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

func (c *Connector) networks() []netip.Prefix {
	if c.Networks != nil {
		return c.Networks()
	}
	return private()
}

// Source implements stream.Direct.
func (c *Connector) Source(id protocol.TransferID) (stream.Caller, error) {
	self, err := newAttemptKey()
	if err != nil {
		return nil, err
	}
	return &caller{c: c, transfer: id, self: self}, nil
}

// Destination implements stream.Direct.
func (c *Connector) Destination(id protocol.TransferID, source protocol.TransferPeer) (stream.Listener, error) {
	l, err := c.listen(id, source)
	if err != nil {
		return nil, err
	}
	return l, nil
}

var _ stream.Direct = (*Connector)(nil)

// maxAddresses is the maximum number of addresses that a destination names and a source tries.
const maxAddresses = 8

// private returns this machine's addresses on private networks, with their networks. Loopback
// addresses are included only if there are no others.
func private() []netip.Prefix {
	addresses, _ := net.InterfaceAddrs() // without them, there is no direct connection
	var list, loop []netip.Prefix
	for _, a := range addresses {
		p, err := netip.ParsePrefix(a.String())
		switch {
		case err != nil:
		case p.Addr().IsLoopback():
			loop = append(loop, p)
		case p.Addr().IsPrivate():
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		list = loop
	}
	return list[:min(len(list), maxAddresses)]
}

// inside reports whether an address is on one of the networks.
func inside(networks []netip.Prefix, a netip.Addr) bool {
	a = a.Unmap()
	return (a.IsPrivate() || a.IsLoopback()) && slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Masked().Contains(a) })
}
