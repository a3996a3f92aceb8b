// Package backend connects the windows to a gateway: to one that it starts in this process together
// with this computer's node, or to a remote one.
package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"fairlead/app/chats"
	"fairlead/app/computer"
	"fairlead/app/failure"
	"fairlead/app/feed"
	"fairlead/app/forwards"
	"fairlead/app/gateways"
	"fairlead/app/memory"
	"fairlead/app/preferences"
	"fairlead/gateway"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// Options select the gateway.
type Options struct {
	Home      string         // the data folder
	Workspace string         // the agent's folder on this computer; empty for that of the preferences
	Listen    string         // the gateway's address; empty for that of the preferences
	Join      string         // a remote gateway: its URL, or the pin of Peer; empty for one in this process
	Peer      *identity.Peer // the pairing that Join names; nil if Join is a URL
	Log       *slog.Logger
}

// Backend connects the windows to a gateway: a remote one, or one in this process with a node.
type Backend struct {
	Feed  *feed.Feed
	Chats *chats.Chats
	Prefs *preferences.Store
	// Gateways are the paired remote gateways that a window can be opened for.
	Gateways *gateways.Gateways
	// Forwards run as long as the program.
	Forwards *forwards.Forwards

	opts        Options
	log         *slog.Logger
	ctx         context.Context
	cancel      context.CancelFunc
	startCtx    context.Context    // cancelled when the program begins to exit
	cancelStart context.CancelFunc // cancels startCtx
	retries     chan struct{}      // holds a token when opening shall be retried
	ready       chan struct{}      // closed when gw or join is set, or when neither will be
	wg          crash.Group
	gw          *gateway.Gateway
	join        *client.Options                // set instead of gw for a remote gateway
	dial        atomic.Pointer[client.Options] // nil until the gateway can be reached
	gwWG        crash.Group
	stopGateway context.CancelFunc
	node        computer.Local
	stopTimeout time.Duration // time limit of Stop
}

// New reads the preferences. Start connects, and Stop ends everything; Prefs.Close comes before it.
func New(o Options) *Backend {
	ctx, cancel := context.WithCancel(context.Background())
	early, end := context.WithCancel(ctx)
	b := &Backend{
		Feed: feed.New(), Prefs: preferences.Open(preferences.Dir(o.Home, o.Join), o.Log), Gateways: gateways.New(early, o.Home, gateway.Version, o.Log),
		opts: o, log: o.Log, ctx: ctx, cancel: cancel, startCtx: early, cancelStart: end,
		retries: make(chan struct{}, 1), ready: make(chan struct{}), stopTimeout: stopTimeout,
	}
	switch {
	case o.Peer != nil:
		b.Feed = feed.NewRemote(o.Peer.Device)
	case o.Join != "":
		b.Feed = feed.NewRemote("")
	}
	b.Chats = chats.New(b.Feed)
	b.Forwards = forwards.New(func(list []forwards.Spec) {
		b.Prefs.Update(func(r *preferences.Preferences) { r.Forwards = list })
	}, func(text string) { b.Feed.Notify("warning", text) })
	return b
}

// Context ends with the backend.
func (b *Backend) Context() context.Context { return b.ctx }

// IsRemote reports whether the gateway is a remote one.
func (b *Backend) IsRemote() bool { return b.opts.Join != "" }

// GatewayName is the person's name for the remote gateway; empty for the local one.
func (b *Backend) GatewayName() string {
	if b.opts.Peer != nil {
		return b.opts.Peer.Name
	}
	return b.opts.Join
}

// Listen is the address at which the gateway in this process is reached; empty without one.
func (b *Backend) Listen() string {
	if b.gw == nil {
		return ""
	}
	return hostOf(b.gw)
}

// hostOf returns the host and port of a gateway's URL.
func hostOf(g *gateway.Gateway) string {
	return strings.TrimSuffix(strings.TrimPrefix(g.URL(), "ws://"), "/ws")
}

// StartGateways loads the paired gateways, in the background.
func (b *Backend) StartGateways() {
	b.wg.Go(func() {
		if err := b.Gateways.Start(b.startCtx); err != nil {
			b.log.Warn("Loading the remote gateways failed", "err", err)
		}
	})
}

// WriteCounts writes the number of pending questions, in the background, for the program that has
// opened this one's windows.
func (b *Backend) WriteCounts(w io.Writer) {
	b.wg.Go(func() { gateways.WriteCounts(w, b.Feed.Watch(b.Feed.Questions).Changes(b.ctx)) })
}

// OpenTerminal opens the connection of a viewer of a terminal.
func (b *Backend) OpenTerminal(ctx context.Context, p protocol.TerminalConnectParams) (*wire.Frames, protocol.Terminal, error) {
	o := b.dial.Load()
	if o == nil {
		return nil, protocol.Terminal{}, protocol.ErrNotConnected
	}
	return client.OpenTerminal(ctx, *o, p)
}

