package protocol

// ExtDirect is what a node names in ConnectParams.Extensions whose owner lets it send and receive over connections of its own, beside the gateway
// (extension). Only when both ends of a transfer name it are they told of each other.
const ExtDirect = "direct"

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
	// Addresses are where the destination listens, each an IP address and a port.
	Addresses []string `json:"addresses,omitempty"`
}
