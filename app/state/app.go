package state

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// View is the state of the whole gateway. Its slices must not be changed.
type View struct {
	Connected bool
	// Problem is the reason why there is no connection. It is empty while connected and during the
	// first attempt.
	Problem   string
	Loaded    bool // the first snapshot has arrived
	Status    protocol.Status
	Sessions  []protocol.SessionEntry // newest activity first
	Nodes     []protocol.NodeInfo     // online first, then by name
	Approvals []protocol.Approval     // pending and not being answered here, oldest first
	Runs      []protocol.RunInfo      // active runs, and the latest failed run of each chat
	Calls     []protocol.CallInfo
	Transfers []protocol.Transfer // unfinished, oldest first
	Notice    *protocol.Notice    // the latest notice
	// Closed are recently closed approvals, oldest first, for the windows that showed them.
	Closed []Closed
	// Finished are the transfers that succeeded or failed while this window was open, oldest first.
	Finished []protocol.Transfer
	// Models are the choices of the model menu in the header.
	Models []ModelChoice
	// Config, Devices and Ended count the changes of the configuration, of pairings, and of the
	// history of transfers.
	Config, Devices, Ended int
	// Skills and Channels count the changes of the agent's skills, and of channels and their
	// contacts.
	Skills, Channels int
	// Strangers is the number of people on channels who wait for access.
	Strangers int

	// RulesChanged counts the changes of the rules, FilesChanged those of the agents' files.
	RulesChanged, FilesChanged int

	// Elsewhere reports whether the gateway is remote. Device is the ID of this computer as a
	// paired device there, if it is one.
	Elsewhere bool
	Device    protocol.DeviceID

	answering map[protocol.ApprovalID]bool // approvals with an answer of this window on its way
}

// Closed is an approval that is no longer pending. Here reports whether this window answered it.
type Closed struct {
	protocol.Approval
	Here bool
}

// maxFinished is the number of finished transfers that are retained.
const maxFinished = 32

// maxClosed is the number of closed approvals that are retained.
const maxClosed = 32

// Working reports whether any run is in progress.
func (v View) Working() bool {
	for _, r := range v.Runs {
		if !r.Over() && r.State != protocol.RunQueued {
			return true
		}
	}
	return false
}

// Session finds a chat. For an unknown chat it returns an entry with its key, marked as the main
// chat if the gateway says so.
func (v View) Session(key protocol.SessionKey) (protocol.SessionEntry, bool) {
	for _, s := range v.Sessions {
		if s.SessionKey == key {
			return s, true
		}
	}
	return protocol.SessionEntry{SessionKey: key, Main: key == cmp.Or(v.Status.MainSession, protocol.MainSession)}, false
}

// Moved reports whether a key is the default key of the main chat while the gateway's main chat has
// another key: messages to the default key arrive in that chat.
func (v View) Moved(key protocol.SessionKey) bool {
	main := v.Status.MainSession
	if key != protocol.MainSession || main == "" || main == key {
		return false
	}
	e, known := v.Session(key)
	return !known || !e.Main || strings.HasPrefix(string(main), "agent:"+string(protocol.MainAgent)+":")
}

// App is the root of the view models. Its methods are safe for concurrent use.
type App struct {
	Value *Value[View]

	c      atomic.Pointer[client.Client] // nil until Use
	ctx    context.Context               // context of the actions
	cancel context.CancelFunc
	wg     sync.WaitGroup // counts running actions

	mu     sync.Mutex // guards the fields below
	chats  map[protocol.SessionKey]*Chat
	files  []*Files          // open pages of files
	drafts map[string]string // unsaved changes of the agent's files, by path
	// removed are the transfers that will be removed from the history unless the person undoes
	// that.
	removed map[protocol.TransferID]bool
	closed  bool
}

// NewApp creates the view models of a gateway. Use and Run start them. The client's OnUp and OnDown
// must call Connected and Down. Close stops everything.
func NewApp() *App {
	ctx, cancel := context.WithCancel(context.Background())
	return &App{Value: NewValue(View{}), ctx: ctx, cancel: cancel, chats: make(map[protocol.SessionKey]*Chat), removed: make(map[protocol.TransferID]bool)}
}

// Use sets the client. Until then actions fail as without a connection.
func (a *App) Use(c *client.Client) { a.c.Store(c) }

