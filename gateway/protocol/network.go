package protocol

import "slices"

// NetworkID identifies a network of machines. It stays the same when the network is renamed.
type NetworkID string

// Network is a group of machines. Each machine is in exactly one.
type Network struct {
	ID NetworkID `json:"id"`
	// Name is a DNS label: up to 63 lower-case letters, digits and hyphens. No two networks share one.
	Name      string `json:"name"`
	Index     int    `json:"index"` // from 1, in the order in which networks were created
	CreatedAt int64  `json:"createdAt"`
	// Default marks the network of machines for which nobody chose one. It cannot be deleted.
	Default bool `json:"default,omitempty"`
}

// MachineLimit is the machines that somebody may use: those of a list, and those that are in some
// networks at the time. Without any entry it is all machines.
type MachineLimit struct {
	Nodes    []NodeID    `json:"nodes,omitempty"`
	Networks []NetworkID `json:"networks,omitempty"`
}

// IsAll reports whether the limit is all machines.
func (l MachineLimit) IsAll() bool { return len(l.Nodes)+len(l.Networks) == 0 }

// Equal reports whether two limits have the same entries in the same order.
func (l MachineLimit) Equal(m MachineLimit) bool {
	return slices.Equal(l.Nodes, m.Nodes) && slices.Equal(l.Networks, m.Networks)
}

// NetworksListResult lists the networks, the default one first, then in the order of their index.
type NetworksListResult struct {
	Networks []Network `json:"networks"`
}

// NetworkCreateParams creates a network.
type NetworkCreateParams struct {
	Name string `json:"name"`
}

// NetworkParams names a network by its ID or its name.
type NetworkParams struct {
	Network string `json:"network"`
}

// NetworkRenameParams renames a network, which is given by its ID or its name.
type NetworkRenameParams struct {
	Network string `json:"network"`
	Name    string `json:"name"`
}

// NetworkMoveParams moves a machine to a network, which is given by its ID or its name.
type NetworkMoveParams struct {
	NodeID  NodeID `json:"nodeId"`
	Network string `json:"network"`
}

// Methods of networks.
var (
	NetworksList  = Method[Empty, NetworksListResult]{"networks.list", ScopeRead, clients, extension}
	NetworkCreate = Method[NetworkCreateParams, Network]{"networks.create", ScopeAdmin, clients, extension}
	NetworkRename = Method[NetworkRenameParams, Network]{"networks.rename", ScopeAdmin, clients, extension}
	// NetworkDelete refuses to delete a network with machines, and the default network.
	NetworkDelete = Method[NetworkParams, Network]{"networks.delete", ScopeAdmin, clients, extension}
	NetworkMove   = Method[NetworkMoveParams, NodeInfo]{"networks.move", ScopeAdmin, clients, extension}
)
