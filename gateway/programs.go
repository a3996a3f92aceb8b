package gateway

import (
	"cmp"
	"context"
	"net/http"
	"os"

	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
	"fairlead/gateway/servers/login"
	"fairlead/gateway/skills"
	"fairlead/gateway/store"
	"fairlead/gateway/surface/bearer"
	"fairlead/gateway/surface/mcp"
	"fairlead/gateway/surface/oauth"
	"fairlead/gateway/surface/rest"
	"fairlead/gateway/transfer"
	"fairlead/gateway/workspace"
)

// openCatalog opens the tools for programs.
func (g *Gateway) openCatalog(ctx context.Context) error {
	owner, err := g.store.Settings.OwnerID(ctx)
	if err != nil {
		return err
	}
	hostname, _ := os.Hostname()
	g.catalog = catalog.New(catalog.Options{
		Pipeline: g.calls, Jobs: g.jobs, Commands: g.commands, Registry: g.tools, Config: g.config.Get, NetworkName: cmp.Or(hostname, "Fairlead"),
		OwnerID: owner, Version: Version, Used: g.access.Used,
	})
	return nil
}

// programs builds the handler of MCP, REST and their sign-in.
func (g *Gateway) programs() http.Handler {
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
		Tools: g.catalog, Waiting: g.jobs, Machines: g.tools, Prompts: prompts{g.skills, g.files}, Documents: documents(g.transfers, g.store.Calls), Bus: g.bus, Guard: guard, Version: Version, Extend: g.extendMCP,
	})
	mux.Handle(resourcePath, g.mcp)
	return site.WhileEnabled(mux)
}

// documents are what clients of MCP can read about the gateway.
func documents(transfers *transfer.Engine, journal *store.Calls) []mcp.Document {
	return []mcp.Document{
		{
			URI: "fairlead://transfers", Name: "transfers", Description: "The file transfers in progress and the last ones", Scope: protocol.ScopeAllTools,
			Changes: []string{protocol.ChangeTransfer, protocol.ChangeTransferRemoved},
			Read: func(ctx context.Context) (any, error) {
				return transfers.List(ctx, protocol.TransferListParams{History: true})
			},
		},
		{
			URI: "fairlead://journal", Name: "journal", Description: "The last 100 calls of tools", Scope: protocol.ScopeAllTools,
			Changes: []string{protocol.ChangeCall},
			Read: func(ctx context.Context) (any, error) {
				list, _, err := journal.List(ctx, protocol.JournalListParams{Limit: 100})
				calls := make([]protocol.CallInfo, len(list))
				for i, c := range list {
					calls[i] = c.Info
				}
				return map[string]any{"calls": calls}, err
			},
		},
	}
}

// prompts are the main agent's skills.
type prompts struct {
	skills *skills.Catalog
	files  *workspace.Files
}

func (p prompts) List(ctx context.Context) (list []mcp.Prompt, err error) {
	status, err := p.skills.Status(ctx, protocol.SkillsParams{})
	for _, s := range status.Skills {
		if s.Enabled && s.Eligible {
			list = append(list, mcp.Prompt{Name: s.Name, Description: s.Description})
		}
	}
	return list, err
}

func (p prompts) Text(ctx context.Context, name string) (string, error) {
	status, err := p.skills.Status(ctx, protocol.SkillsParams{})
	if err != nil {
		return "", err
	}
	for _, s := range status.Skills {
		if s.Name == name && s.Enabled {
			file, _, err := p.files.Read(protocol.MainAgent, s.Path)
			if err != nil {
				return "", err
			}
			return string(file.Data), nil
		}
	}
	return "", protocol.ErrNotFound.With("there is no skill named " + name)
}

// resourcePath is the path of the resource that tokens are for: MCP and REST are one.
const resourcePath = "/mcp"
