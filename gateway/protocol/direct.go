package protocol

// ExtDirect is what a node names in ConnectParams.Extensions whose owner lets it send and receive over connections from machine to machine, beside the
// gateway (extension). Only when both ends of a transfer name it are they told of each other's addresses.
const ExtDirect = "direct"

// ExtLane is what a node names that can move a transfer's bytes over a connection of their own (extension): one that the gateway joins of a second
// connection of each end to it, or one from machine to machine, which takes [ExtDirect] too.
const ExtLane = "transfer.lane"

// EventTransferMeet tells the source how to reach the destination (extension, G -> N).
const EventTransferMeet = "transfer.meet"

// TransferMeet is its payload.
type TransferMeet struct {
	TransferID uint32       `json:"transferId"`
	Peer       TransferPeer `json:"peer"`
}

// Ways of a transfer's bytes, in [Transfer.Route].
const (
	RouteRelay  = "relay"  // through the gateway
	RouteDirect = "direct" // from machine to machine
)

// TransferPeer is what one end of a transfer must know of the other one to connect to it (extension). It is made for one attempt, goes over the
// ends' own connections to the gateway, and is worth nothing once the two have met.
type TransferPeer struct {
	// Pin is the base64 SHA-256 of the public key in the certificate that the end shows. In transfer.send it is empty: the source is asked for its own.
	Pin string `json:"pin,omitempty"`
	// Token is the destination's, 32 bytes in base64: whoever connects proves to have it, and it is taken once.
	Token string `json:"token,omitempty"`
	// Near says that the owners of both ends let them connect from machine to machine: the destination listens, and the source waits for it.
	Near bool `json:"near,omitempty"`
	// Addresses are where the destination listens, each an IP address and a port.
	Addresses []string `json:"addresses,omitempty"`
	// Ticket is what the end that is told shows at the gateway's own port, which joins it to the other end's (package junction).
	Ticket string `json:"ticket,omitempty"`
}
