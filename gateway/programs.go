package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"strings"

	"fairlead/gateway/catalog"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/servers/login"
	"fairlead/gateway/session/background"
	"fairlead/gateway/skills"
	"fairlead/gateway/store"
	"fairlead/gateway/surface/bearer"
	"fairlead/gateway/surface/mcp"
	"fairlead/gateway/surface/oauth"
	"fairlead/gateway/surface/rest"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/job"
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
	name := cmp.Or(hostname, "Fairlead")
	sum := sha256.Sum256([]byte(name))
	g.jobs = job.New(func() config.API { return g.config.Get().API })
	g.commands = job.NewCommands(job.Options{
		Cleanup: tool.NewCleanup(g.hub.Calls), HasAccess: g.apps.HasAccess, Changed: func() { g.bus.Publish(protocol.Change{Kind: protocol.ChangeApps}) },
	})
	g.catalog = catalog.New(catalog.Options{
		Pipeline: g.calls, Jobs: g.jobs, Commands: g.commands, Registry: g.tools, Config: g.config.Get, NetworkName: name, NetworkID: "net_" + hex.EncodeToString(sum[:8]),
		OwnerID: owner, Version: Version, Used: g.apps.Used,
	})
	return nil
}

// execEvent returns the handler of reports about commands: background commands of chats and of
// programs, and what was put back after a command.
func execEvent(programs *job.Commands, keeper *tool.Keeper, chats *background.Reports) func(context.Context, protocol.NodeID, protocol.NodeExecEvent) (protocol.Ack, error) {
	return func(ctx context.Context, node protocol.NodeID, e protocol.NodeExecEvent) (protocol.Ack, error) {
		if e.Event == protocol.ExecPutBack && e.PutBack != nil {
			return keeper.Report(ctx, node, *e.PutBack)
		}
		programs.Event(node, e)
		if e.Caller != nil {
			return protocol.Ack{OK: true}, nil
		}
		return chats.Event(ctx, node, e)
	}
}

// followMachines reports each machine that connects to the tools for programs, until ctx ends.
func followMachines(ctx context.Context, bus *event.Bus, programs *job.Commands) {
	online := make(map[protocol.NodeID]bool)
	sub := bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeNode })
	defer sub.Close()
	for c := range sub.All(ctx) {
		if c.Node.Online && !online[c.Node.ID] {
			programs.MachineConnected(c.Node.ID)
		}
		online[c.Node.ID] = c.Node.Online
	}
}

// programs builds the handler of MCP, REST and their sign-in.
func (g *Gateway) programs() http.Handler {
	mux := http.NewServeMux()
	base := func(r *http.Request) string { return baseOf(g.config.Get().API.PublicURL, r) }
	guard := bearer.Guard{Verify: g.apps.Verify, Base: base, Path: resourcePath, Scopes: protocol.UsualAppScopes}
	api := rest.New(rest.Options{Tools: g.catalog, Waiting: g.jobs, Guard: guard, Version: Version})
	mux.Handle("/api", api)
	mux.Handle("/api/", api)
	signIn := oauth.New(oauth.Options{Apps: g.apps, Clients: g.store.Apps, Base: base, Path: resourcePath})
	mux.Handle("/oauth/", signIn)
	mux.Handle("/.well-known/", signIn)
	mux.HandleFunc("GET "+clientPath, func(w http.ResponseWriter, r *http.Request) {
		raw, err := login.ClientDocument(clientDocument(g.config.Get().API))
		if err != nil || clientDocument(g.config.Get().API) == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(raw)
	})
	g.mcp = mcp.New(mcp.Options{
		Tools: g.catalog, Waiting: g.jobs, Machines: g.tools, Prompts: prompts{g.skills, g.files}, Documents: documents(g.transfers, g.store.Calls), Bus: g.bus, Guard: guard, Version: Version, Extend: g.extendMCP,
	})
	mux.Handle(resourcePath, g.mcp)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := g.config.Get().API
		if !c.Enabled || r.TLS != nil && !c.Network {
			http.NotFound(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
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

// baseOf returns the address of the gateway as an app sees it, without a path: its public address,
// or that of the request.
func baseOf(public string, r *http.Request) string {
	if public != "" {
		return strings.TrimRight(public, "/")
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// clientPath is the path of the document that describes the gateway as a client of MCP servers.
const clientPath = "/oauth/client.json"

// clientDocument returns the address of that document; empty if others cannot read it.
func clientDocument(c config.API) string {
	if !c.Enabled || !strings.HasPrefix(c.PublicURL, "https://") {
		return ""
	}
	return strings.TrimRight(c.PublicURL, "/") + clientPath
}

// resourcePath is the path of the resource that tokens are for: MCP and REST are one.
const resourcePath = "/mcp"
