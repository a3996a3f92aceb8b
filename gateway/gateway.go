package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
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
	"fairlead/gateway/pairing"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/protocol/secret"
	"fairlead/gateway/protocol/tool"
	"fairlead/gateway/rpc"
	"fairlead/gateway/session"
	"fairlead/gateway/skills"
	"fairlead/gateway/store"
	"fairlead/gateway/transfer"
	"fairlead/gateway/workspace"
)

// TokenName is the gateway token's name in the secret store.
const TokenName = auth.TokenName

// Options say how a gateway is set up. The zero value listens on DefaultListen with data in Home().
type Options struct {
	Home   string // data folder
	Listen string // host:port; port 0 takes a free one, "none" listens nowhere
	Logger *slog.Logger
}

// Gateway is a gateway that is open. Open, Run, StopRuns, Close: each once, in this order.
type Gateway struct {
	home      string
	log       *slog.Logger
	lock      *os.File
	store     *store.Store
	secrets   secret.Store
	config    *config.Store
	tokens    *auth.Tokens
	bus       *event.Bus
	hub       *nodes.Hub
	gate      *approval.Gate
	calls     *dispatch.Dispatcher
	sessions  *session.Manager
	schedules *cron.Scheduler
	skills    *skills.Catalog
	files     *workspace.Files
	transfers *transfer.Engine
	devices   *pairing.Manager
	install   http.Handler // node programs for other machines; nil when the system does not say where this program lies
	network   *network
	channels  *channel.Hub
	server    *rpc.Server
	listener  net.Listener // nil when it listens nowhere
	memory    net.Listener
	dial      func(context.Context) (net.Conn, error)
	startedAt time.Time
	mainName  atomic.Pointer[string] // of the main chats, as it was last seen
	stopOnce  sync.Once
}

