package network

import (
	"context"
	"net"
	"strings"

	"fairlead/gateway/protocol"
)

// Uses knows when things were last used.
type Uses interface {
	Last(id string) int64
}

// IDs of the listeners as exposures.
const (
	OwnID     = protocol.ExposureListener + ":local"
	NetworkID = protocol.ExposureListener + ":network"
)

// Exposures states who reaches the listener for other machines, while it listens.
func (n *Listener) Exposures(context.Context) ([]protocol.Exposure, error) {
	s := n.Status()
	if !s.Listening {
		return nil, nil
	}
	n.mu.Lock()
	isLoopback := n.at.IP.IsLoopback()
	n.mu.Unlock()
	e := protocol.Exposure{
		ID: NetworkID, Kind: protocol.ExposureListener, Title: strings.Join(s.Addresses, ", "), LastUsedAt: n.o.Uses.Last(NetworkID),
		Reach: "Paired machines and clients reach the gateway, encrypted. Others can only ask to be paired.",
		Close: &protocol.ExposureClose{
			Button: "Turn off", Ends: "Paired machines and clients on other computers lose their connection.",
			Call: protocol.NewCall(protocol.ConfigSet, protocol.ConfigSetParams{Path: "network.enabled", Value: []byte("false")}),
		},
	}
	if !isLoopback {
		e.Warnings = []string{protocol.WarnNetwork}
	}
	return []protocol.Exposure{e}, nil
}

// Own is the gateway's own listener, which is open as long as the gateway runs.
type Own struct {
	Addr *net.TCPAddr // nil without one
	Uses Uses
}

// Exposures states who reaches the listener.
func (o Own) Exposures(context.Context) ([]protocol.Exposure, error) {
	if o.Addr == nil {
		return nil, nil
	}
	e := protocol.Exposure{
		ID: OwnID, Kind: protocol.ExposureListener, Title: o.Addr.String(), LastUsedAt: o.Uses.Last(OwnID),
		Reach: "Programs on this computer reach the gateway, each with a token.",
	}
	if !o.Addr.IP.IsLoopback() {
		e.Reach = "Programs on other computers reach the gateway with a token, unencrypted. Start Fairlead without --listen to close it."
		e.Warnings = []string{protocol.WarnNetwork}
	}
	return []protocol.Exposure{e}, nil
}