// From declares that the gateway is remote, and the device that this computer is there, if it is
// paired. Call it before Use.
func (a *App) From(device protocol.DeviceID) {
	a.Value.Update(func(v View) View {
		v.Elsewhere, v.Device = true, device
		return v
	})
}

// Close cancels the running actions and waits for them. No action starts afterwards.
func (a *App) Close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.cancel()
	a.wg.Wait()
}

// start runs f on a goroutine that Close waits for.
func (a *App) start(f func(context.Context)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.wg.Go(func() { f(a.ctx) })
	}
}

// Connected records that the gateway is connected.
func (a *App) Connected() {
	a.Value.Update(func(v View) View { v.Connected, v.Problem = true, ""; return v })
}

// Down records that the gateway is not connected, and why.
func (a *App) Down(err error) {
	problem := sentence(err)
	var final *client.FinalError
	if errors.As(err, &final) && errors.Is(err, protocol.ErrUnauthorized) {
		problem = a.unauthorized(err)
	}
	a.Value.Update(func(v View) View { v.Connected, v.Problem = false, problem; return v })
}

// unauthorized explains why the gateway refuses this window, and what to do. An unpaired window
// needs the right token. The person does not know the token of a paired one, so it shows the
// gateway's reason and suggests pairing again.
func (a *App) unauthorized(err error) string {
	var known *protocol.Error
	switch errors.As(err, &known); {
	case a.Value.Get().Device == "":
		return "The gateway refused this computer's token. Start Fairlead with the right one in FAIRLEAD_TOKEN."
	case known == nil || len(known.Details) == 0:
		return "The gateway does not take this computer's token any more."
	}
	return sentence(known) + ". Pair this computer anew to go on."
}

// sentence turns an error's text into a sentence.
func sentence(err error) string {
	s := strings.TrimSpace(err.Error())
	if s == "" {
		return "It did not work."
	}
	return protocol.Capital(s)
}

// Run follows the gateway until ctx ends or the gateway refuses the feed.
func (a *App) Run(ctx context.Context) error {
	c := a.c.Load()
	if c == nil {
		return protocol.ErrNotConnected
	}
	return c.Feed(ctx, a.snapshot, a.apply)
}

func (a *App) snapshot(s protocol.FeedSnapshot) {
	a.Value.Update(func(v View) View { return begin(v, s) })
	for _, c := range a.open() {
		c.reload()
	}
	a.loadModels()
	a.loadStrangers()
	a.resumeHere(s.Transfers)
}

func (a *App) open() []*Chat {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]*Chat, 0, len(a.chats))
	for _, c := range a.chats {
		list = append(list, c)
	}
	return list
}

// apply applies one change of the feed.
func (a *App) apply(c protocol.Change) {
	a.Value.Update(func(v View) View { return reduce(v, c) })
	switch c.Kind {
	case protocol.ChangeMessage, protocol.ChangeHistory:
		a.mu.Lock()
		chat := a.chats[c.SessionKey]
		a.mu.Unlock()
		if chat != nil {
			chat.apply(c)
		}
	case protocol.ChangeChannels:
		a.loadStrangers()
	case protocol.ChangeConfig:
		if top, _, _ := strings.Cut(c.Path, "."); top == "model" || top == "apiKeys" || top == "providers" {
			a.loadModels()
		}
	}
}

// rpcLimit is the timeout of an action.
const rpcLimit = 30 * time.Second

// Call calls a method and waits for its result. Forms use it through bind.Go.
func Call[P, R any](ctx context.Context, a *App, m protocol.Method[P, R], p P) (R, error) {
	c := a.c.Load()
	if c == nil {
		var zero R
		return zero, protocol.ErrUnavailable.With("not connected to the gateway yet")
	}
	return client.Call(ctx, c, m, p)
}

// act runs an action in the background; a failure becomes a notice.
func act[P, R any](a *App, m protocol.Method[P, R], p P) {
	a.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		if _, err := Call(ctx, a, m, p); err != nil {
			a.fail(err)
		}
	})
}

// fail shows the failure of an action, unless the program is exiting.
func (a *App) fail(err error) {
	if a.ctx.Err() == nil {
		a.Notify("error", sentence(err))
	}
}

// Notify shows a notice.
func (a *App) Notify(level, text string) {
	a.Value.Update(func(v View) View {
		v.Notice = &protocol.Notice{Level: level, Text: text, At: time.Now().UnixMilli()}
		return v
	})
}
