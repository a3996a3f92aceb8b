package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/channel"
	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/dispatch"
	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/pairing"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/lock"
	"fairlead/gateway/session"
	"fairlead/gateway/skills"
	"fairlead/gateway/store"
	"fairlead/gateway/surface/rpc"
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
	// Updating, when set, is told how far it is while Open brings the store of an earlier Fairlead up to date. It must not block.
	Updating func(Progress)
}

// Gateway is a gateway that is open. Open, Run, StopRuns, Close: each once, in this order.
type Gateway struct {
	home      string
	log       *slog.Logger
	lock      *lock.Lock
	store     *store.Store
	secrets   keychain.Store
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
		g.lock.Release()
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

// listenAddr is where the gateway listens; false when it does nowhere.
func (g *Gateway) listenAddr() (*net.TCPAddr, bool) {
	if g.listener == nil {
		return nil, false
	}
	at, ok := g.listener.Addr().(*net.TCPAddr)
	return at, ok
}

// Home is the data folder, LogDir its logs, SecretsAt where secrets are.
func (g *Gateway) Home() string      { return g.home }
func (g *Gateway) LogDir() string    { return LogDir(g.home) }
func (g *Gateway) SecretsAt() string { return g.secrets.Where() }
