// Package channel lets people write to the agent from chat networks. A channel is either a program
// that connects over the WebSocket in the mode "channel" (docs/protocol.md#connections), or a
// [Driver] that runs inside the gateway. Both use the [Hub], which does the work that is common to
// all networks:
//
//   - access: open, allowlist or pairing, by sender or by group;
//   - routing: agent, session key (dmScope, identity links), media, reply, place and time in the
//     text;
//   - answers: each answer of a run is stored in the outbox first and sent until the network
//     accepts it, once, also after a restart;
//   - typing, pairing, the accounts with their settings (secrets in the keychain), and
//     reconnecting.
//
// The text that people write on a channel is input for the agent. It cannot answer approvals, and
// only the channel's owners can run commands, in direct messages. Calls that the agent makes
// because of it need the same approvals as all other calls, which are answered in a window.
//
// # Adding a channel
//
// Telegram, WhatsApp or Discord would be one package each, below this one, with a type that
// implements [Driver]:
//
//   - Kind names the channel and the settings of an account. Secret settings leave the keychain
//     only in [Account.Config].
//   - Connect makes one connection and serves it until it ends: it calls [Upstream.Online] with a
//     [Transport] when it can send, and [Upstream.Inbound] for each message; messages of one chat
//     must be passed one after the other. When Connect returns, the hub reconnects after an
//     increasing delay, unless the error is an [ErrLogin]: then the person must act.
//   - Login checks whether the account can log in, or begins a login; its result may contain a QR
//     code.
//   - Logout ends the login on the network. The hub deletes settings and secrets.
//
// A driver drops its own messages and old ones that the network repeats, sets WasMentioned in
// groups, and uses stable sender IDs: an ID that a stranger can choose or take over must not be a
// sender ID. The gateway's wiring passes the drivers to [New]; no other package knows them.
package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/workspace"
)

// Stores are the tables that channels use.
type Stores struct {
	Channels *store.Channels
	Outbox   *store.Outbox
	Runs     *store.Runs
	Messages *store.Messages
}

// Messages accepts what people write.
type Messages interface {
	Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error)
	// Command runs a text as a command, if it is one and p may use commands. ok is false if the
	// text is for the agent.
	Command(ctx context.Context, p auth.Principal, key protocol.SessionKey, text string, withFiles bool) (res protocol.ChatSendResult, ok bool)
}

// Chats are the chats that receive the messages.
type Chats interface {
	Get(ctx context.Context, in protocol.SessionParams) (protocol.SessionGetResult, error)
	Patch(ctx context.Context, in protocol.SessionPatchParams) (protocol.OK, error)
	// Route returns the agent and the session key of a message. id is the sender's in direct
	// messages, otherwise the conversation's.
	Route(channel, account, kind, id string) (protocol.AgentID, protocol.SessionKey)
}

// Options configure a hub. All fields except Drivers are required.
type Options struct {
	Stores   Stores
	Bus      *event.Bus
	Messages Messages
	Chats    Chats
	Secrets  keychain.Store
	Config   func() config.Config
	// Set changes the configuration.
	Set     func(ctx context.Context, path string, value json.RawMessage) error
	Files   *workspace.Files
	Drivers []Driver
	// Questions asks whether strangers may write.
	Questions Questions
	// Display records that a channel shows a question. MachineName returns the person's name of a
	// machine, or "".
	Display     Display
	MachineName func(protocol.NodeID) string
}

// Hub is all channels. Its parts are safe for concurrent use. Call Load and Run, each once and in
// this order.
type Hub struct {
	Accounts  *Accounts
	Programs  *Programs
	Senders   *Senders
	Inbox     *Inbox
	Answers   *Answers
	Messenger *Messenger
	registry  *registry
	reminder  *reminder
}

