package gateway

import (
	"context"
	"net"

	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
)

// openServices opens the published services and the site that serves them.
func (g *Gateway) openServices(ctx context.Context) (err error) {
	g.services, err = service.Open(ctx, g.store.Services, g.bus, func(name string) string {
		port := 0
		if at := g.listenAddr(); at != nil {
			port = at.Port
		}
		return service.LocalURL(name, port)
	})
	g.visits = service.NewVisits(g.store.Services)
	g.site = service.NewSite(g.services, g.visits, func(ctx context.Context, node protocol.NodeID, id protocol.ServiceID, t service.Target) (net.Conn, error) {
		return g.tunnels.Dial(ctx, node, protocol.StreamHeader{Kind: protocol.StreamHTTP, Service: string(id), Target: t.Address()})
	})
	return err
}
