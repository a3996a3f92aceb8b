package node

import (
	"cmp"

	"fairlead/gateway/peer/trust"
	"fairlead/gateway/protocol"
)

// Applicant is how a node describes itself when it is to be paired: what it would offer is what the person says yes to.
func (n *Node) Applicant() trust.Applicant {
	h := n.hello
	a := trust.Applicant{Role: protocol.RoleNode, NodeID: n.opts.ID, Name: string(n.opts.ID), Platform: h.Client.Platform, Version: h.Client.Version, Reach: protocol.ReachOf(h)}
	if h.Host != nil {
		a.OS, a.Hostname, a.Name = h.Host.OS, h.Host.Hostname, cmp.Or(h.Host.Hostname, a.Name)
	}
	return a
}

// Close releases a node that was not run.
func (n *Node) Close() { n.close() }
