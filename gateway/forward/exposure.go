package forward

import (
	"context"
	"fmt"

	"fairlead/gateway/protocol"
)

// Exposures states what the open forwards reach.
func (f *Forwards) Exposures(context.Context) ([]protocol.Exposure, error) {
	var list []protocol.Exposure
	for _, w := range f.all() {
		now := w.now()
		list = append(list, protocol.Exposure{
			ID: protocol.ExposureForward + ":" + string(now.ID), Kind: protocol.ExposureForward, Title: now.Listen + " → " + address(now),
			Reach:   fmt.Sprintf("Programs on the computer of %s reach %s of %s.", now.By, now.Target, now.Node),
			IsInUse: now.Connections > 0, CreatedAt: now.Since, LastUsedAt: now.LastUsedAt,
			Close: &protocol.ExposureClose{
				Button: "Close", Ends: "Its connections are aborted, and its client does not open it again.",
				Call: protocol.NewCall(protocol.ForwardClose, protocol.ForwardParams{ID: now.ID}),
			},
		})
	}
	return list, nil
}
