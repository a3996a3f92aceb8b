package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"time"

	"fairlead/app/computer"
	"fairlead/app/memory"
	"fairlead/app/state"
	"fairlead/gateway"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// backend connects the windows to a gateway: a remote one, or one in this process with a node.
type backend struct {
	flags flags
	home  string
	log   *slog.Logger
	state *state.App
	prefs *prefs
	// remote are the paired remote gateways that a window can be opened for.
	remote *gateways

	ctx         context.Context
	cancel      context.CancelFunc
	startCtx    context.Context    // cancelled when the program begins to exit
	cancelStart context.CancelFunc // cancels early
	retries     chan struct{}      // holds a token when opening shall be retried
	ready       chan struct{}      // closed when gw or join is set, or when neither will be
	wg          crash.Group
	gw          *gateway.Gateway
	join        *client.Options // set instead of gw for a remote gateway
	gwWG        crash.Group
	stopGateway context.CancelFunc
	node        computer.Local
	stopTimeout time.Duration // time limit of stop
}

func newBackend(f flags, home string, log *slog.Logger) *backend {
	ctx, cancel := context.WithCancel(context.Background())
	early, end := context.WithCancel(ctx)
	return &backend{startCtx: early, cancelStart: end, retries: make(chan struct{}, 1), flags: f, home: home, log: log, state: newState(f), prefs: openPrefs(windowDir(home, f.join), log), remote: newGateways(early, home, log), ctx: ctx, cancel: cancel, ready: make(chan struct{}), stopTimeout: stopTimeout}
}

// newState returns the view models of the gateway that the flags select.
func newState(f flags) *state.App {
	switch {
	case f.peer != nil:
		return state.NewRemoteApp(f.peer.Device)
	case f.join != "":
		return state.NewRemoteApp("")
	}
	return state.NewApp()
}

// releaseMemory returns unused memory to the system, in the background.
func (b *backend) releaseMemory() { b.wg.Go(memory.Release) }

// start starts everything in the background: the window does not wait for disk or network.
func (b *backend) start() {
	params := gateway.ClientParams("desktop-" + protocol.NewID())
	opts := client.Options{
		URL: "ws://memory/ws", Logger: b.log,
		Connect: func() protocol.ConnectParams { return params },
		OnUp:    func(context.Context, protocol.ConnectResult) { b.state.Connected() },
		OnDown:  b.state.Down,
		OnEvent: func(e protocol.EventFrame) { // those outside the feed
			var c protocol.FilesChange
			if e.Event == protocol.EventFiles && json.Unmarshal(e.Payload, &c) == nil {
				b.state.FilesChanged(c)
			}
		},
	}
	opts.Unfinished = stream.OpenUnfinished(filepath.Join(b.home, "unfinished", "here"))
	// dropped files are read with the person's own permissions
	opts.Files = stream.OpenNamed(stream.Disk{Dir: b.workspace()}, opts.Unfinished, b.flags.join)
	if b.flags.join != "" {
		// never send this computer's own token to a remote gateway
		b.join = &client.Options{URL: b.flags.join, Token: keychain.FromEnv().Reveal()}
	}
	b.wg.Go(func() {
		if !b.openGateway() {
			return
		}
		switch {
		case b.flags.peer != nil:
			key, err := b.remote.identity()
			if err != nil {
				b.state.Down(err)
				return
			}
			opts = client.Through(opts, b.remote.peers, b.flags.peer.ID(), key, discovery.Find)
		case b.join != nil:
			opts.URL, opts.Token = b.join.URL, b.join.Token
		default:
			opts.Dial = b.gw.Dial
		}
		c := client.New(opts)
		b.state.Use(c)
		b.wg.Go(func() {
			if err := b.state.Run(b.ctx); err != nil && b.ctx.Err() == nil {
				b.state.Down(err)
			}
		})
		if err := c.Run(b.ctx); err != nil && b.ctx.Err() == nil {
			b.state.Down(err)
		}
	})
}