// New returns a hub.
func New(o Options) *Hub {
	channels := o.Stores.Channels
	r := newRegistry(channels, o.Bus, o.Drivers)
	box := &outbox{messages: o.Stores.Outbox, registry: r}
	r.outbox = box
	senders := &Senders{questions: o.Questions, bus: o.Bus, outbox: box, config: o.Config, set: o.Set}
	answers := &Answers{routes: channels, runs: o.Stores.Runs, messages: o.Stores.Messages, bus: o.Bus, outbox: box, registry: r}
	inbox := &Inbox{
		routes: channels, runs: o.Stores.Runs, messages: o.Messages, chats: o.Chats, config: o.Config, files: o.Files, senders: senders, answers: answers, outbox: box, registry: r,
	}
	messenger := &Messenger{routes: channels, outbox: box, registry: r, config: o.Config, files: o.Files}
	return &Hub{
		Accounts: &Accounts{registry: r, store: channels, outbox: o.Stores.Outbox, secrets: o.Secrets, senders: senders, inbox: inbox, change: make(channelMutex, 1)},
		Programs: &Programs{registry: r}, Senders: senders, Inbox: inbox, Answers: answers, registry: r,
		Messenger: messenger, reminder: &reminder{messenger, o.Bus, o.Config, o.Display, o.MachineName},
	}
}

// Load restores the accounts and the runs of an earlier start. Nothing connects before Run.
func (h *Hub) Load(ctx context.Context) error {
	if err := h.registry.load(ctx); err != nil {
		return err
	}
	if err := h.Senders.load(ctx); err != nil {
		return err
	}
	return h.Answers.load(ctx)
}

// Run connects the accounts that were connected before and delivers answers until ctx is cancelled.
func (h *Hub) Run(ctx context.Context) {
	defer crash.WhenDone(ctx, func() { h.registry.workers.Stop(nil) })()
	h.Accounts.connectAll(ctx)
	var wg crash.Group
	wg.Go(func() { crash.Forever(ctx, func() { h.reminder.run(ctx) }) })
	h.Answers.run(ctx)
	wg.Wait()
	h.registry.workers.Close(nil)
}

func now() int64 { return time.Now().UnixMilli() }

// Driver runs accounts of one kind of channel inside the gateway. It must be safe for concurrent
// use.
type Driver interface {
	// Kind returns the channel's name and the settings of its accounts. The result never changes.
	Kind() protocol.ChannelKind
	// Check validates an account's settings. Its errors are sentences for people.
	Check(Config) error
	// Connect connects an account and serves it until the connection closes or ctx is cancelled: it
	// calls Upstream.Online when it can send, and Upstream.Inbound for each message. Afterwards the
	// hub connects again, unless the error is an ErrLogin.
	Connect(ctx context.Context, a Account, up *Upstream) error
	// Login checks whether an account can log in, or begins a login; with force, a new one.
	Login(ctx context.Context, a Account, force bool) (LoginResult, error)
	// Logout ends a login on the network.
	Logout(ctx context.Context, a Account) error
}

// Account is one of a driver's accounts. Config contains its secrets, so it must not be logged or
// stored.
type Account struct {
	ID     string
	Config Config
}

// Config contains an account's settings by name.
type Config map[string]json.RawMessage

// Text returns a setting that is a text, or "".
func (c Config) Text(name string) string {
	var s string
	if json.Unmarshal(c[name], &s) != nil {
		return ""
	}
	return strings.TrimSpace(s)
}

// Texts returns a setting that is a list of texts, or one text with commas.
func (c Config) Texts(name string) []string {
	var list []string
	if json.Unmarshal(c[name], &list) != nil {
		list = strings.Split(c.Text(name), ",")
	}
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// LoginResult is the result of a login, or its next step.
type LoginResult struct {
	QRDataURL string // the QR code to scan
	Message   string
}

// Transport sends over a connection. One goroutine calls Send and another one Typing.
type Transport interface {
	// Send sends a message and returns when the network has accepted it, with the network's ID of
	// the message if it has one. An error that is ErrRefused is final; after any other error the
	// hub sends the message again later.
	Send(ctx context.Context, m protocol.ChannelOutbound) (messageID string, err error)
	// Typing sends the agent's typing state. It may be lost.
	Typing(ctx context.Context, t protocol.ChannelTyping) error
}

var (
	// ErrRefused is the error for a message that the network will never accept.
	ErrRefused = errors.New("refused")
	// ErrLogin is the error for an account that cannot log in with its settings: the person must
	// act.
	ErrLogin = errors.New("cannot log in")
)

// NewRefusal returns an ErrRefused with a reason.
func NewRefusal(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// Login returns an ErrLogin with a reason.
func Login(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrLogin, fmt.Sprintf(format, args...))
}
