package rpc

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/nodes"
	"fairlead/gateway/pairing"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
)

// Devices manages the paired machines and clients.
type Devices interface {
	List(ctx context.Context) (protocol.DeviceListResult, error)
	Invite(ctx context.Context, by string, p protocol.DeviceInviteParams) (protocol.DeviceInvite, error)
	Uninvite(ctx context.Context, id string) error
	Approve(ctx context.Context, by string, p protocol.DeviceRequestParams) (protocol.Device, error)
	Deny(ctx context.Context, by, id string) error
	Update(ctx context.Context, by string, p protocol.DeviceUpdateParams) (protocol.Device, error)
	Rotate(ctx context.Context, by string, id protocol.DeviceID) (protocol.Device, error)
	Revoke(ctx context.Context, by string, id protocol.DeviceID) (protocol.Device, error)
	Forget(ctx context.Context, by string, id protocol.DeviceID) error
	Leave(ctx context.Context, p auth.Principal) error
	CloseDevice(id protocol.DeviceID)

	Authenticate(ctx context.Context, a *protocol.Auth, role string, binding []byte) (auth.Principal, error)
	Connected(ctx context.Context, id protocol.DeviceID, address string) (left func(), err error)
	Admit(p auth.Principal, params protocol.ConnectParams) nodes.Entry
	Pair(ctx, gone context.Context, w pake.Transport, address string) error
}

func (s *Server) devices(all map[string]handler) {
	handle(all, protocol.NodeForget, plain(s.s.Nodes.Forget))
	handle(all, protocol.NodesUpdate, plain(s.s.Nodes.Update))
	handle(all, protocol.DeviceList, func(ctx context.Context, _ *Conn, _ protocol.Empty) (protocol.DeviceListResult, error) {
		return s.s.Devices.List(ctx)
	})
	handle(all, protocol.DeviceInviteTo, func(ctx context.Context, c *Conn, p protocol.DeviceInviteParams) (protocol.DeviceInvite, error) {
		if p.Role == protocol.RoleClient {
			if err := mayGive(c.who(), p.Scopes); err != nil {
				return protocol.DeviceInvite{}, err
			}
			if err := s.mayLast(ctx, c.who(), "", pairing.LastsUntil(p.PairedFor)); err != nil {
				return protocol.DeviceInvite{}, err
			}
		}
		return s.s.Devices.Invite(ctx, c.who().String(), p)
	})
	handle(all, protocol.DeviceUninvite, func(ctx context.Context, _ *Conn, p protocol.InviteParams) (protocol.OK, error) {
		err := s.s.Devices.Uninvite(ctx, p.ID)
		return protocol.OK{OK: err == nil}, err
	})
	handle(all, protocol.DeviceApprove, func(ctx context.Context, c *Conn, p protocol.DeviceRequestParams) (protocol.Device, error) {
		if err := s.mayApprove(ctx, c.who(), p.ID); err != nil {
			return protocol.Device{}, err
		}
		return s.s.Devices.Approve(ctx, c.who().String(), p)
	})
	handle(all, protocol.DeviceDeny, func(ctx context.Context, c *Conn, p protocol.DeviceRequestParams) (protocol.OK, error) {
		err := s.s.Devices.Deny(ctx, c.who().String(), p.ID)
		return protocol.OK{OK: err == nil}, err
	})
	handle(all, protocol.DeviceUpdate, func(ctx context.Context, c *Conn, p protocol.DeviceUpdateParams) (protocol.Device, error) {
		if p.Scopes != nil && len(*p.Scopes) > 0 {
			if err := mayGive(c.who(), *p.Scopes); err != nil {
				return protocol.Device{}, err
			}
		}
		if p.ExpiresAt != nil {
			if err := s.mayLast(ctx, c.who(), p.ID, *p.ExpiresAt); err != nil {
				return protocol.Device{}, err
			}
		}
		return s.s.Devices.Update(ctx, c.who().String(), p)
	})
	handle(all, protocol.DeviceRotate, func(ctx context.Context, c *Conn, p protocol.DeviceParams) (protocol.Device, error) {
		return s.s.Devices.Rotate(ctx, c.who().String(), p.ID)
	})
	handle(all, protocol.DeviceRevoke, func(ctx context.Context, c *Conn, p protocol.DeviceParams) (protocol.Device, error) {
		return s.s.Devices.Revoke(ctx, c.who().String(), p.ID)
	})
	handle(all, protocol.DeviceForget, func(ctx context.Context, c *Conn, p protocol.DeviceParams) (protocol.OK, error) {
		err := s.s.Devices.Forget(ctx, c.who().String(), p.ID)
		return protocol.OK{OK: err == nil}, err
	})
	handle(all, protocol.DeviceLeave, func(ctx context.Context, c *Conn, _ protocol.Empty) (protocol.OK, error) {
		who := c.who()
		if err := s.s.Devices.Leave(ctx, who); err != nil {
			return protocol.OK{}, err
		}
		afterResponse(ctx, func() { s.s.Devices.CloseDevice(who.Device) })
		return protocol.OK{OK: true}, nil
	})
}

