package service

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Exposures states who reaches the services that are turned on.
func (p *Site) Exposures(ctx context.Context) ([]protocol.Exposure, error) {
	var list []protocol.Exposure
	uses := p.Use()
	for _, v := range p.services.List() {
		if !v.Enabled {
			continue
		}
		visits, err := p.requests.store.Visits(ctx, v.ID, time.Now().UnixMilli())
		if err != nil {
			return nil, err
		}
		guests := 0
		for _, visit := range visits {
			if visit.IsGranted {
				guests++
			}
		}
		list = append(list, protocol.Exposure{
			ID: protocol.ExposureService + ":" + string(v.ID), Kind: protocol.ExposureService, Title: v.Title, IsPublic: !v.SignIn, CreatedAt: v.CreatedAt,
			IsInUse: uses[v.ID].Visitors > 0, LastUsedAt: uses[v.ID].LastUsedAt,
			Reach: fmt.Sprintf("%s. %s leads to %s on %s.", visitorsText(v, guests), v.URL, contentText(v), cmp.Or(p.machineName(v.NodeID), string(v.NodeID))),
			Close: &protocol.ExposureClose{
				Button: "Turn off", Ends: "Its visitors are cut off at once. You are asked before it opens again.",
				Call: protocol.NewCall(protocol.ServiceClose, protocol.ServiceParams{ID: v.ID}),
			},
		})
	}
	return list, nil
}

// contentText says what visitors get.
func contentText(v protocol.Service) string {
	if v.Terminal != nil {
		return v.Terminal.String()
	}
	return v.Target
}

// visitorsText says who has access. guests is the number of browsers with access for some time.
func visitorsText(v protocol.Service, guests int) string {
	if !v.SignIn {
		return "Everyone who reaches the address, without a sign-in"
	}
	who := []string{"You"}
	if n := len(v.Visitors); n > 0 {
		who = append(who, format.Plural(n, "address or pattern", "addresses or patterns")+" on its list")
	}
	if guests > 0 {
		who = append(who, format.Plural(guests, "visitor")+" for some time")
	}
	if len(who) == 1 {
		return "You alone"
	}
	return format.Enumerate(who)
}
