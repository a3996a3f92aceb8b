package rpc

import (
	"context"
	"fmt"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/nodes"
	"fairlead/gateway/pairing"
	"fairlead/gateway/protocol"
)

type deviceMethods struct {
	devices *pairing.Manager
	nodes   *nodes.Hub
}

func (m deviceMethods) register(all methods) {
	handle(all, protocol.NodesList, query(func(context.Context) (protocol.NodesListResult, error) {
		return protocol.NodesListResult{Nodes: list(m.nodes.Nodes())}, nil
	}))
	handle(all, protocol.NodeForget, plain(m.nodes.Forget))
	handle(all, protocol.NodesUpdate, plain(m.nodes.Update))
	handle(all, protocol.DeviceList, query(m.devices.List))
	handle(all, protocol.DeviceInviteTo, withCaller(m.devices.Invite).check(m.checkInvite))
	handle(all, protocol.DeviceUninvite, withAck(func(ctx context.Context, _ string, p protocol.InviteParams) error {
		return m.devices.Uninvite(ctx, p.ID)
	}))
	handle(all, protocol.DeviceApprove, withCaller(m.devices.Approve).check(m.checkRequest))
	handle(all, protocol.DeviceDeny, withAck(func(ctx context.Context, by string, p protocol.DeviceRequestParams) error {
		return m.devices.Deny(ctx, by, p.ID)
	}))
	handle(all, protocol.DeviceUpdate, withCaller(m.devices.Update).check(m.checkUpdate))
	handle(all, protocol.DeviceRotate, withCaller(func(ctx context.Context, by string, p protocol.DeviceParams) (protocol.Device, error) {
		return m.devices.Rotate(ctx, by, p.ID)
	}))
	handle(all, protocol.DeviceRevoke, withCaller(func(ctx context.Context, by string, p protocol.DeviceParams) (protocol.Device, error) {
		return m.devices.Revoke(ctx, by, p.ID)
	}))
	handle(all, protocol.DeviceForget, withAck(func(ctx context.Context, by string, p protocol.DeviceParams) error {
		return m.devices.Forget(ctx, by, p.ID)
	}))
	handle(all, protocol.DeviceLeave, m.leave)
}

func (m deviceMethods) checkInvite(ctx context.Context, r *request, p protocol.DeviceInviteParams) error {
	if p.Role != protocol.RoleClient {
		return nil
	}
	if err := checkGrantedScopes(r.conn.principal(), p.Scopes); err != nil {
		return err
	}
	return m.checkExpiry(ctx, r.conn.principal(), "", pairing.LastsUntil(p.PairedFor))
}

func (m deviceMethods) checkUpdate(ctx context.Context, r *request, p protocol.DeviceUpdateParams) error {
	if p.Scopes != nil && len(*p.Scopes) > 0 {
		if err := checkGrantedScopes(r.conn.principal(), *p.Scopes); err != nil {
			return err
		}
	}
	if p.ExpiresAt == nil {
		return nil
	}
	return m.checkExpiry(ctx, r.conn.principal(), p.ID, *p.ExpiresAt)
}

func (m deviceMethods) leave(ctx context.Context, r *request, _ protocol.Empty) (protocol.OK, error) {
	who := r.conn.principal()
	if err := m.devices.Leave(ctx, who); err != nil {
		return protocol.OK{}, err
	}
	r.afterResponse(func() { m.devices.CloseDevice(who.Device) })
	return protocol.OK{OK: true}, nil
}

// checkGrantedScopes refuses a device that would grant scopes that it does not have itself. No
// scopes means all scopes.
func checkGrantedScopes(who auth.Principal, scopes []protocol.Scope) error {
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

// checkExpiry refuses a device that would give a client, a new one or the one with the given ID, a
// later expiry than its own; 0 means no expiry. Otherwise it could stay for good, by itself or
// through a client that it adds. Nodes have no rights of a person, so they are not limited.
func (m deviceMethods) checkExpiry(ctx context.Context, who auth.Principal, id protocol.DeviceID, until int64) error {
	if who.Device == "" {
		return nil
	}
	all, err := m.devices.List(ctx)
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

// checkRequest applies checkGrantedScopes and checkExpiry to a pending pairing request. A request
// that does not exist is refused later.
func (m deviceMethods) checkRequest(ctx context.Context, r *request, p protocol.DeviceRequestParams) error {
	who := r.conn.principal()
	if who.Device == "" {
		return nil
	}
	all, err := m.devices.List(ctx)
	if err != nil {
		return err
	}
	for _, q := range all.Requests {
		if q.ID == p.ID && q.Device.Role == protocol.RoleClient {
			if err := checkGrantedScopes(who, q.Device.Scopes); err != nil {
				return err
			}
			return m.checkExpiry(ctx, who, "", q.Device.ExpiresAt)
		}
	}
	return nil
}