// ReleaseMemory returns unused memory to the system, in the background.
func (b *Backend) ReleaseMemory() { b.wg.Go(memory.Release) }

// Start starts everything in the background: the window does not wait for disk or network.
func (b *Backend) Start() {
	params := gateway.ClientParams("desktop-" + protocol.NewID())
	opts := client.Options{
		URL: "ws://memory/ws", Logger: b.log,
		Connect: func() protocol.ConnectParams { return params },
		OnUp:    func(context.Context, protocol.ConnectResult) { b.Feed.Connected() },
		OnDown:  b.Feed.Down,
		OnEvent: func(e protocol.EventFrame) { // those outside the feed
			var c protocol.FilesChange
			if e.Event == protocol.EventFiles && json.Unmarshal(e.Payload, &c) == nil {
				b.Feed.FilesChanged(c)
			}
		},
	}
	opts.Unfinished = stream.OpenUnfinished(filepath.Join(b.opts.Home, "unfinished", "here"))
	// dropped files are read with the person's own permissions
	opts.Files = stream.OpenNamed(stream.Disk{Dir: b.Workspace()}, opts.Unfinished, b.opts.Join)
	if b.opts.Join != "" {
		// never send this computer's own token to a remote gateway
		b.join = &client.Options{URL: b.opts.Join, Token: keychain.FromEnv().Reveal()}
	}
	b.wg.Go(func() {
		if !b.openGateway() {
			return
		}
		switch {
		case b.opts.Peer != nil:
			key, err := b.Gateways.Identity()
			if err != nil {
				b.Feed.Down(err)
				return
			}
			opts = client.Through(opts, b.Gateways.Peers, b.opts.Peer.ID(), key, discovery.Find)
		case b.join != nil:
			opts.URL, opts.Token = b.join.URL, b.join.Token
		default:
			opts.Dial = b.gw.Dial
		}
		c := client.New(opts)
		b.Feed.Use(c)
		b.dial.Store(&opts)
		b.Forwards.Use(opts, b.Prefs.Get().Forwards)
		b.wg.Go(func() {
			if err := b.Feed.Run(b.ctx); err != nil && b.ctx.Err() == nil {
				b.Feed.Down(err)
			}
		})
		if err := c.Run(b.ctx); err != nil && b.ctx.Err() == nil {
			b.Feed.Down(err)
		}
	})
}

// openGateway opens the gateway, again on each retry, and reports whether there is one.
func (b *Backend) openGateway() bool {
	defer close(b.ready)
	for b.join == nil {
		err := b.open()
		if err == nil {
			break
		}
		b.log.Error("The gateway did not start", "err", err)
		b.Feed.Down(failure.Explained(b.opts.Home, err))
		select {
		case <-b.retries:
		case <-b.startCtx.Done():
			return false
		}
	}
	return b.startCtx.Err() == nil
}

// Retry tries again after a failed start.
func (b *Backend) Retry() {
	select {
	case b.retries <- struct{}{}:
	default: // a retry is pending already
	}
}

// gatewayOptions returns the options of the gateway in this process, which is ready when the node of
// this computer is.
func (b *Backend) gatewayOptions(listen string) gateway.Options {
	return gateway.Options{Home: b.opts.Home, Listen: listen, Logger: b.log, Node: computer.NodeID()}
}

// open starts the gateway and the node in this process. If another gateway already runs on this
// data folder, the windows connect to that one.
func (b *Backend) open() error {
	listen := cmp.Or(b.opts.Listen, b.Prefs.Get().Listen, gateway.DefaultListen)
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
		b.Feed.Notify("warning", listen+" is used by another program. Until the next start, this gateway listens on "+hostOf(g)+".")
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
	if err := b.startNode(b.Workspace()); err != nil {
		b.log.Error("The node did not start", "err", err)
		b.Feed.Notify("error", "The agent's tools on this computer did not start: "+err.Error())
	}
	b.wg.Go(func() {
		b.Gateways.Nodes.Start(func() (node.Options, error) { return b.nodeOptions(cmp.Or(b.node.Dir(), b.Workspace())) })
	})
	return nil
}

// stopTimeout is the time limit of an orderly shutdown.
const stopTimeout = 5 * time.Second

// Stop stops the run, the node, the gateway and the store, in this order, and reports whether all
// of them stopped. Parts that exceed the limit are abandoned.
func (b *Backend) Stop() bool {
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
		b.Forwards.Close()
		b.node.Stop()
		b.Gateways.Nodes.Close()
		b.cancel()
		b.Feed.Close()
		b.wg.Wait()
		b.Gateways.Wait()
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
