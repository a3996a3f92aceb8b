package direct

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// What a machine's owner says about direct connections.
const (
	Off = "off" // there are none
	LAN = "lan" // with machines on the same private network
)

// Usage is for the flag that says it.
const Usage = "whether files may go straight between this machine and another on its network, not through the gateway: off, or lan, " +
	"which opens a port on private networks while such a file is taken"

// Parse reads what people write: nil is Off, which is also what an empty text means.
func Parse(mode string) (*Connector, error) {
	switch mode {
	case "", Off:
		return nil, nil
	case LAN:
		return &Connector{}, nil
	}
	return nil, fmt.Errorf("%q is no way to connect to other machines: off or lan", mode)
}

// Connector is stream.Direct. The zero value connects machines on the same private network; it is safe for use by many goroutines.
type Connector struct {
	// Beside makes another connection to the gateway, which joins it to the other end's; nil: there are none of these.
	Beside func(ctx context.Context) (net.Conn, error)
	// Alone says that the owner wants no connections from machine to machine.
	Alone bool
	// Networks are this machine's addresses and their networks; nil means those of its interfaces.
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

// Source is stream.Direct.
func (c *Connector) Source(id protocol.TransferID) (stream.Caller, error) {
	self, err := newIdentity()
	if err != nil {
		return nil, err
	}
	return &caller{c: c, transfer: id, self: self}, nil
}

// Destination is stream.Direct.
func (c *Connector) Destination(id protocol.TransferID, source protocol.TransferPeer) (stream.Listener, error) {
	return c.listen(id, source)
}

var _ stream.Direct = (*Connector)(nil)
