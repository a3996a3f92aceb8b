package gateway

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
	"fairlead/gateway/signin"
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
	in := signin.New(signin.Options{
		Config: func() config.Services { return g.config.Get().Services }, Secret: g.config.Secret, Base: g.signInBase,
	})
	g.visits = service.NewVisits(g.store.Services, in)
	g.site = service.NewSite(g.services, g.visits, func(ctx context.Context, node protocol.NodeID, id protocol.ServiceID, t service.Target) (net.Conn, error) {
		return g.tunnels.Dial(ctx, node, protocol.StreamHeader{Kind: protocol.StreamHTTP, Service: string(id), Target: t.Address()})
	})
	return err
}

// signInBase returns the gateway's own address for browsers that visit the host of a request. Providers
// send them back to it. It is not 127.0.0.1, which some providers do not accept.
func (g *Gateway) signInBase(*http.Request) string {
	at := g.listenAddr()
	if at == nil {
		return ""
	}
	return fmt.Sprintf("http://localhost:%d", at.Port)
}
