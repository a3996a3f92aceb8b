package forward

import (
	"context"
	"fmt"
	"strings"

	"fairlead/gateway/peer/publicnet"
	"fairlead/gateway/protocol"
)

// Exposures states what the open forwards reach.
func (f *Forwards) Exposures(context.Context) ([]protocol.Exposure, error) {
	var list []protocol.Exposure
	for _, w := range f.all() {
		now := w.now()
		name := string(now.Node)
		if n, ok := f.o.Machines.Node(now.Node); ok {
			name = n.DisplayName()
		}
		list = append(list, protocol.Exposure{
			ID: protocol.ExposureForward + ":" + string(now.ID), Kind: protocol.ExposureForward, Title: now.Listen + " leads to " + now.Target + " on " + name,
			Reach:   fmt.Sprintf("Programs on %s reach %s on %s.", computerOf(now), now.Target, name),
			IsInUse: now.Connections > 0, CreatedAt: now.Since, LastUsedAt: now.LastUsedAt,
			Close: &protocol.ExposureClose{
				Button: "Close", Ends: "Its connections are aborted, and its client does not open it again.",
				Call: protocol.NewCall(protocol.ForwardClose, protocol.ForwardParams{ID: now.ID}),
			},
		})
	}
	return list, nil
}

// computerOf names the computer that has the local port of a forward, and who opened the forward from
// another computer.
func computerOf(f protocol.Forward) string {
	if f.Address == "" || publicnet.IsLoopback(f.Address) {
		return "this computer"
	}
	_, name, _ := strings.Cut(f.By, " ") // after the kind of the principal
	return "the computer at " + f.Address + ", opened by " + name + ","
}
