package native

import (
	"context"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// Networks are the networks of machines; *nodes.Networks implements it.
type Networks interface {
	Create(ctx context.Context, by string, p protocol.NetworkCreateParams) (protocol.Network, error)
	Delete(ctx context.Context, by string, p protocol.NetworkParams) (protocol.Network, error)
	Find(network string) (protocol.Network, error)
	CheckCreate(name string) error
	CheckDelete(id protocol.NetworkID) error
}

// Names of the tools for networks.
const (
	NetworkCreate = "NetworkCreate"
	NetworkDelete = "NetworkDelete"
)

// NetworkCreateIn are the arguments of gsv__NetworkCreate.
type NetworkCreateIn struct {
	Name string `json:"name" jsonschema:"up to 63 letters, digits and hyphens; no other network may have it"`
}

// NetworkDeleteIn are the arguments of gsv__NetworkDelete.
type NetworkDeleteIn struct {
	Network string `json:"network" jsonschema:"name or ID of the network"`
}

// networkTools are the tools that change the networks.
type networkTools struct{ networks Networks }

func (t networkTools) list() []tool.Own {
	change := toolkit.Traits{Effect: protocol.EffectWrite}
	list := own(protocol.ScopeAdmin,
		toolkit.WithPreview(toolkit.Define(NetworkCreate, "Create a network, which is a group of machines.", change, t.create), t.previewCreate),
		toolkit.WithPreview(toolkit.Define(NetworkDelete, "Delete a network without machines.", change, t.delete), t.previewDelete),
	)
	for i := range list {
		list[i].Apps = []protocol.Scope{protocol.ScopeNetworkWrite}
	}
	return list
}

func (t networkTools) create(ctx context.Context, c tool.Call, in NetworkCreateIn) (protocol.Network, error) {
	return t.networks.Create(ctx, c.Principal.String(), protocol.NetworkCreateParams{Name: in.Name})
}

func (t networkTools) delete(ctx context.Context, c tool.Call, in NetworkDeleteIn) (protocol.Network, error) {
	return t.networks.Delete(ctx, c.Principal.String(), protocol.NetworkParams{Network: in.Network})
}

func (t networkTools) previewCreate(_ context.Context, _ tool.Call, in NetworkCreateIn) (p protocol.CallPreview, err error) {
	return problemOf(t.networks.CheckCreate(in.Name)), nil
}

func (t networkTools) previewDelete(_ context.Context, _ tool.Call, in NetworkDeleteIn) (p protocol.CallPreview, err error) {
	if in.Network == "" {
		return protocol.CallPreview{Problem: "network is empty"}, nil
	}
	n, err := t.networks.Find(in.Network)
	if err == nil {
		err = t.networks.CheckDelete(n.ID)
	}
	return problemOf(err), nil
}

// problemOf returns the preview of a call that would fail with an error; an empty one without.
func problemOf(err error) (p protocol.CallPreview) {
	if err != nil {
		p.Problem = err.Error()
	}
	return p
}
