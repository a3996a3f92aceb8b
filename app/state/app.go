package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// View is the whole gateway as the windows see it. Its slices must not be changed.
type View struct {
	Connected bool
	// Problem is why there is no connection, empty while there is one or it is being made for the first time.
	Problem string
	// Updating is how far the gateway's store is brought up to date, empty when it is not. Nothing can be done until then.
	Updating  string
	Loaded    bool // a first snapshot has arrived
	Status    protocol.Status
	Sessions  []protocol.SessionEntry // newest activity first
	Nodes     []protocol.NodeInfo     // online first, then by name
	Approvals []protocol.Approval     // open and not just being answered here, oldest first
	Runs      []protocol.RunInfo      // not over, and the last failed one of each chat
	Calls     []protocol.CallInfo
	Transfers []protocol.Transfer // not over, oldest first
	Notice    *protocol.Notice    // the last one
	// Closed are questions that ended lately, oldest first, for the windows that showed them.
	Closed []Closed
	// Finished are transfers that arrived or failed while this window looked, oldest first.
	Finished []protocol.Transfer
	// Models are what the header's menu offers.
	Models []ModelChoice
	// Config, Devices and Ended count changes of the configuration, of what is paired, and of the transfers' history.
	Config, Devices, Ended int
	// Skills and Channels count changes of the agent's skills and of channels and who writes there.
	Skills, Channels int
	// Strangers is how many people wait to be let in on channels.
	Strangers int

	// RulesChanged counts changes of the rules, FilesChanged those of the agents' files.
	RulesChanged, FilesChanged int

	// Elsewhere says that the gateway is on another computer than this window, and Device as which paired device this one is there, if it is one.
	Elsewhere bool
	Device    protocol.DeviceID

	answering map[protocol.ApprovalID]bool // an answer of this window is on its way
}

// Closed is a question that ended. Here says that this window answered it.
type Closed struct {
	protocol.Approval
	Here bool
}

// maxFinished is how many ended transfers are remembered.
const maxFinished = 32

// maxClosed is how many ended questions are remembered.
const maxClosed = 32

// Working reports whether something runs.
func (v View) Working() bool {
	for _, r := range v.Runs {
		if !r.Over() && r.State != protocol.RunQueued {
			return true
		}
	}
	return false
}

// Session finds a chat. One that nothing is known of yet has its key, and is the main one where the gateway says so.
func (v View) Session(key protocol.SessionKey) (protocol.SessionEntry, bool) {
	for _, s := range v.Sessions {
		if s.SessionKey == key {
			return s, true
		}
	}
	return protocol.SessionEntry{SessionKey: key, Main: key == cmp.Or(v.Status.MainSession, protocol.MainSession)}, false
}

// Moved reports whether the chat is what the main one is called by default, and the gateway's has another name: what is sent there arrives in that one.
func (v View) Moved(key protocol.SessionKey) bool {
	main := v.Status.MainSession
	if key != protocol.MainSession || main == "" || main == key {
		return false
	}
	e, known := v.Session(key)
	return !known || !e.Main || strings.HasPrefix(string(main), "agent:"+string(protocol.MainAgent)+":")
}

// App is the root of the view-models. Its methods are safe for use by many goroutines.
type App struct {
	Value *Value[View]

	c      atomic.Pointer[client.Client] // nil until Use
	ctx    context.Context               // of the actions
	cancel context.CancelFunc
	wg     sync.WaitGroup // of the actions

	mu     sync.Mutex // guards what follows
	chats  map[protocol.SessionKey]*Chat
	files  []*Files          // pages of files
	drafts map[string]string // of the agent's files, by path
	// removed are transfers that will be removed from the history, unless the person takes that back.
	removed map[protocol.TransferID]bool
	closed  bool
}

// NewApp makes the view-models of a gateway. Use and Run bring them to life; Connected and Down must be called by the client's OnUp
// and OnDown. Close ends them.
func NewApp() *App {
	ctx, cancel := context.WithCancel(context.Background())
	return &App{Value: NewValue(View{}), ctx: ctx, cancel: cancel, chats: make(map[protocol.SessionKey]*Chat), removed: make(map[protocol.TransferID]bool)}
}

// Use gives the client to speak through. Until then actions fail as without a connection.
func (a *App) Use(c *client.Client) { a.c.Store(c) }

// From says that the windows look at a gateway elsewhere, as which paired device, if so. Call it before Use.
func (a *App) From(device protocol.DeviceID) {
	a.Value.Update(func(v View) View {
		v.Elsewhere, v.Device = true, device
		return v
	})
}

// Close ends what actions are under way and waits for them. No action starts any more.
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

// Connected notes that the gateway answers.
func (a *App) Connected() {
	a.Value.Update(func(v View) View { v.Connected, v.Problem, v.Updating = true, "", ""; return v })
}

// Updating notes that the gateway does not serve yet because its store is brought up to date, and how far that is.
func (a *App) Updating(u protocol.Updating) {
	text := fmt.Sprintf("step %d of %d", u.Step, u.Steps)
	if u.Percent >= 0 {
		text += fmt.Sprintf(", about %d %%", u.Percent)
	}
	a.Value.Update(func(v View) View { v.Connected, v.Problem, v.Updating = false, "", text; return v })
}

// Down notes that it does not, and why.
func (a *App) Down(err error) {
	if u, ok := protocol.UpdatingOf(err); ok {
		a.Updating(u)
		return
	}
	problem := sentence(err)
	var final *client.FinalError
	if errors.As(err, &final) && errors.Is(err, protocol.ErrUnauthorized) {
		problem = a.unauthorized(err)
	}
	a.Value.Update(func(v View) View { v.Connected, v.Problem, v.Updating = false, problem, ""; return v })
}

// unauthorized says why the gateway does not let this window in, and what to do. A paired one has no token that the person knows: that its own does not
// hold any more is followed by the reason.
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

// sentence makes an error's text one.
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

// apply takes one change in.
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

// rpcLimit is how long an action may take before it counts as failed.
const rpcLimit = 30 * time.Second

// Call runs a method and waits: for forms, through bind.Go.
func Call[P, R any](ctx context.Context, a *App, m protocol.Method[P, R], p P) (R, error) {
	c := a.c.Load()
	if c == nil {
		var zero R
		return zero, protocol.ErrUnavailable.With("not connected to the gateway yet")
	}
	return client.Call(ctx, c, m, p)
}

// act runs an action off the caller's goroutine; a failure becomes a notice.
func act[P, R any](a *App, m protocol.Method[P, R], p P) {
	a.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		if _, err := Call(ctx, a, m, p); err != nil {
			a.fail(err)
		}
	})
}

// fail tells the person of an action that failed, unless the program is ending.
func (a *App) fail(err error) {
	if a.ctx.Err() == nil {
		a.Notify("error", sentence(err))
	}
}

// Notify shows the person something.
func (a *App) Notify(level, text string) {
	a.Value.Update(func(v View) View {
		v.Notice = &protocol.Notice{Level: level, Text: text, At: time.Now().UnixMilli()}
		return v
	})
}
