package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/native"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

type networkCreateIn struct {
	Name string `json:"name" jsonschema:"up to 63 letters, digits and hyphens; unique"`
}

type networkCreateOut struct {
	NetworkID protocol.NetworkID `json:"network_id"`
	Name      string             `json:"name" jsonschema:"in lower case"`
	Index     int                `json:"index"`
	CreatedAt time.Time          `json:"created_at"`
}

type networkDeleteIn struct {
	NetworkName string `json:"network_name,omitempty" jsonschema:"may be left out if there is only one"`
	Force       bool   `json:"force,omitempty" jsonschema:"deprecated and ignored"`
}

type networkDeleteOut struct {
	NetworkID    protocol.NetworkID `json:"network_id"`
	Name         string             `json:"name"`
	NodesRemoved int                `json:"nodes_removed" jsonschema:"always 0"`
	Message      string             `json:"message"`
}

// networks are the tools that change the networks.
type networks struct {
	net  machines
	list Networks
}

func (s networks) entries() []*entry {
	write := func(name, title, description string) protocol.CatalogTool {
		return protocol.CatalogTool{Name: name, Title: title, Description: description, Mode: OneShot, Scopes: []protocol.Scope{protocol.ScopeNetworkWrite}}
	}
	remove := write("network_delete", "Delete a network", "Deletes an empty network. Its machines have to be moved or removed first.")
	remove.Destructive = true
	return []*entry{
		newEntry(write("network_create", "Create a network", "Creates a network: a group of machines to which tokens, apps and chats can be limited."), nil, s.create),
		newEntry(remove, nil, s.delete),
	}
}

// checkLimit refuses callers that are limited to some machines: a new network would not be theirs,
// and others may be in one.
func checkLimit(p auth.Principal) error {
	if tool.CheckAccess(p, protocol.NativePrefix) != nil {
		return protocol.NewFault(protocol.FaultForbidden, "a token that is limited to some machines or networks cannot change networks")
	}
	return nil
}

func (s networks) create(ctx context.Context, x *call, in networkCreateIn) (out networkCreateOut, message string, err error) {
	if err = checkLimit(x.principal); err == nil {
		err = s.list.CheckCreate(in.Name)
	}
	var n protocol.Network
	if err == nil {
		err = s.run(ctx, x, native.NetworkCreate, native.NetworkCreateIn{Name: in.Name}, &n)
	}
	return networkCreateOut{n.ID, n.Name, n.Index, time.UnixMilli(n.CreatedAt).UTC()}, "Created the network " + n.Name, err
}

func (s networks) delete(ctx context.Context, x *call, in networkDeleteIn) (out networkDeleteOut, message string, err error) {
	if err := checkLimit(x.principal); err != nil {
		return out, "", err
	}
	n, err := s.toDelete(x.principal, in.NetworkName)
	if err != nil {
		return out, "", err
	}
	if err := s.list.CheckDelete(n.ID); errors.Is(err, protocol.ErrConflict) {
		return out, "", protocol.NewFault(protocol.FaultFailedPrecondition, err.Error())
	} else if err != nil {
		return out, "", err
	}
	if err := s.run(ctx, x, native.NetworkDelete, native.NetworkDeleteIn{Network: string(n.ID)}, &n); err != nil {
		return out, "", err
	}
	message = fmt.Sprintf("Deleted network %q (id: %s)", n.Name, n.ID)
	return networkDeleteOut{NetworkID: n.ID, Name: n.Name, Message: message}, message, nil
}

// toDelete returns the network with a name; without one, the only network.
func (s networks) toDelete(p auth.Principal, name string) (protocol.Network, error) {
	if name != "" {
		return s.net.network(p, name)
	}
	list := s.net.registry.NetworksOf(p)
	if len(list) == 1 {
		return list[0], nil
	}
	var names []string
	for _, n := range list {
		names = append(names, n.Name)
	}
	return protocol.Network{}, protocol.NewFault(protocol.FaultInvalidArgs, "network_name is required, because there are several networks: "+strings.Join(names, ", "))
}

// run calls one of the gateway's own tools for networks.
func (s networks) run(ctx context.Context, x *call, name string, args any, n *protocol.Network) error {
	r := struct{ Result *protocol.Network }{n}
	return x.run(ctx, protocol.NativePrefix, name, args, &r)
}
