package apps

import (
	"context"
	"fmt"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Exposures states what the apps and tokens with access reach.
func (a *Apps) Exposures(context.Context) ([]protocol.Exposure, error) {
	var list []protocol.Exposure
	for _, app := range a.access.all() {
		if app.RevokedAt > 0 || isExpired(app.ExpiresAt) {
			continue
		}
		e := protocol.Exposure{
			ID: protocol.ExposureApp + ":" + string(app.ID), Kind: protocol.ExposureApp, Title: app.Name, Reach: a.reach(app),
			CreatedAt: app.CreatedAt, LastUsedAt: app.LastUsedAt, ExpiresAt: app.ExpiresAt,
			Close: &protocol.ExposureClose{
				Button: "Revoke", Ends: "Its token stops working at once, and what it has begun ends.",
				Call: protocol.NewCall(protocol.AppRevoke, protocol.AppParams{ID: app.ID}),
			},
		}
		if app.Kind == protocol.AppToken {
			e.ID, e.Kind = protocol.ExposureToken+":"+string(app.ID), protocol.ExposureToken
		}
		if app.ExpiresAt == 0 {
			e.Warnings = []string{protocol.WarnNoExpiry}
		}
		list = append(list, e)
	}
	return list, nil
}

// reach says what an app may do, and where.
func (a *Apps) reach(app protocol.App) string {
	var on []string
	for _, id := range app.Nodes {
		name := string(id)
		if n, ok := a.machines.Node(id); ok {
			name = n.DisplayName()
		}
		on = append(on, name)
	}
	for _, id := range app.Networks {
		name := "a deleted network"
		for _, n := range a.machines.NetworkList() {
			if n.ID == id {
				name = "the network " + n.Name
			}
		}
		on = append(on, name)
	}
	where := "all machines"
	if len(on) > 0 {
		where = format.Enumerate(on)
	}
	return fmt.Sprintf("May %s on %s. You are asked as your rules say.", format.Enumerate(protocol.Permissions(app.Scopes...)), where)
}
