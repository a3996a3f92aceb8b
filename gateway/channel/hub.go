package channel

import (
	"context"
	"encoding/json"
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
	Files   *workspace.Files
	Drivers []Driver
}

// Hub manages all channels. It is safe for concurrent use. Call Load and Run, each once and in this
// order.
type Hub struct {
	*follower
	accountManager
	o      Options
	outbox *outbox
	rate   rateLimiter
	allow  sync.Mutex // held while an allowFrom is read and written
}

// New returns a hub.
func New(o Options) *Hub {
	r := &registry{o: o, drivers: make(map[string]Driver), accounts: make(map[string]*account)}
	r.outbox = &outbox{store: o.Store, senderOf: r.senderOf}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	for _, d := range o.Drivers {
		r.drivers[d.Kind().Channel] = d
	}
	h := &Hub{
		o: o, outbox: r.outbox,
		follower: &follower{store: o.Store, bus: o.Bus, outbox: r.outbox, senderOf: r.senderOf},
	}
	h.accountManager = accountManager{registry: r, change: make(channelMutex, 1), inbound: h.Inbound}
	return h
}

// Load restores the accounts and the runs of an earlier start. Nothing connects before Run.
func (h *Hub) Load(ctx context.Context) error {
	if err := h.registry.load(ctx); err != nil {
		return err
	}
	runs, err := h.o.Store.Channels.Runs(ctx)
	if err != nil {
		return err
	}
	for _, r := range runs {
		h.follower.runs.Store(r.Run, &following{ChannelRun: r, earlier: true})
	}
	return nil
}

// Run connects the accounts that were connected before and delivers answers until ctx is cancelled.
func (h *Hub) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, h.registry.cancel)
	defer stop()
	h.connectAll(ctx)
	h.follower.run(ctx)
	h.registry.close()
}

func now() int64 { return time.Now().UnixMilli() }
