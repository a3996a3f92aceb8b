package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/approval"
	"fairlead/gateway/apps"
	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/channel"
	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/event"
	"fairlead/gateway/exposure"
	"fairlead/gateway/forward"
	"fairlead/gateway/journal"
	"fairlead/gateway/llm/local"
	"fairlead/gateway/llm/registry"
	"fairlead/gateway/network"
	"fairlead/gateway/nodes"
	"fairlead/gateway/pairing"
	"fairlead/gateway/pairing/install"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/lock"
	"fairlead/gateway/peer/logfile"
	"fairlead/gateway/protocol"
	"fairlead/gateway/provision"
	"fairlead/gateway/question"
	"fairlead/gateway/servers"
	"fairlead/gateway/service"
	"fairlead/gateway/service/address"
	"fairlead/gateway/session"
	"fairlead/gateway/signin"
	"fairlead/gateway/skills"
	"fairlead/gateway/store"
	"fairlead/gateway/surface/mcp"
	"fairlead/gateway/surface/rpc"
	"fairlead/gateway/terminal"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/job"
	"fairlead/gateway/transfer"
	"fairlead/gateway/tunnel"
	"fairlead/gateway/usage"
	"fairlead/gateway/workspace"
)

// TokenName is the gateway token's name in the secret store.
const TokenName = auth.TokenName

// Options configure a gateway. The zero value listens on DefaultListen and stores data in Home().
type Options struct {
	Home   string // data folder
	Listen string // host:port; port 0 means a free one, "none" means no listener
	Logger *slog.Logger
	// Node is the node that starts with the gateway: until it has connected, the gateway is not
	// ready. It is empty without one. Ready, if set, is called once the gateway is ready.
	Node  protocol.NodeID
	Ready func()
	// ExtendMCP is for tests of the protocol: see [mcp.Options].
	ExtendMCP func(*sdk.Server) []string
}

// Gateway is an open gateway. Call Open, Run, StopRuns and Close once each, in this order.
type Gateway struct {
	home      string
	log       *slog.Logger
	lock      *lock.Lock
	store     *store.DB
	secrets   keychain.Store
	audit     journal.Audit
	config    *config.Store
	tokens    *auth.Tokens
	uses      *exposure.Uses
	bus       *event.Bus
	hub       *nodes.Hub
	questions *question.Queue
	calls     *tool.Pipeline
	keeper    *tool.Keeper
	rules     *approval.Rules
	tools     *tool.Registry
	models    *registry.Registry
	local     *local.Models
	usage     *usage.Meter
	sessions  *session.Sessions
	schedules *cron.Scheduler
	skills    *skills.Catalog
	files     *workspace.Files
	transfers *transfer.Engine
	sending   *transfer.Calls
	devices   *pairing.Manager
	rented    *provision.Manager
	conns     *rpc.Connections
	access    *apps.Access
	apps      *apps.Apps
	servers   *servers.Manager
	tunnels   *tunnel.Tunnels
	forwards  *forward.Forwards
	terminals *terminal.Terminals
	shown     *serviceTerminals
	services  *service.Services
	visits    *service.Visits
	site      *service.Site
	signIn    *signin.SignIn
	addresses *address.Addresses
	catalog   *catalog.Catalog
	jobs      *job.Jobs
	commands  *job.Commands
	mcp       *mcp.Server
	install   *install.Server // nil if the path of this program is unknown
	network   *network.Listener
	channels  *channel.Hub
	server    *rpc.Server
	listener  net.Listener // nil if there is no listener
	memory    net.Listener
	dial      func(context.Context) (net.Conn, error)
	startedAt time.Time
	stopOnce  sync.Once
	ready     *nodes.Readiness

	status *status
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

// listenAddr returns the listener's address; nil without a listener.
func (g *Gateway) listenAddr() *net.TCPAddr {
	if g.listener == nil {
		return nil
	}
	at, _ := g.listener.Addr().(*net.TCPAddr)
	return at
}

// Home returns the data folder, LogDir its folder for logs, and SecretsAt the place of the secrets.
func (g *Gateway) Home() string      { return g.home }
func (g *Gateway) LogDir() string    { return LogDir(g.home) }
func (g *Gateway) SecretsAt() string { return g.secrets.Where() }

// Version and Commit are set by the linker; builds without it take them from the build information.
// Version is a number such as 0.1.0, or "dev".
var Version, Commit string

func init() {
	info, ok := debug.ReadBuildInfo()
	if Version == "" {
		Version = "dev"
		if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
			Version = info.Main.Version
		}
	}
	if ok && Commit == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				Commit = s.Value[:min(len(s.Value), 8)]
			}
		}
	}
}

// VersionText returns the version with the commit, for --version.
func VersionText() string {
	if Commit == "" {
		return Version
	}
	return Version + " (" + Commit + ")"
}

// Defaults of the listener. The port is that of GSV.
const (
	DefaultListen = "127.0.0.1:8787"
	DefaultURL    = "ws://" + DefaultListen + "/ws"
)

// Home returns the folder for all data; see [keychain.Home].
func Home() (string, error) { return keychain.Home() }

// LogDir returns the folder for logs in a data folder.
func LogDir(home string) string { return filepath.Join(home, "logs") }

// ErrInUse is returned when another gateway uses the same data folder.
var ErrInUse = errors.New("another Fairlead uses this data folder")

// lockHome locks a data folder for one gateway, until the lock is released or the process ends in
// any way.
func lockHome(home string) (*lock.Lock, error) {
	l, err := lock.Acquire(filepath.Join(home, "gateway.lock"), fmt.Sprintf("a gateway (process %d)", os.Getpid()))
	var held *lock.HeldError
	switch {
	case errors.As(err, &held):
		return nil, fmt.Errorf("%w: %s. Use the one that runs, or give this one another with --home", ErrInUse, home)
	case err != nil:
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	return l, nil
}

// OpenLog opens a rotating log file in home's log folder. It is safe for concurrent use.
func OpenLog(home, name string) (io.WriteCloser, error) { return logfile.Open(LogDir(home), name) }

// ClientParams returns the connect parameters of a client with the given ID.
func ClientParams(id string) protocol.ConnectParams {
	return protocol.ConnectParams{
		MinProtocol: protocol.Version, MaxProtocol: protocol.Version,
		Client: protocol.ClientInfo{ID: id, Version: Version, Platform: runtime.GOOS, Mode: protocol.ModeClient},
	}
}
