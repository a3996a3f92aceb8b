package service

import (
	"context"
	"fmt"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Exposures states who reaches the services that are switched on.
func (p *Site) Exposures(context.Context) ([]protocol.Exposure, error) {
	var list []protocol.Exposure
	uses := p.Use()
	for _, v := range p.services.List() {
		if !v.Enabled {
			continue
		}
		list = append(list, protocol.Exposure{
			ID: protocol.ExposureService + ":" + string(v.ID), Kind: protocol.ExposureService, Title: v.Title, IsPublic: !v.SignIn, CreatedAt: v.CreatedAt,
			IsInUse: uses[v.ID].Visitors > 0, LastUsedAt: uses[v.ID].LastUsedAt,
			Reach: fmt.Sprintf("%s at %s: %s on %s.", visitorsText(v), v.URL, v.Target, v.NodeID),
			Close: &protocol.ExposureClose{
				Button: "Switch off", Ends: "Its visitors are cut off at once. You are asked before it opens again.",
				Call: protocol.NewCall(protocol.ServiceClose, protocol.ServiceParams{ID: v.ID}),
			},
		})
	}
	return list, nil
}

func visitorsText(v protocol.Service) string {
	switch {
	case !v.SignIn:
		return "Everyone who reaches the address, without a sign-in,"
	case len(v.Visitors) == 0:
		return "You alone"
	}
	return "You and " + format.Plural(len(v.Visitors), "address") + " or pattern on its list"
}