// openGateway opens the gateway, again on each retry, and reports whether there is one.
func (b *backend) openGateway() bool {
	defer close(b.ready)
	for b.join == nil {
		err := b.open()
		if err == nil {
			break
		}
		b.log.Error("The gateway did not start", "err", err)
		b.state.Down(explained(b.home, err))
		select {
		case <-b.retries:
		case <-b.startCtx.Done():
			return false
		}
	}
	return b.startCtx.Err() == nil
}

// retry tries again after a failed start.
func (b *backend) retry() {
	select {
	case b.retries <- struct{}{}:
	default: // a retry is pending already
	}
}

// gatewayOptions returns the options of the gateway in this process, which is ready when the node of
// this computer is.
func (b *backend) gatewayOptions(listen string) gateway.Options {
	return gateway.Options{Home: b.home, Listen: listen, Logger: b.log, Node: computer.NodeID()}
}

// open starts the gateway and the node in this process. If another gateway already runs on this
// data folder, the windows connect to that one.
func (b *backend) open() error {
	listen := cmp.Or(b.flags.listen, b.prefs.get().Listen, gateway.DefaultListen)
	g, err := gateway.Open(b.startCtx, b.gatewayOptions(listen))
	var taken *net.OpError
	switch {
	case errors.Is(err, gateway.ErrInUse):
		b.log.Info("Joining the gateway that already runs on this data folder")
		token, err := local{b}.Token()
		b.join = &client.Options{URL: "ws://" + listen + "/ws", Token: token}
		return err
	case errors.As(err, &taken):
		b.log.Warn("The listen address is in use, using another one", "listen", listen, "err", err)
		if g, err = gateway.Open(b.startCtx, b.gatewayOptions("127.0.0.1:0")); err != nil {
			return err
		}
		b.state.Notify("warning", listen+" is used by another program. Until the next start, this gateway listens on "+strings.TrimSuffix(strings.TrimPrefix(g.URL(), "ws://"), "/ws")+".")
	case err != nil:
		return err
	}
	b.gw = g
	gwCtx, noGw := context.WithCancel(context.Background())
	b.stopGateway = noGw
	b.gwWG.Go(func() {
		if err := g.Run(gwCtx); err != nil {
			b.log.Error("The gateway stopped", "err", err)
		}
	})
	if err := b.startNode(b.workspace()); err != nil {
		b.log.Error("The node did not start", "err", err)
		b.state.Notify("error", "The agent's tools on this computer did not start: "+err.Error())
	}
	b.wg.Go(func() {
		b.remote.nodes.Start(func() (node.Options, error) { return b.nodeOptions(cmp.Or(b.node.Dir(), b.workspace())) })
	})
	return nil
}

// stopTimeout is the time limit of an orderly shutdown.
const stopTimeout = 5 * time.Second

// stop stops the run, the node, the gateway and the store, in this order, and reports whether all
// of them stopped. Parts that exceed the limit are abandoned.
func (b *backend) stop() bool {
	done := make(chan struct{})
	b.cancelStart()
	crash.Go(func() {
		defer close(done)
		<-b.ready
		ctx, cancel := context.WithTimeout(context.Background(), b.stopTimeout)
		defer cancel()
		if b.gw != nil {
			b.gw.StopRuns(ctx)
		}
		b.node.Stop()
		b.remote.nodes.Close()
		b.cancel()
		b.state.Close()
		b.wg.Wait()
		b.remote.wg.Wait()
		if b.gw != nil {
			b.stopGateway()
			b.gwWG.Wait()
			if err := b.gw.Close(); err != nil {
				b.log.Error("Closing the store failed", "err", err)
			}
		}
	})
	select {
	case <-done:
		return true
	case <-time.After(b.stopTimeout):
		b.log.Warn("Shutdown timed out; confirmed data is stored")
		return false
	}
}
