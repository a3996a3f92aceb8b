package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/channel"
	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/event"
	"fairlead/gateway/llm/registry"
	"fairlead/gateway/network"
	"fairlead/gateway/nodes"
	"fairlead/gateway/pairing"
	"fairlead/gateway/pairing/install"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/lock"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session"
	"fairlead/gateway/skills"
	"fairlead/gateway/store"
	"fairlead/gateway/surface/rpc"
	"fairlead/gateway/tool"
	"fairlead/gateway/transfer"
	"fairlead/gateway/workspace"
)

// TokenName is the gateway token's name in the secret store.
const TokenName = auth.TokenName

// Options configure a gateway. The zero value listens on DefaultListen and stores data in Home().
type Options struct {
	Home   string // data folder
	Listen string // host:port; port 0 means a free one, "none" means no listener
	Logger *slog.Logger
}

// Gateway is an open gateway. Call Open, Run, StopRuns and Close once each, in this order.
type Gateway struct {
	home      string
	log       *slog.Logger
	lock      *lock.Lock
	store     *store.DB
	secrets   keychain.Store
	config    *config.Store
	tokens    *auth.Tokens
	bus       *event.Bus
	hub       *nodes.Hub
	gate      *approval.Manager
	calls     *tool.Pipeline
	rules     *approval.Rules
	tools     *tool.Registry
	models    *registry.Registry
	sessions  *session.Manager
	schedules *cron.Scheduler
	skills    *skills.Catalog
	files     *workspace.Files
	transfers *transfer.Engine
	devices   *pairing.Manager
	install   *install.Server // nil if the path of this program is unknown
	network   *network.Listener
	channels  *channel.Hub
	server    *rpc.Server
	listener  net.Listener // nil if there is no listener
	memory    net.Listener
	dial      func(context.Context) (net.Conn, error)
	startedAt time.Time
	stopOnce  sync.Once

	fixedStatus protocol.Status // the fields that do not change: version, start time, addresses and folders
}

// Close releases everything. Run must have returned.
func (g *Gateway) Close() error {
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
		g.lock.Release()
	}
	return errors.Join(errs...)
}

// Dial connects within this process, with the owner's rights. This machine's node uses it, too.
func (g *Gateway) Dial(ctx context.Context) (net.Conn, error) { return g.dial(ctx) }

// URL returns the gateway's WebSocket address; one for memory if there is no listener.
func (g *Gateway) URL() string {
	if g.listener == nil {
		return "ws://memory/ws"
	}
	return "ws://" + g.listener.Addr().String() + "/ws"
}

// listenAddr returns the listener's address; false if there is no listener.
func (g *Gateway) listenAddr() (*net.TCPAddr, bool) {
	if g.listener == nil {
		return nil, false
	}
	at, ok := g.listener.Addr().(*net.TCPAddr)
	return at, ok
}

// Home returns the data folder, LogDir its folder for logs, and SecretsAt the place of the secrets.
func (g *Gateway) Home() string      { return g.home }
func (g *Gateway) LogDir() string    { return LogDir(g.home) }
func (g *Gateway) SecretsAt() string { return g.secrets.Where() }
