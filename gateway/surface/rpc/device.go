package rpc

import (
	"context"

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
	w := m.nodes.Networks
	handle(all, protocol.NetworksList, query(func(context.Context) (protocol.NetworksListResult, error) {
		return protocol.NetworksListResult{Networks: w.List()}, nil
	}))
	handle(all, protocol.NetworkCreate, withCaller(w.Create))
	handle(all, protocol.NetworkRename, withCaller(w.Rename))
	handle(all, protocol.NetworkDelete, withCaller(w.Delete))
	handle(all, protocol.NetworkMove, withCaller(w.Move))
	handle(all, protocol.DeviceList, query(m.devices.List))
	handle(all, protocol.DeviceInviteTo, withCaller(m.devices.Invite).check(m.checkInvite))
	handle(all, protocol.DeviceUninvite, withAck(func(ctx context.Context, _ string, p protocol.InviteParams) error {
		return m.devices.Uninvite(ctx, p.ID)
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
	if err := pairing.MayGive(r.conn.peer().principal, p.Scopes); err != nil {
		return err
	}
	return m.checkExpiry(ctx, r, "", pairing.LastsUntil(p.PairedFor))
}

func (m deviceMethods) checkUpdate(ctx context.Context, r *request, p protocol.DeviceUpdateParams) error {
	if p.Scopes != nil && len(*p.Scopes) > 0 {
		if err := pairing.MayGive(r.conn.peer().principal, *p.Scopes); err != nil {
			return err
		}
	}
	if p.ExpiresAt == nil {
		return nil
	}
	return m.checkExpiry(ctx, r, p.ID, *p.ExpiresAt)
}

func (m deviceMethods) leave(ctx context.Context, r *request, _ protocol.Empty) (protocol.OK, error) {
	who := r.conn.peer().principal
	if err := m.devices.Leave(ctx, who); err != nil {
		return protocol.OK{}, err
	}
	r.afterResponse(func() { m.devices.CloseDevice(who.Device) })
	return protocol.OK{OK: true}, nil
}

func (m deviceMethods) checkExpiry(ctx context.Context, r *request, id protocol.DeviceID, until int64) error {
	all, err := m.devices.List(ctx)
	if err != nil {
		return err
	}
	return pairing.MayLast(all.Devices, r.conn.peer().principal, id, until)
}
