package gateway

import (
	"context"
	"net/http"

	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
	"fairlead/gateway/servers/login"
	"fairlead/gateway/surface/bearer"
	"fairlead/gateway/surface/mcp"
	"fairlead/gateway/surface/oauth"
	"fairlead/gateway/surface/rest"
)

// openCatalog opens the tools for programs.
func (g *Gateway) openCatalog(ctx context.Context, _ Options) error {
	owner, err := g.store.Settings.OwnerID(ctx)
	if err != nil {
		return err
	}
	g.catalog = catalog.New(catalog.Options{
		Pipeline: g.calls, Jobs: g.jobs, Commands: g.commands, Registry: g.tools, Services: g.services, Probe: g.probe, Invitations: g.devices, TaskOf: g.rented.TaskOf, Config: g.config.Get, Networks: g.hub.Networks,
		OwnerID: owner, Version: Version, Used: g.access.Used,
	})
	return nil
}

// programs builds the handler of MCP, REST and their sign-in.
func (g *Gateway) programs(o Options) http.Handler {
	mux := http.NewServeMux()
	site := bearer.Site{Config: g.config.Get}
	guard := bearer.Guard{Verify: g.access.Verify, Base: site.Base, Path: resourcePath, Scopes: protocol.UsualAppScopes}
	api := rest.New(rest.Options{Tools: g.catalog, Waiting: g.jobs, Guard: guard, Version: Version})
	mux.Handle("/api", api)
	mux.Handle("/api/", api)
	signIn := oauth.New(oauth.Options{Apps: g.apps, Clients: g.store.Apps, Base: site.Base, Path: resourcePath})
	mux.Handle("/oauth/", signIn)
	mux.Handle("/.well-known/", signIn)
	mux.HandleFunc("GET "+login.DocumentPath, login.ServeDocument(g.config.Get))
	g.mcp = mcp.New(mcp.Options{
		Tools: g.catalog, Waiting: g.jobs, Machines: g.tools, Skills: g.skills, Transfers: g.transfers, Journal: g.store.Calls, Bus: g.bus, Guard: guard, Version: Version,
		Extend: o.ExtendMCP,
	})
	mux.Handle(resourcePath, g.mcp)
	return site.WhileEnabled(mux)
}

// resourcePath is the path of the resource that tokens are for: MCP and REST are one.
const resourcePath = "/mcp"
