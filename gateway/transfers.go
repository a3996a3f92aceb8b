package gateway

import (
	"fairlead/gateway/journal"
	"fairlead/gateway/protocol"
)

// unpaired cancels the transfers of a device that is no longer paired, unless another machine has
// its name by now.
func (g *Gateway) unpaired(d protocol.Device) {
	if n, known := g.hub.Node(d.NodeID); known && n.Device != d.ID {
		return
	}
	g.transfers.Unpaired(d)
}

func (g *Gateway) audit() journal.Audit {
	return journal.Audit{Audit: g.store.Audit, Secrets: g.secrets}
}
