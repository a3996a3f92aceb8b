package protocol

// ExtDirect: the node's owner allows connections from machine to machine for transfers, without the
// gateway between them (extension). The gateway gives each end the other's address only when both
// name it.
const ExtDirect = "direct"

// ExtOwnConnection: the node can move the bytes of a transfer over a connection of their own
// (extension).
// The gateway joins a second connection of each end, or, with [ExtDirect] at both ends, the source
// connects to the destination.
const ExtOwnConnection = "transfer.connection"

// EventTransferMeet tells the source how to reach the destination (extension, to nodes).
const EventTransferMeet = "transfer.meet"

// TransferMeet is the payload of the transfer.meet event.
type TransferMeet struct {
	TransferID uint32       `json:"transferId"`
	Peer       TransferPeer `json:"peer"`
}

// Routes of a transfer's bytes, in [Transfer.Route].
const (
	RouteRelay  = "relay"  // through the gateway
	RouteDirect = "direct" // from machine to machine
)

// TransferPeer tells one end of a transfer how to connect to the other end (extension). It is made
// for one attempt, travels over the ends' own connections to the gateway, and is worthless after
// the two have connected.
type TransferPeer struct {
	// Pin is the base64 SHA-256 of the public key in the other end's certificate. In transfer.send
	// it is empty: the source returns its own.
	Pin string `json:"pin,omitempty"`
	// Token belongs to the destination: 32 bytes in base64. The source must prove that it has it.
	// It is accepted once.
	Token string `json:"token,omitempty"`
	// Near reports that the owners of both ends allow connections from machine to machine: the
	// destination listens, and the source waits for the address.
	Near bool `json:"near,omitempty"`
	// Addresses are the addresses on which the destination listens: IP address and port.
	Addresses []string `json:"addresses,omitempty"`
	// Ticket is what this end shows at the gateway's port, so that the gateway joins it to the
	// other end (package junction).
	Ticket string `json:"ticket,omitempty"`
}
