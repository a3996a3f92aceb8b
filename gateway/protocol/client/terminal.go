package client

import (
	"context"

	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

// OpenTerminal opens the connection of a viewer of a terminal, with the address and the credentials
// of a client (docs/protocol.md#terminals). p needs neither Client nor Auth. The caller closes the
// connection, and reads it until then.
func OpenTerminal(ctx context.Context, o Options, p protocol.TerminalConnectParams) (*wire.Frames, protocol.Terminal, error) {
	ws, t, err := openFirst(ctx, o, protocol.TerminalPath, protocol.TerminalConnect, func(c protocol.ClientInfo, a *protocol.Auth) protocol.TerminalConnectParams {
		p.Client, p.Auth = c, a
		return p
	})
	if err != nil {
		return nil, t, err
	}
	return wire.NewFrames(ws, protocol.MaxTerminalFrame), t, nil
}