// Open builds a gateway. It reads the data folder, the keychain and binds the address, but serves nobody before Run.
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
			return g, fmt.Errorf("listen on %s: %w. Is another Fairlead running? Give another address with --listen", o.Listen, err)
		}
	}
	if g.store, err = store.Open(ctx, filepath.Join(o.Home, "fairlead.db")); err != nil {
		return g, err
	}
	g.secrets = secret.Open(o.Home)
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
	if _, err := files.Of(protocol.MainAgent); err != nil { // the others are made when they are first used
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
	g.transfers = transfer.New(transfer.Options{Store: g.store, Bus: g.bus, Machines: g.hub, Folders: files.Transfer, Unfinished: filepath.Join(o.Home, "unfinished", "gsv")})
	tools := native.New(g.hub, native.Services{
		Files: files, Transfer: g.transfers.Tool, Config: g.config, Watch: g.bus, Extra: []tool.Tool{g.schedules.Tool()},
		Message: g.message,
	})
	rules, err := approval.OpenRules(ctx, g.store, func() config.ToolApproval { return g.config.Get().ToolApproval })
	if err != nil {
		return g, err
	}
	rules.OnChange(func() { g.bus.Publish(protocol.Change{Kind: protocol.ChangeRules}) })
	calls := dispatch.New(tools, g.gate, rules, g.store, g.bus, g.config.Get)
	g.calls = calls
	if err := calls.Load(ctx); err != nil {
		return g, err
	}
	models := registry.New(modelSettings{g.config}, filepath.Join(o.Home, "models.json"))
	g.sessions = session.New(session.Options{
		Store: g.store, Bus: g.bus, Tools: calls, Questions: g.gate, Models: models, Files: files,
		Nodes: g.hub.Nodes, Config: g.config.Get, Home: o.Home, Transcribe: g.transcribe,
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
		Transfers: g.transfers, StartTransfer: g.startTransfer,
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

// Run serves until ctx ends. What an earlier start left is taken up once the node of this process has had a moment to connect.
func (g *Gateway) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	serve := func(l net.Listener, owner bool) {
		wg.Go(func() {
			if err := g.server.Serve(ctx, l, owner); err != nil {
				cancel(fmt.Errorf("serve: %w", err))
			}
		})
	}
	serve(g.memory, true)
	if g.listener != nil {
		serve(g.listener, false)
	}
	wg.Go(func() { g.network.run(ctx) })
	wg.Go(func() { g.calls.Watch(ctx) })
	var head sync.WaitGroup
	headCtx, headEnd := context.WithCancel(context.WithoutCancel(ctx))
	head.Go(func() { g.keepHead(headCtx) })
	defer head.Wait() // after the last call is in the log
	defer headEnd()
	resumed := make(chan struct{})
	wg.Go(func() { g.schedules.Run(ctx, resumed) })
	wg.Go(func() { g.watchFiles(ctx) })
	wg.Go(func() { g.transfers.Run(ctx) })
	wg.Go(func() { g.channels.Run(ctx) })
	wg.Go(func() {
		defer close(resumed)
		g.awaitNode(ctx)
		if err := g.sessions.Resume(ctx); err != nil && ctx.Err() == nil {
			g.log.Error("Runs of an earlier start could not be taken up", "err", err)
		}
		// Whatever was asked since this start has somebody who waits for it, a schedule or a client, also without a run.
		asked := func(a protocol.Approval) bool {
			return a.CreatedAt >= g.startedAt.UnixMilli() || g.sessions.OpenRun(a.RunID)
		}
		if err := g.gate.CancelOrphans(ctx, asked); err != nil && ctx.Err() == nil {
			g.log.Error("Questions of an earlier start could not be closed", "err", err)
		}
	})
	<-ctx.Done()
	g.StopRuns(context.WithoutCancel(ctx))
	g.transfers.Close()
	g.server.Close()
	wg.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// resumeWait is how long runs of an earlier start wait for a machine to come online before they go on without it.
const resumeWait = 3 * time.Second

// awaitNode waits until some machine is online, but not long.
func (g *Gateway) awaitNode(ctx context.Context) {
	sub := g.bus.Subscribe()
	defer sub.Close()
	ctx, cancel := context.WithTimeout(ctx, resumeWait)
	defer cancel()
	for _, n := range g.hub.Nodes() {
		if n.Online {
			return
		}
	}
	if open, err := g.store.OpenRuns(ctx); err == nil && len(open) == 0 {
		return
	}
	for c := range sub.All(ctx) {
		if c.Kind == protocol.ChangeNode && c.Node.Online {
			return
		}
	}
}

// StopRuns stops what the agent does, so that the next start can take it up. The node must still be there: its commands are ended
// through it.
func (g *Gateway) StopRuns(ctx context.Context) {
	g.stopOnce.Do(func() {
		done := make(chan struct{})
		go func() {
			g.sessions.Close()
			close(done)
		}()
		select {
		case <-done:
		case <-ctx.Done():
			g.log.Warn("Runs did not stop in time")
		}
	})
}

// Close releases everything. Run must have returned.
func (g *Gateway) Close(context.Context) error { return g.release() }

func (g *Gateway) release() error {
	var errs []error
	for _, l := range []net.Listener{g.listener, g.memory} {
		if l != nil {
			if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				errs = append(errs, err)
			}
		}
	}
	if g.store != nil {
		errs = append(errs, g.store.Close())
	}
	if g.lock != nil {
		errs = append(errs, g.lock.Close())
	}
	return errors.Join(errs...)
}

// DialOwner connects inside this process, as the person themself. DialNode is the same way for this machine's node.
func (g *Gateway) DialOwner() func(context.Context) (net.Conn, error) { return g.dial }
func (g *Gateway) DialNode() func(context.Context) (net.Conn, error)  { return g.dial }

// URL is the gateway's WebSocket address; over memory when it listens nowhere.
func (g *Gateway) URL() string {
	if g.listener == nil {
		return "ws://memory/ws"
	}
	return "ws://" + g.listener.Addr().String() + "/ws"
}

// Home is the data folder, LogDir its logs, SecretsAt where secrets are.
func (g *Gateway) Home() string      { return g.home }
func (g *Gateway) LogDir() string    { return LogDir(g.home) }
func (g *Gateway) SecretsAt() string { return g.secrets.Where() }
