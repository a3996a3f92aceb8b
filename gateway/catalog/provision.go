package catalog

import (
	"context"

	"fairlead/gateway/native"
	"fairlead/gateway/protocol"
)

type provisionIn struct {
	NodeName    string `json:"node_name" jsonschema:"name of the new machine"`
	NetworkName string `json:"network_name,omitempty" jsonschema:"network of the machine; default: the default network"`
	Provider    string `json:"provider,omitempty" jsonschema:"aws (default), or another that this gateway has"`
	CPU         *int   `json:"cpu,omitempty" jsonschema:"1024 is 1 vCPU; 256 to 4096, default 256; providers with a fixed size ignore it"`
	Memory      *int   `json:"memory,omitempty" jsonschema:"MiB; 512 to 16384, default 512; providers with a fixed size ignore it"`
}

type provisionOut struct {
	TaskID   protocol.TaskID `json:"task_id" jsonschema:"for deprovision_node"`
	Provider string          `json:"provider"`
	Summary  string          `json:"resource_summary"`
	Notes    []string        `json:"notes"`
}

type deprovisionIn struct {
	TaskID protocol.TaskID `json:"task_id" jsonschema:"the one of provision_node"`
}

type deprovisionOut struct {
	TaskID    protocol.TaskID `json:"task_id"`
	Reference string          `json:"reference" jsonschema:"the provider's ID of the machine"`
	Provider  string          `json:"provider"`
	Notes     []string        `json:"notes"`
}

// provisioning are the tools for rented machines.
type provisioning struct{ net machines }

func (s provisioning) entries() []*entry {
	scopes := []protocol.Scope{protocol.ScopeProvision}
	return []*entry{
		newEntry(protocol.CatalogTool{
			Name: "provision_node", Title: "Rent a machine", Mode: OneShot, OpenWorld: true, Scopes: scopes,
			Description: "Rents a machine from a provider and connects it. The user is always asked. It appears in network_directory once it is online, usually after 1 to 2 minutes.",
		}, nil, s.provision),
		newEntry(protocol.CatalogTool{
			Name: "deprovision_node", Title: "Delete a rented machine", Mode: OneShot, OpenWorld: true, Destructive: true, Scopes: scopes,
			Description: "Deletes a machine that provision_node rented, with all its data. The user is always asked.",
		}, nil, s.deprovision),
	}
}

func (s provisioning) provision(ctx context.Context, x *call, in provisionIn) (out provisionOut, message string, err error) {
	args := native.ProvisionIn{Name: protocol.NodeID(in.NodeName), Provider: in.Provider}
	if in.NetworkName != "" {
		n, err := s.net.network(x.principal, in.NetworkName)
		if err != nil {
			return out, "", err
		}
		args.Network = n.ID
	}
	for name, value := range map[string]*int{"cpu": in.CPU, "memory": in.Memory} {
		if value != nil && *value == 0 { // which would be the default
			return out, "", protocol.NewFault(protocol.FaultInvalidArgs, name+" must not be 0")
		}
	}
	if in.CPU != nil {
		args.CPU = *in.CPU
	}
	if in.Memory != nil {
		args.Memory = *in.Memory
	}
	t, err := s.run(ctx, x, native.NodeProvision, args)
	notes := append([]string{}, t.Notes...)
	if t.Cost != "" {
		notes = append(notes, "Cost: "+t.Cost+".")
	}
	notes = append(notes, "Node will appear in network_directory once online.")
	return provisionOut{t.ID, t.Provider, t.Summary, notes}, t.Summary + " from " + t.Provider, err
}

func (s provisioning) deprovision(ctx context.Context, x *call, in deprovisionIn) (out deprovisionOut, message string, err error) {
	t, err := s.run(ctx, x, native.NodeDeprovision, native.DeprovisionIn{Task: in.TaskID})
	return deprovisionOut{t.ID, t.Reference, t.Provider, append([]string{}, t.Notes...)}, "Deprovisioned " + string(t.Node), err
}

// run calls one of the gateway's tools for rented machines. The person is asked even about what they
// do themselves on a command line, because it costs money or deletes data.
func (s provisioning) run(ctx context.Context, x *call, name string, args any) (t protocol.ProvisionTask, err error) {
	x.isAsked = true
	r := struct{ Result *protocol.ProvisionTask }{&t}
	err = x.run(ctx, protocol.NativePrefix, name, args, &r)
	return t, err
}
