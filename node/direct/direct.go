package direct

import (
	"context"
	"fmt"
	"net"
	"net/netip"

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
	// Beside makes a further connection to the gateway, which joins it to that of the other
	// machine. If it is nil, this route is not used.
	Beside func(ctx context.Context) (net.Conn, error)
	// Alone forbids connections from machine to machine.
	Alone bool
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
	return c.listen(id, source)
}

var _ stream.Direct = (*Connector)(nil)
