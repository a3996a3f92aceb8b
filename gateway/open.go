package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/background"
	"fairlead/gateway/channel"
	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/dispatch"
	"fairlead/gateway/event"
	"fairlead/gateway/llm/registry"
	"fairlead/gateway/native"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/resident"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/session"
	"fairlead/gateway/skills"
	"fairlead/gateway/store"
	"fairlead/gateway/surface/rpc"
	"fairlead/gateway/transfer"
	"fairlead/gateway/workspace"
)

// Open builds a gateway. It opens the data folder and the keychain and binds the address, but
// serves nobody before Run. It also makes garbage collection less frequent, see [resident.Roomy].
func Open(ctx context.Context, o Options) (g *Gateway, err error) {
	if o.Home == "" {
		if o.Home, err = Home(); err != nil {
			return nil, err
		}
	}
	if o.Listen == "" {
		o.Listen = DefaultListen
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if err := os.MkdirAll(o.Home, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	resident.Roomy()
	g = &Gateway{home: o.Home, log: o.Logger, bus: new(event.Bus), startedAt: time.Now()}
	defer func() {
		if err != nil {
			if g.sessions != nil {
				g.sessions.Close()
			}
			g.release()
			g = nil
		}
	}()
	if g.lock, err = lockHome(o.Home); err != nil {
		return g, err
	}
	if o.Listen != "none" {
		if g.listener, err = net.Listen("tcp", o.Listen); err != nil {
			hint := ""
			if sys, ok := errors.AsType[*os.SyscallError](err); ok && sys.Syscall == "bind" {
				hint = ". Is another Fairlead running? Give another address with --listen"
			}
			return g, fmt.Errorf("listen on %s: %w%s", o.Listen, err, hint)
		}
	}
	if at, ok := g.listenAddr(); ok && !at.IP.IsLoopback() {
		o.Logger.Warn("This address is not encrypted. Other machines come in by: fairlead network on", "listen", at.String())
	}
	g.secrets = keychain.Open(o.Home)
	if g.store, err = store.Open(ctx, filepath.Join(o.Home, "fairlead.db")); err != nil {
		return g, err
	}
	if g.tokens, err = auth.OpenTokens(g.secrets); err != nil {
		return g, err
	}
	var problems []error
	if g.config, problems, err = config.Open(ctx, g.store, g.secrets); err != nil {
		return g, err
	}
	for _, p := range problems {
		g.log.Warn("A setting is left out", "err", p)
	}
	g.hub = nodes.New(g.bus, g.store)
	if err := g.hub.Load(ctx); err != nil {
		return g, err
	}
	if err := g.openDevices(ctx); err != nil {
		return g, err
	}
	g.gate = approval.New(g.store, g.bus)
	files := workspace.NewFiles(o.Home)
	g.files = files
	files.Know(func(id protocol.AgentID) bool { return g.config.Get().Agents.Has(id) })
	// the others are created at their first use
	if _, err := files.Of(protocol.MainAgent); err != nil {
		return g, err
	}
	g.skills = skills.New(skills.Options{Files: files, Nodes: g.hub.Nodes, Has: g.hub.HasProgram, HasVariable: g.hub.HasVariable, Config: g.config.Get, Set: g.config.Set})
	files.ListSkills(g.skills.Prompt)
	files.OnWrite(func(path string) { g.skills.Changed([]string{path}) })
	g.channels = channel.New(channel.Options{Store: g.store, Bus: g.bus, Secrets: g.secrets, Config: g.config.Get, Set: g.config.Set, Files: files, Drivers: drivers()})
	g.schedules = cron.New(cron.Options{
		Store: g.store, Bus: g.bus, Config: g.config.Get, Deliver: g.deliver, LastActive: g.lastActive, Ask: g.gate.Ask,
		HeartbeatFile: g.heartbeatFile,
	})
	g.transfers = transfer.New(transfer.Options{Store: g.store, Bus: g.bus, Machines: g.hub, Folders: files.Transfer, Meet: g.network.meet, Unfinished: filepath.Join(o.Home, "unfinished", "gsv")})
	tools := native.New(g.hub, native.Services{
		Files: files, Transfer: g.transfers.Tool, Config: g.config, Watch: g.bus, Extra: []toolkit.Tool{g.schedules.Tool()},
		Message: g.message,
	})
	rules, err := approval.OpenRules(ctx, g.store, func() config.ToolApproval { return g.config.Get().ToolApproval })
	if err != nil {
		return g, err
	}
	rules.Name(func(id protocol.NodeID) string {
		n, _ := g.hub.Node(id)
		return n.Name
	})
	rules.OnChange(func() { g.bus.Publish(protocol.Change{Kind: protocol.ChangeRules}) })
	calls := dispatch.New(tools, g.gate, rules, g.store, g.bus, g.config.Get)
	g.calls = calls
	if err := calls.Load(ctx); err != nil {
		return g, err
	}
	models := registry.New(modelSettings{g.config}, filepath.Join(o.Home, "models.json"))
	g.sessions = session.New(session.Options{
		Store: g.store, Bus: g.bus, Tools: calls, Questions: g.gate, Models: models, Files: files,
		Nodes: g.hub.Nodes, Config: g.config.Get, Home: o.Home, Transcribe: g.transcribe, Stopped: g.tellStatus,
	})
	tools.Serve(g.sessions)
	if err := g.sessions.Load(ctx); err != nil {
		return g, err
	}
	g.guardTransfers(rules.Version)
	if err := g.transfers.Load(ctx); err != nil {
		return g, err
	}
	g.channels.Serve(g.sessions, g.route)
	g.gate.Reach(g.reach)
	if err := g.channels.Load(ctx); err != nil {
		return g, err
	}
	g.schedules.Serve(g.sessions)
	if err := g.schedules.Load(ctx); err != nil {
		return g, err
	}
	g.server = rpc.New(rpc.Services{
		Version: Version, Bus: g.bus, Sessions: g.sessions, Tools: calls, Nodes: tools, Approvals: g.gate, Config: g.config, Files: files, Journal: g.store, Rules: rules, Audit: auditLog{g.store, g.secrets},
		Models: models, Schedules: g.schedules, Skills: g.skills, Devices: g.devices, Install: g.install, Channels: g.channels,
		Transfers: g.transfers, StartTransfer: g.startTransfer, UndoTransfer: g.undoTransfer,
		Requested: g.sessions.Requested, Status: g.status, Pause: g.pause, Verify: g.tokens.Verify, CheckOrigin: g.checkOrigin, Canonical: g.sessions.Canonical,
		ExecEvent: background.New(g.store, chats{g}).Event,
	})
	g.devices.Serve(g.server.CloseDevice)
	g.dial, g.memory = client.Memory()
	name := g.config.Get().Session.MainName()
	g.mainName.Store(&name)
	g.config.OnChange(g.configChanged)
	return g, nil
}