// mayGive refuses a device that would grant scopes that it does not have itself. No scopes means
// all scopes.
func mayGive(who auth.Principal, scopes []protocol.Scope) error {
	if who.Device == "" {
		return nil
	}
	if len(scopes) == 0 {
		scopes = pairing.ClientScopes
	}
	for _, scope := range scopes {
		if !who.Has(scope) {
			return protocol.ErrForbidden.With(fmt.Sprintf("this device may not give the right to %s: it does not have it", scope))
		}
	}
	return nil
}

// mayLast refuses a device that would give a client, a new one or the one with the given ID, a
// later expiry than its own; 0 means no expiry. Otherwise it could stay for good, by itself or
// through a client that it adds. Nodes have no rights of a person, so they are not limited.
func (s *Server) mayLast(ctx context.Context, who auth.Principal, id protocol.DeviceID, until int64) error {
	if who.Device == "" {
		return nil
	}
	all, err := s.s.Devices.List(ctx)
	if err != nil {
		return err
	}
	for _, d := range all.Devices {
		switch {
		case d.ID == id && d.Role == protocol.RoleNode:
			return nil
		case d.ID == who.Device && d.ExpiresAt > 0 && (until == 0 || until > d.ExpiresAt):
			err = protocol.ErrForbidden.With(fmt.Sprintf("this device is paired until %s, and may let nobody in for longer, itself neither: the gateway's owner can",
				time.UnixMilli(d.ExpiresAt).UTC().Format("2006-01-02 15:04 UTC")))
		}
	}
	return err
}

// mayApprove applies mayGive and mayLast to a pending pairing request. A request that does not
// exist is refused later.
func (s *Server) mayApprove(ctx context.Context, who auth.Principal, id string) error {
	if who.Device == "" {
		return nil
	}
	all, err := s.s.Devices.List(ctx)
	if err != nil {
		return err
	}
	for _, r := range all.Requests {
		if r.ID == id && r.Device.Role == protocol.RoleClient {
			if err := mayGive(who, r.Device.Scopes); err != nil {
				return err
			}
			return s.mayLast(ctx, who, "", r.Device.ExpiresAt)
		}
	}
	return nil
}

// asPaired refuses a node that connects under another name than the one it was paired with.
func asPaired(p auth.Principal, c protocol.ClientInfo) error {
	if p.Role == protocol.RoleNode && c.ID != p.Name {
		return protocol.ErrForbidden.With(fmt.Sprintf("this machine was paired as %s", p.Name))
	}
	return nil
}

// entry returns how a node was admitted.
func (c *Conn) entry(who auth.Principal, p protocol.ConnectParams) nodes.Entry {
	if who.Device != "" {
		e := c.srv.s.Devices.Admit(who, p)
		e.Came = c.came
		return e
	}
	return nodes.Entry{Local: c.trusted != nil, Came: c.came}
}

// join registers a device's connection until it closes.
func (c *Conn) join(ctx context.Context, who auth.Principal) error {
	left, err := c.srv.s.Devices.Connected(context.WithoutCancel(ctx), who.Device, c.remote)
	if left == nil {
		return err
	}
	if err != nil {
		slog.Warn("A device's contact could not be written down", "err", err)
	}
	c.mu.Lock()
	before := c.detach
	c.detach = func() {
		if before != nil {
			before()
		}
		left()
	}
	c.mu.Unlock()
	return nil
}

// CloseDevice closes every connection of a device. It does not wait for them.
func (s *Server) CloseDevice(id protocol.DeviceID, code int, reason string) {
	s.mu.Lock()
	var list []*Conn
	for c := range s.conns {
		if c.connected() && c.who().Device == id {
			list = append(list, c)
		}
	}
	s.mu.Unlock()
	for _, c := range list {
		s.background(func(context.Context) { c.Close(code, reason) })
	}
}
