package transfer

import (
	"fmt"

	"fairlead/gateway/protocol"
)

// Unpaired fails the transfers of a device whose pairing has ended, as a node or as a window:
// another device may connect under the node's name, and nobody has approved transfers with that
// one. Partly received data is retained, and Retry puts such a transfer into the queue again.
func (e *Engine) Unpaired(d protocol.Device) {
	why := fmt.Sprintf("%s is no longer paired", d.Name)
	if d.NodeID != "" {
		why = fmt.Sprintf("%s is no longer paired", d.NodeID)
	}
	var rest []*job
	e.mu.Lock()
	for _, j := range e.order {
		switch t := &j.row.Transfer; {
		case d.NodeID == "" && t.Device != d.ID, d.NodeID != "" && t.From != d.NodeID && t.To != d.NodeID:
		case j.cancel != nil:
			j.cancel(final("%s", why))
		default:
			j.isCancelled = true
			rest = append(rest, j)
		}
	}
	e.mu.Unlock()
	for _, j := range rest {
		j.finish(protocol.TransferFailed, why)
	}
}
