package rpc

import (
	"context"
	"encoding/json"
	"slices"

	"fairlead/gateway/auth"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

// connect handles the handshake (docs/protocol.md#connect), with the original system's order of
// checks. Two things differ from the original: a 401 response reaches the peer before the socket
// closes, and a second connect on the same socket is refused.
func (c *Conn) connect(ctx context.Context, raw json.RawMessage) (any, error) {
	if c.connected() {
		return nil, protocol.ErrConflict.With("this connection has shaken hands already")
	}
	var p protocol.ConnectParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, protocol.ErrInvalidConnect.With("Invalid connect: " + protocol.Problem(err))
	}
	if p.MinProtocol != protocol.Version {
		return nil, protocol.ErrVersion
	}
	var principal auth.Principal
	switch {
	case c.trusted != nil:
		principal = *c.trusted
	case c.binding != nil: // from the network: only paired devices
		var err error
		if principal, err = c.srv.s.Devices.Authenticate(ctx, p.Auth, string(p.Client.Mode), c.binding); err == nil {
			err = asPaired(principal, p.Client)
		}
		if err != nil {
			c.refuse(ctx, err)
			return nil, err
		}
	default:
		token := ""
		if p.Auth != nil {
			token = p.Auth.Token
		}
		if err := c.srv.s.Verify(ctx, token); err != nil {
			c.refuse(ctx, protocol.ErrUnauthorized)
			return nil, protocol.ErrUnauthorized
		}
		principal = auth.Owner(p.Client.ID)
	}
	p.Auth = nil // verified; the token is not retained
	switch p.Client.Mode {
	case protocol.ModeClient:
		if p.Client.ID == "" {
			return nil, protocol.ErrInvalidConnect.With("Client id required")
		}
		if err := checkID("Client id", p.Client.ID); err != nil {
			return nil, protocol.ErrInvalidConnect.With(err.Error())
		}
	case protocol.ModeNode:
		entry, listens := c.entry(principal, p), make(chan struct{})
		entry.Listens = listens
		afterResponse(ctx, func() { nodes.Listening(p, listens) })
		detach, err := c.srv.s.Nodes.Attach(context.WithoutCancel(ctx), p, entry, c)
		p.Programs, p.Environment, p.Calls = nil, nil, nil // the node registry retains them
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		c.detach = detach
		c.mu.Unlock()
		if principal.Device == "" {
			principal = auth.Node(protocol.NodeID(p.Client.ID))
		}
		afterResponse(ctx, func() { wire.Ping(c.ws) }) // measures the latency at once
	case protocol.ModeChannel:
		if p.Client.Channel == "" {
			return nil, protocol.ErrInvalidConnect.With("Channel mode requires channel field")
		}
		if err := c.attachChannel(ctx, &p); err != nil {
			return nil, err
		}
		principal = auth.Channel(p.Client.Channel, p.Client.AccountID)
	default:
		return nil, protocol.ErrInvalidConnect.With("Invalid client mode")
	}
	if principal.Device != "" {
		if err := c.join(ctx, principal); err != nil {
			c.refuse(ctx, err)
			return nil, err
		}
	}
	c.ws.SetReadLimit(protocol.MaxReadFrame)
	c.mu.Lock()
	c.params, c.principal = &p, principal
	c.mu.Unlock()
	if p.Client.Mode == protocol.ModeClient {
		c.srv.replaceClient(c)
		afterResponse(ctx, func() { c.pushChat(slices.Contains(p.Extensions, protocol.ExtDeltas)) })
	}
	hello := protocol.ConnectResult{
		Type: protocol.HelloOK, Protocol: protocol.Version,
		Server:   protocol.ServerInfo{Version: c.srv.s.Version, ConnectionID: c.id},
		Features: protocol.Features{Events: protocol.Events, Extensions: protocol.Extensions},
	}
	for _, m := range protocol.Methods {
		hello.Features.Methods = append(hello.Features.Methods, m.Name)
	}
	return hello, nil
}

// refuse logs a refused login and closes the connection after the response.
func (c *Conn) refuse(ctx context.Context, why error) {
	c.srv.refused.add(c.remote, why)
	afterResponse(ctx, func() { c.Close(protocol.CloseUnauthorized, "Unauthorized") })
}
