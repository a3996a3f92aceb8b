package gateway

import (
	"context"

	"fairlead/gateway/protocol"
	"fairlead/gateway/service/console"
)

// noTerminals has no terminals of machines.
type noTerminals struct{}

func (noTerminals) View(context.Context, protocol.Service, console.Viewer, *console.Conn) error {
	return protocol.NewFault(protocol.FaultUnsupported, "this gateway cannot show terminals yet")
}

func (noTerminals) End(protocol.Service) {}
