package state

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// App is the root of the view models that all windows share. It is safe for concurrent use.
type App struct {
	Value *feed.Value[feed.View]

	Chats     *Chats
	Archives  Archives
	Approvals Approvals
	Questions Questions
	Machines  Machines
	Pairings  Pairings
	Apps      Apps
	Servers   Servers
	Transfers Transfers
	Models    Models
	Drafts    *Drafts

	client atomic.Pointer[client.Client] // nil until Use
	tasks  *feed.Tasks

	pairingLoads atomic.Int64 // number of the latest request for Pairing
	appLoads     atomic.Int64 // number of the latest request for Apps
	serverLoads  atomic.Int64 // number of the latest request for Servers

	mu    sync.Mutex // guards the field below
	files []*Files   // open pages of files
}

// NewApp creates the view models of the gateway of this computer. Use and Run start them. The
// client's OnUp and OnDown must call Connected and Down. Close stops everything.
func NewApp() *App { return newApp(feed.View{}) }

// NewRemoteApp is [NewApp] for a remote gateway; device is this computer's ID there, if paired.
func NewRemoteApp(device protocol.DeviceID) *App {
	return newApp(feed.View{Remote: true, Device: device})
}

func newApp(v feed.View) *App {
	a := &App{Value: feed.NewValue(v)}
	a.tasks = feed.NewTasks(func(err error) { a.Notify("error", feed.Sentence(err)) })
	a.Chats = &Chats{app: a, open: make(map[protocol.SessionKey]*Chat)}
	a.Drafts = &Drafts{}
	a.Archives, a.Approvals, a.Questions, a.Transfers = Archives{a}, Approvals{a}, Questions{a}, Transfers{a}
	a.Machines, a.Pairings, a.Apps, a.Servers, a.Models = Machines{a}, Pairings{a}, Apps{a}, Servers{a}, Models{a}
	return a
}

// Use sets the client. Until then actions fail as without a connection.
func (a *App) Use(c *client.Client) { a.client.Store(c) }

// Close cancels the running actions and waits for them. No action starts afterwards.
func (a *App) Close() { a.tasks.Close() }

// Connected records that the gateway is connected.
func (a *App) Connected() {
	a.Value.Update(func(v *feed.View) { v.Connected, v.Problem = true, "" })
}

// Down records that the gateway is not connected, and why.
func (a *App) Down(err error) {
	problem := feed.Sentence(err)
	var final *client.FinalError
	if errors.As(err, &final) && errors.Is(err, protocol.ErrUnauthorized) {
		problem = a.unauthorizedText(err)
	}
	a.Value.Update(func(v *feed.View) { v.Connected, v.Problem = false, problem })
}

// Run follows the gateway until ctx ends or the gateway refuses the feed.
func (a *App) Run(ctx context.Context) error {
	c := a.client.Load()
	if c == nil {
		return protocol.ErrNotConnected
	}
	return c.Feed(ctx, a.snapshot, a.apply)
}

func (a *App) snapshot(s protocol.FeedSnapshot) {
	a.Value.Update(func(v *feed.View) { feed.ApplySnapshot(v, s) })
	a.Chats.reload()
	if n := len(s.Sessions); n >= protocol.MaxSnapshotSessions {
		a.tasks.StartRequest(func(ctx context.Context) { a.Chats.loadOlder(ctx, n) })
	}
	a.Models.load()
	a.loadAccessRequests()
	a.Pairings.load()
	a.Apps.Load()
	a.Servers.Load()
	a.Transfers.resumeLocal(s.Transfers)
}

func (a *App) apply(c protocol.Change) {
	a.Value.Update(func(v *feed.View) { feed.Reduce(v, c) })
	switch c.Kind {
	case protocol.ChangeMessage, protocol.ChangeHistory:
		a.Chats.apply(c)
	case protocol.ChangeDevices:
		a.Pairings.load()
	case protocol.ChangeApps:
		a.Apps.Load()
	case protocol.ChangeServers:
		a.Servers.Load()
	case protocol.ChangeChannels:
		a.loadAccessRequests()
	case protocol.ChangeConfig:
		if top, _, _ := strings.Cut(c.Path, "."); top == "model" || top == "apiKeys" || top == "providers" {
			a.Models.load()
		}
	}
}

// Invoke implements [Gateway].
func (a *App) Invoke(ctx context.Context, method string, params any) (json.RawMessage, error) {
	c := a.client.Load()
	if c == nil {
		return nil, protocol.ErrUnavailable.With("not connected to the gateway yet")
	}
	return client.Call(ctx, c, protocol.Method[any, json.RawMessage]{Name: method}, params)
}

// Say shows a message to the person.
type Say func(text string)

// Failed says what failed and why, and reports whether err is an error at all.
func (say Say) Failed(what string, err error) bool {
	if err != nil {
		say(what + ": " + err.Error())
	}
	return err != nil
}

// OfferUndo shows an action and offers to undo it until a time.
type OfferUndo func(text string, undo func(), until time.Time)

func callInBackground[P, R any](a *App, m protocol.Method[P, R], p P) {
	a.tasks.Do(func(ctx context.Context) error { return feed.Send(ctx, a, m, p) })
}

// Pause pauses or resumes the agent.
func (a *App) Pause(paused bool) {
	callInBackground(a, protocol.AgentPause, protocol.PauseParams{Paused: paused})
}

// SetPaused pauses or resumes the agent. It blocks.
func (a *App) SetPaused(ctx context.Context, paused bool) error {
	return feed.Send(ctx, a, protocol.AgentPause, protocol.PauseParams{Paused: paused})
}

// Set changes a setting of the configuration; nil resets it. It blocks.
func (a *App) Set(ctx context.Context, path string, value any) error {
	raw, err := protocol.Marshal(value)
	if err != nil {
		return err
	}
	err = feed.Send(ctx, a, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: raw})
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		return refusal.With(withoutPath(path, refusal.Message))
	}
	return err
}

// Notify shows a notice.
func (a *App) Notify(level, text string) {
	a.Value.Update(func(v *feed.View) {
		v.Notice = &protocol.Notice{Level: level, Text: text, At: time.Now().UnixMilli()}
	})
}
