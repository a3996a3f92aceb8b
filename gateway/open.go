package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/apps"
	"fairlead/gateway/auth"
	"fairlead/gateway/channel"
	"fairlead/gateway/channel/xmpp"
	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/event"
	"fairlead/gateway/exposure"
	"fairlead/gateway/forward"
	"fairlead/gateway/journal"
	"fairlead/gateway/llm/local"
	"fairlead/gateway/llm/registry"
	"fairlead/gateway/native"
	"fairlead/gateway/network"
	"fairlead/gateway/nodes"
	"fairlead/gateway/pairing"
	"fairlead/gateway/pairing/install"
	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/provision"
	"fairlead/gateway/question"
	"fairlead/gateway/servers"
	"fairlead/gateway/session"
	"fairlead/gateway/session/background"
	"fairlead/gateway/skills"
	"fairlead/gateway/speech"
	"fairlead/gateway/store"
	"fairlead/gateway/surface/bearer"
	"fairlead/gateway/surface/rpc"
	"fairlead/gateway/terminal"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/job"
	"fairlead/gateway/transfer"
	"fairlead/gateway/tunnel"
	"fairlead/gateway/usage"
	"fairlead/gateway/workspace"
)

// Open builds a gateway. It opens the data folder and the keychain and binds the address, but
// serves nobody before Run.
//
// Parts are built from the bottom up, each from those before it.
func Open(ctx context.Context, o Options) (*Gateway, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	g := &Gateway{home: o.Home, log: o.Logger, bus: new(event.Bus), startedAt: time.Now()}
	for _, open := range []func(context.Context, Options) error{
		g.listen, g.openStorage, g.openMachines, g.openWorkspaces, g.openTools, g.openPeers, g.openChats, g.openCatalog,
	} {
		if err := open(ctx, o); err != nil {
			if g.sessions != nil {
				g.sessions.Close()
			}
			g.Close()
			return nil, err
		}
	}
	g.openSurface(o)
	return g, nil
}

func (o *Options) setDefaults() (err error) {
	if o.Home == "" {
		if o.Home, err = Home(); err != nil {
			return err
		}
	}
	o.Listen = cmp.Or(o.Listen, DefaultListen)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return nil
}

