package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/workspace"
)

// Sessions are the conversations that receive the messages.
type Sessions interface {
	Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error)
	// Command runs a text as a command, if it is one and p may use commands. ok is false if the
	// text is for the agent.
	Command(ctx context.Context, p auth.Principal, key protocol.SessionKey, text string, withFiles bool) (res protocol.ChatSendResult, ok bool)
	Get(ctx context.Context, in protocol.SessionParams) (protocol.SessionGetResult, error)
	Patch(ctx context.Context, in protocol.SessionPatchParams) (protocol.OK, error)
}

// Route returns the agent and the session key of a message. id is the sender's in direct messages,
// otherwise the conversation's.
type Route func(channel, account, kind, id string) (protocol.AgentID, protocol.SessionKey)

// Files are the agents' workspaces.
type Files interface {
	Read(agent protocol.AgentID, name string) (*workspace.File, *workspace.Listing, error)
	Write(agent protocol.AgentID, name string, data []byte) (string, error)
}

// Options configure a hub. All fields except Drivers are required.
type Options struct {
	Store    *store.DB
	Bus      *event.Bus
	Sessions Sessions
	Route    Route
	Secrets  keychain.Store
	Config   func() config.Config
	// Set changes the configuration.
	Set     func(ctx context.Context, path string, value json.RawMessage) error
	Files   Files
	Drivers []Driver
}

// Hub manages all channels. It is safe for concurrent use. Call Load and Run, each once and in this
// order.
type Hub struct {
	*follower
	*strangers
	o       Options
	outbox  *outbox
	rate    rateLimiter
	drivers map[string]Driver

	ctx           context.Context // cancelled when Run ends
	cancel        context.CancelFunc
	wg            sync.WaitGroup
	accountChange channelMutex // held while an account changes, so that starts and stops are serialized

	mu       sync.Mutex // guards the fields below
	closed   bool
	accounts map[string]*account // by CHANNEL:ACCOUNT
}

// account is one account of a channel, of a driver or of a connection over the network.
type account struct {
	channel, id string
	config      Config // without secrets; nil for an account over the network
	driver      Driver // nil for an account over the network
	stop        context.CancelFunc
	done        chan struct{} // closed when the driver's goroutine has ended; nil while none runs

	sender        *sender // nil while not connected
	connectedAt   int64
	lastMessage   int64
	authenticated bool
	err           string
	loginFailed   bool // the login failed: a person must act
	retryAt       int64
	extra         map[string]any
}

func key(channel, account string) string { return channel + ":" + account }

// New returns a hub.
func New(o Options) *Hub {
	h := &Hub{
		o: o, drivers: make(map[string]Driver), accounts: make(map[string]*account), rate: rateLimiter{counts: make(map[string]*count)}, accountChange: make(channelMutex, 1),
	}
	h.outbox = &outbox{store: o.Store, senderOf: h.senderOf, waiters: make(map[string]chan delivery)}
	h.follower = &follower{store: o.Store, bus: o.Bus, outbox: h.outbox, senderOf: h.senderOf, runs: make(map[protocol.RunID]*following)}
	h.strangers = &strangers{o: o, outbox: h.outbox, changed: h.publishChange}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	for _, d := range o.Drivers {
		h.drivers[d.Kind().Channel] = d
	}
	return h
}

// Load restores the accounts and the runs of an earlier start. Nothing connects before Run.
func (h *Hub) Load(ctx context.Context) error {
	accounts, err := h.o.Store.Channels.Accounts(ctx)
	if err != nil {
		return err
	}
	seen, err := h.o.Store.Channels.ReceivedAt(ctx)
	if err != nil {
		return err
	}
	runs, err := h.o.Store.Channels.Runs(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range accounts {
		if d := h.drivers[a.Channel]; d != nil {
			k := key(a.Channel, a.Account)
			h.accounts[k] = &account{channel: a.Channel, id: a.Account, config: a.Config, driver: d, lastMessage: seen[k]}
		}
	}
	for _, r := range runs {
		h.follower.add(&following{ChannelRun: r, earlier: true})
	}
	return nil
}

// Run connects the accounts that were connected before and delivers answers until ctx is cancelled.
func (h *Hub) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, h.cancel)
	defer stop()
	h.connectAll(ctx)
	h.follower.run(ctx)
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.wg.Wait()
}

// channelMutex is a mutex made of a channel. Goroutines that wait for a channel let the clock of a
// testing/synctest bubble advance.
type channelMutex chan struct{}

func (l channelMutex) Lock()   { l <- struct{}{} }
func (l channelMutex) Unlock() { <-l }

// connectAll connects the accounts that were connected before. It skips accounts that were started
// meanwhile, and blocks starts and stops while it runs.
func (h *Hub) connectAll(ctx context.Context) {
	h.accountChange.Lock()
	defer h.accountChange.Unlock()
	accounts, err := h.o.Store.Channels.Accounts(ctx)
	if err != nil && ctx.Err() == nil {
		slog.Error("Reading the channel accounts failed; no channel is connected", "err", err)
	}
	for _, a := range accounts {
		if a.Autostart && h.drivers[a.Channel] != nil && !h.isManaged(a.Channel, a.Account) {
			if err := h.connect(ctx, a.Channel, a.Account); err != nil {
				slog.Warn("Connecting a channel failed", "channel", a.Channel, "account", a.Account, "err", err)
			}
		}
	}
}

// goTracked runs f in a goroutine that Run waits for. It returns false when the hub has stopped.
func (h *Hub) goTracked(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.wg.Go(f)
	return true
}

// publishChange publishes that a channel's state has changed.
func (h *Hub) publishChange(channel string) {
	h.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeChannels, Path: channel})
}

// setOnline registers that an account can send over t, closes its earlier connection, and starts to
// deliver the outbox.
func (h *Hub) setOnline(a *account, t Transport, extra map[string]any) *sender {
	l := newSender(h, a, t)
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return l
	}
	old := a.sender
	a.sender, a.connectedAt, a.authenticated, a.err, a.extra, a.retryAt = l, time.Now().UnixMilli(), true, "", extra, 0
	h.wg.Go(l.run)
	h.mu.Unlock()
	if old != nil {
		old.cancel()
	}
	slog.Info("Channel connected", "channel", a.channel, "account", a.id)
	h.publishChange(a.channel)
	return l
}

// setOffline registers that the line l has closed, the error, and the delay before the next
// connection.
func (h *Hub) setOffline(a *account, l *sender, err error, retry time.Duration) {
	if l != nil {
		l.cancel()
	}
	h.mu.Lock()
	if a.sender == l {
		a.sender = nil
	}
	a.err, a.loginFailed, a.retryAt = "", false, 0
	if err != nil {
		a.err = err.Error()
		if a.loginFailed = errors.Is(err, ErrLogin); a.loginFailed {
			a.authenticated = false
		} else {
			// Round up to seconds for display.
			a.retryAt = time.Now().Add(retry + time.Second - 1).Truncate(time.Second).UnixMilli()
		}
	}
	h.mu.Unlock()
	h.publishChange(a.channel)
}

// senderOf returns an account's line, or nil.
func (h *Hub) senderOf(channel, account string) *sender {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.accounts[key(channel, account)]; a != nil {
		return a.sender
	}
	return nil
}

func now() int64 { return time.Now().UnixMilli() }

// secretName returns the name under which an account's secret setting is stored.
func secretName(channel, account, field string) string {
	return fmt.Sprintf("channel-%s-%s-%s", channel, account, field)
}
