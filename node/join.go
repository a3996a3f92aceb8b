package node

import (
	"cmp"

	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
)

// Applicant describes the node for pairing: the person approves what the node would offer.
func (n *Node) Applicant() pake.Applicant {
	h := n.hello
	a := pake.Applicant{Role: protocol.RoleNode, NodeID: n.opts.ID, Name: string(n.opts.ID), Platform: h.Client.Platform, Version: h.Client.Version, Reach: protocol.ReachOf(h)}
	if h.Host != nil {
		a.OS, a.Hostname, a.Name = h.Host.OS, h.Host.Hostname, cmp.Or(h.Host.Hostname, a.Name)
	}
	return a
}

// Close releases a node whose Run was never called.
func (n *Node) Close() { n.close() }