// listen locks the data folder and binds the address for local clients.
func (g *Gateway) listen(_ context.Context, o Options) (err error) {
	if err := os.MkdirAll(g.home, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	if g.lock, err = lockHome(g.home); err != nil {
		return err
	}
	g.dial, g.memory = client.Memory()
	if o.Listen == "none" {
		return nil
	}
	if g.listener, err = net.Listen("tcp", o.Listen); err != nil {
		hint := ""
		if sys, ok := errors.AsType[*os.SyscallError](err); ok && sys.Syscall == "bind" {
			hint = ". Is another Fairlead running? Give another address with --listen"
		}
		return fmt.Errorf("listen on %s: %w%s", o.Listen, err, hint)
	}
	if at := g.listenAddr(); at != nil && !at.IP.IsLoopback() {
		g.log.Warn("This address is not encrypted. To let other machines connect, use: fairlead network on", "listen", at.String())
	}
	return nil
}

// openStorage opens the keychain, the store and the configuration.
func (g *Gateway) openStorage(ctx context.Context, _ Options) (err error) {
	g.secrets = keychain.Open(g.home)
	if g.store, err = store.Open(ctx, filepath.Join(g.home, "fairlead.db")); err != nil {
		return err
	}
	g.audit = journal.Audit{Audit: g.store.Audit, Secrets: g.secrets}
	if g.uses, err = exposure.OpenUses(ctx, g.store.Uses); err != nil {
		return err
	}
	if g.tokens, err = auth.OpenTokens(g.secrets, g.uses); err != nil {
		return err
	}
	var problems []error
	g.config, problems, err = config.Open(ctx, g.store.Settings, g.secrets)
	for _, p := range problems {
		g.log.Warn("A setting is ignored", "err", p)
	}
	if err == nil {
		g.config.OnChange(g.tokens.Follow(g.config.Secret))
	}
	return err
}

// openMachines opens the connected machines and their listener, what apps may do, and what waits for
// the person.
func (g *Gateway) openMachines(ctx context.Context, o Options) (err error) {
	g.hub = nodes.New(g.bus, g.store.Nodes)
	computer, _ := os.Hostname()
	if err := g.hub.Networks.Open(ctx, g.store.Networks, cmp.Or(computer, "Fairlead")); err != nil {
		return err
	}
	if err := g.hub.Load(ctx); err != nil {
		return err
	}
	g.ready = nodes.NewReadiness(g.hub, o.Node, o.Ready)
	g.network = network.New(network.Options{Secrets: g.secrets, Config: g.config.Get, Bus: g.bus, Uses: g.uses, Announce: discovery.Announce})
	g.config.OnChange(g.network.ConfigChanged)
	g.rules, err = approval.OpenRules(ctx, g.store.Rules, g.store.Grants, approval.RulesOptions{Config: g.config.Get, MachineName: g.hub.NameOf, Bus: g.bus, Uses: g.uses})
	if err != nil {
		return err
	}
	g.questions = question.New(g.store.Questions, g.rules, g.bus)
	g.access, err = apps.Open(ctx, g.store.Apps, g.bus, g.tokens.Verify, g.hub.Networks.Of)
	return err
}

// openWorkspaces opens the agents' files and skills.
func (g *Gateway) openWorkspaces(context.Context, Options) error {
	g.files = workspace.NewFiles(g.home, g.config.Get)
	g.skills = skills.New(skills.Options{
		Files: g.files, Nodes: g.hub.Nodes, Has: g.hub.HasProgram, HasVariable: g.hub.HasVariable, Config: g.config.Get, Set: g.config.Set,
	})
	_, err := g.files.Of(protocol.MainAgent) // the others are created at their first use
	return err
}

// openTools opens what runs a tool call, the tunnels to machines, and the transfers.
func (g *Gateway) openTools(ctx context.Context, _ Options) (err error) {
	g.servers, err = servers.Open(ctx, servers.Options{
		Config: g.config, Store: g.store.Servers, Secrets: g.secrets, Machines: g.hub, Bus: g.bus, Questions: g.questions, Audit: g.store.Audit, Version: Version,
	})
	if err != nil {
		return err
	}
	g.config.OnChange(g.servers.ConfigChanged)
	g.tunnels = tunnel.New(g.hub, g.bus)
	g.terminals = terminal.New(terminal.Options{Machines: g.hub, Dialer: g.tunnels, Audit: g.store.Audit, Bus: g.bus, ChatOf: g.chatOf})
	if err := g.openServices(ctx); err != nil {
		return err
	}
	g.tools = tool.NewRegistry(g.hub, g.hub.Calls, g.servers.Toolbox())
	calls := journal.New(g.store.Calls, g.store.Calls)
	g.calls = tool.New(tool.Options{
		Registry: g.tools, Policy: g.rules, Approver: g.questions, Journal: calls, Steps: calls, Permissions: approval.Permissions{Grants: g.store.Grants, Chats: g.store.Sessions},
		Bus: g.bus, Config: g.config.Get,
	})
	g.keeper = tool.NewKeeper(g.calls)
	g.transfers = transfer.New(transfer.Options{
		Store: g.store.Transfers, Bus: g.bus, Machines: g.hub, Folders: g.files.Transfer, Authorizer: g.calls,
		RulesVersion: g.rules.Version, Unfinished: filepath.Join(g.home, "unfinished", "gsv"),
	})
	if err := g.transfers.Load(ctx); err != nil {
		return err
	}
	g.sending = transfer.NewCalls(g.transfers)
	g.jobs = job.New(g.config.Get)
	g.commands = job.NewCommands(job.Options{Cleanup: tool.NewCleanup(g.hub.Calls), HasAccess: g.access.HasAccess, Bus: g.bus})
	return g.calls.Recover(ctx, g.transfers.IsOpen)
}

// openPeers opens the paired devices, and the connected apps, whose ends end
// what they have begun.
func (g *Gateway) openPeers(ctx context.Context, _ Options) (err error) {
	g.conns = rpc.NewConnections()
	hostname, _ := os.Hostname()
	devices := pairing.Options{
		Store: g.store.Devices, Audit: g.store.Audit, Bus: g.bus, Nodes: g.hub, Questions: g.questions, Network: g.network.Status, Name: cmp.Or(hostname, "Fairlead"),
		Transfers: g.transfers, Connections: g.conns,
	}
	if exe, err := os.Executable(); err == nil {
		g.install = install.New(g.network.Pin, install.Beside(exe)...)
		devices.HasPrograms = g.install.HasPrograms
	}
	g.forwards = forward.New(forward.Options{Machines: g.hub, Dialer: g.tunnels, Audit: g.store.Audit, Bus: g.bus})
	g.apps = apps.New(apps.Options{Access: g.access, Questions: g.questions, Machines: g.hub, Work: []apps.Work{g.jobs, g.commands, g.transfers, g.forwards}})
	g.hub.Networks.OnMove(g.apps.MachinesMoved)
	if g.devices, err = pairing.Open(ctx, devices); err != nil {
		return err
	}
	g.rented, err = provision.Open(ctx, provision.Options{
		Store: g.store.Tasks, Secrets: g.secrets, Folder: provision.Folder(filepath.Join(g.home, "providers")), Locks: filepath.Join(g.home, "unfinished", "tasks"),
		Devices: g.devices, Node: g.hub.Node, Bus: g.bus, Move: g.hub.Networks.Move,
	})
	if err == nil {
		g.hub.Networks.SetProvisioned(g.rented.InNetwork)
	}
	return err
}

// chatOf returns the chat of a call of a machine; empty if it has none.
func (g *Gateway) chatOf(ctx context.Context, node protocol.NodeID, id protocol.CallID) protocol.SessionKey {
	call, err := g.store.Calls.Get(ctx, id)
	if err != nil || call.Info.Node != node {
		return ""
	}
	return call.Info.SessionKey
}

// openChats opens the chats and what starts runs in them.
func (g *Gateway) openChats(ctx context.Context, _ Options) error {
	g.local = local.New(local.Options{Folder: filepath.Join(g.home, "models"), Settings: g.config, Bus: g.bus})
	g.config.OnChange(g.local.ConfigChanged)
	g.models = registry.New(g.config, g.local.Address, filepath.Join(g.home, "models.json"))
	g.usage = usage.New(g.store.Usage, g.config.Get)
	g.sessions = session.New(session.Options{
		Stores: session.Stores{
			Sessions: g.store.Sessions, Messages: g.store.Messages, Archives: g.store.Archives, Media: g.store.Media,
			Runs: g.store.Runs, Search: g.store.Search, Calls: g.store.Calls, Usage: g.store.Usage,
		},
		Bus: g.bus, Tools: g.calls, Questions: g.questions, Models: g.models, Budget: g.usage, Files: g.files, Skills: g.skills, Nodes: g.hub.Nodes, AwaitNode: g.hub.AwaitOnline, Config: g.config.Get, Set: g.config.Set,
		Home: g.home, Transcribe: speech.Transcriber{Config: g.config}.Transcribe,
	})
	g.config.OnChange(g.sessions.ConfigChanged)
	g.channels = channel.New(channel.Options{
		Stores: channel.Stores{Channels: g.store.Channels, Outbox: g.store.Outbox, Runs: g.store.Runs, Messages: g.store.Messages},
		Bus:    g.bus, Messages: g.sessions.Messages, Chats: g.sessions.Chats, Secrets: g.secrets, Config: g.config.Get, Set: g.config.Set,
		Files: g.files, Drivers: []channel.Driver{xmpp.Driver{}}, Questions: g.questions, Display: g.questions.Display, MachineName: g.hub.NameOf,
	})
	g.schedules = cron.New(cron.Options{
		Stores: cron.Stores{
			Jobs: g.store.Jobs, Heartbeats: g.store.Heartbeats, Runs: g.store.Runs, Messages: g.store.Messages, Questions: g.store.Questions, Calls: g.store.Calls,
		},
		Bus: g.bus, Chats: g.sessions.Chats, Messages: g.sessions.Messages, Runs: g.sessions.Runs, Trash: g.sessions.Trash, Config: g.config.Get, Ask: g.questions.Ask, HeartbeatFile: g.files.Heartbeat,
		Deliver: g.channels.Messenger.Deliver, LastActive: g.channels.Messenger.LastActive, PromptTokens: g.sessions.Prompts.Tokens,
	})
	g.config.OnChange(g.schedules.ConfigChanged)
	g.tools.Register(native.Tools(native.Services{
		Files: g.files, Config: g.config, Chats: g.sessions.Chats, History: g.sessions.History, Messages: g.sessions.Messages, Machines: g.hub.Calls, Watch: g.bus, Cron: cron.Tool(g.schedules), Transfer: g.sending.Tool,
		Message: g.channels.Messenger.Tool, Published: g.services, Node: g.hub.Node, Probe: g.probe, Provisioning: g.rented, Networks: g.hub.Networks,
	})...)
	g.tools.Register(g.servers.Toolbox().FindTools())
	for _, load := range []func(context.Context) error{g.sessions.Load, g.channels.Load, g.schedules.Load} {
		if err := load(ctx); err != nil {
			return err
		}
	}
	return nil
}

// openSurface builds the server of the WebSocket protocol.
func (g *Gateway) openSurface(o Options) {
	fixed := protocol.Status{Version: Version, StartedAt: g.startedAt.UnixMilli(), SecretStore: g.secrets.Where(), Home: g.home}
	if g.listener != nil {
		fixed.Listen = g.listener.Addr().String()
	}
	g.status = &status{fixed: fixed, config: g.config, runs: g.sessions.Runs, bus: g.bus, problems: g.addresses.Problems}
	g.sessions.Runs.OnPause(g.status.publish)
	g.config.OnChange(g.status.configChanged)
	web := rpc.Web{Programs: g.programs(o), Ready: g.ready.IsReady, Site: g.site, CheckOrigin: auth.Origins{Listener: g.listenAddr(), Config: g.config.Get}.Check}
	if g.install != nil {
		web.Install = g.install
	}
	g.server = rpc.New(rpc.Services{
		Version: Version, Bus: g.bus, Status: g.status.current, Verify: g.tokens.Verify, Web: web, Connections: g.conns,
		Sessions: rpc.Sessions{
			Chats: g.sessions.Chats, History: g.sessions.History, Runs: g.sessions.Runs, Editor: g.sessions.Editor, Trash: g.sessions.Trash,
			Messages: g.sessions.Messages, Canonical: g.sessions.Chats.Canonical,
		},
		Calls: rpc.Calls{
			Tools: g.calls, Results: g.calls, Registry: g.tools, Transfers: g.sending,
			ExecEvent: background.New(background.Options{
				Calls: g.store.Calls, Runs: g.store.Runs, Chats: g.sessions.Runs, Channels: g.channels.Answers, Programs: g.commands, Keeper: g.keeper,
			}).Event,
		},
		Questions: rpc.Questions{Queue: g.questions, Display: g.questions.Display},
		Records:   rpc.Records{Journal: g.store.Calls, Audit: g.audit, Usage: g.usage.Report},
		Programs:  rpc.Programs{Apps: g.apps, Catalog: g.catalog, Commands: g.commands, Verify: bearer.Site{Config: g.config.Get}.VerifyWhileEnabled(g.access.Verify, resourcePath)},
		Rules:     g.rules, Config: g.config, Models: g.models, LocalModels: g.local, Files: g.files, Skills: g.skills, Schedules: g.schedules, Channels: g.channels,
		Transfers: g.transfers, Nodes: g.hub, Devices: g.devices, Provisioning: g.rented, Servers: g.servers, Tunnels: g.tunnels, Forwards: g.forwards, Terminals: g.terminals,
		Published: rpc.Published{Services: g.services, Visits: g.visits, Site: g.site},
		Exposures: exposure.List{
			network.Own{Addr: g.listenAddr(), Uses: g.uses}, g.network, g.addresses, g.site, g.forwards, g.tokens, g.apps, pairing.Devices{Paired: g.devices, MachineName: g.hub.NameOf}, g.channels.Accounts, g.sessions.Chats, g.rules,
		},
	})
}
