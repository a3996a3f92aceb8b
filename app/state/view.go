// Package state contains the view models of the windows, as plain values and without a GUI toolkit:
// it follows the gateway's feed, updates the view models, and carries out a person's actions.
// Unless documented as blocking, actions return at once; their results arrive as changed values.
package state

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// Value holds the latest state. It is safe for concurrent use.
type Value[S any] struct {
	mu      sync.Mutex // guards the fields below
	v       S
	changed chan struct{} // closed at the next change
}

// NewValue returns a Value with an initial state.
func NewValue[S any](s S) *Value[S] { return &Value[S]{v: s, changed: make(chan struct{})} }

// Update changes the state. f must not change what its slices and maps contain.
func (v *Value[S]) Update(f func(*S)) {
	v.mu.Lock()
	f(&v.v)
	close(v.changed)
	v.changed = make(chan struct{})
	v.mu.Unlock()
}

// Get returns the present state.
func (v *Value[S]) Get() S {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.v
}

// Changes yields the present state and, after changes, the latest one, until ctx ends.
func (v *Value[S]) Changes(ctx context.Context) iter.Seq[S] {
	return func(yield func(S) bool) {
		for {
			v.mu.Lock()
			s, changed := v.v, v.changed
			v.mu.Unlock()
			if !yield(s) {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// View is the state of the whole gateway. Its slices must not be changed.
type View struct {
	Connected bool
	// Problem says why there is no connection; empty while connected and at first.
	Problem   string
	Loaded    bool // the first snapshot has arrived
	Status    protocol.Status
	Sessions  ChatList                // the person's chats, newest activity first
	Scheduled []protocol.SessionEntry // the chats of schedules, in no order; they are shown with their schedules
	// LoadingChats reports that Sessions lacks older chats, which are being loaded.
	LoadingChats bool
	Nodes        MachineList         // online first, then by name
	Approvals    []protocol.Question // pending and not being answered here, in the same order as Questions
	Runs         []protocol.RunInfo  // active runs, and the latest failed run of each chat
	Calls        CallList
	Transfers    []protocol.Transfer // unfinished, oldest first
	Notice       *protocol.Notice    // the latest notice
	// Closed are recently closed approvals, oldest first, for the windows that showed them.
	Closed []Closed
	// Finished are the transfers that succeeded or failed while this window was open, oldest first.
	Finished []protocol.Transfer
	// EndedRuns are the runs that ended while this window was open, oldest first.
	EndedRuns []protocol.RunInfo
	// Models are the choices of the model menu in the header.
	Models []ModelChoice
	// The following count changes of these parts, so that pages load them again.
	ConfigChanged, HistoryChanged, SkillsChanged, FilesChanged, ChannelsChanged, RulesChanged, SchedulesChanged int
	// Questions are the pending questions other than approvals, and not being answered here, in the
	// order in which the person should answer them.
	Questions QuestionList
	// Pairing has the paired devices.
	Pairing Pairing
	// Apps has the connected apps.
	Apps ConnectedApps
	// Servers has the MCP servers.
	Servers ServerList
	// AccessRequests is the number of people on channels who wait for access.
	AccessRequests int

	// Remote reports whether the gateway is remote; Device is this paired computer's ID there.
	Remote bool
	Device protocol.DeviceID

	answering   map[protocol.QuestionID]bool // questions with an answer of this window on its way
	pairingLoad int64                        // number of the request that Pairing is the result of
	appLoad     int64                        // number of the request that Apps is the result of
	serverLoad  int64                        // number of the request that Servers is the result of
	// removed are the transfers that will be removed from the history unless the person undoes that
	removed map[protocol.TransferID]bool
}

// Closed is an approval that is no longer pending. Here reports whether this window answered it.
type Closed struct {
	protocol.Question
	AnsweredHere bool
}

// Numbers of finished transfers and runs, and of closed approvals, that are retained.
const (
	maxFinished = 32
	maxClosed   = 32
)

// Needs returns the number of questions that wait for the person.
func (v View) Needs() int { return len(v.Approvals) + len(v.Questions) }

// Working reports whether any run is in progress.
func (v View) Working() bool {
	return slices.ContainsFunc(v.Runs, func(r protocol.RunInfo) bool { return !r.Over() && r.State != protocol.RunQueued })
}

// Session finds a chat. An unknown one has only its key, and Main if the gateway says so.
func (v View) Session(key protocol.SessionKey) (protocol.SessionEntry, bool) {
	for _, list := range [][]protocol.SessionEntry{v.Sessions, v.Scheduled} {
		if s, ok := find(list, func(s protocol.SessionEntry) bool { return s.SessionKey == key }); ok {
			return s, true
		}
	}
	return protocol.SessionEntry{SessionKey: key, Main: key == cmp.Or(v.Status.MainSession, protocol.MainSession)}, false
}

// IsMainAlias reports whether a key leads to the main chat, although that has another key.
func (v View) IsMainAlias(key protocol.SessionKey) bool {
	main := v.Status.MainSession
	if key != protocol.MainSession || main == "" || main == key {
		return false
	}
	e, known := v.Session(key)
	return !known || !e.Main || strings.HasPrefix(string(main), "agent:"+string(protocol.MainAgent)+":")
}

// NameOf returns a machine's display name.
func NameOf(n protocol.NodeInfo) string { return cmp.Or(n.Name, string(n.ID)) }

// PlaceName returns the name of a place with files: a machine, or the agent's own files if empty.
func (v View) PlaceName(id protocol.NodeID) string {
	n, ok := v.Nodes.Find(id)
	switch {
	case id == "":
		return "Agent's files"
	case ok && n.Local && !v.Remote:
		return NameOf(n) + " (this computer)"
	}
	return v.Nodes.Name(id)
}

// TitleOf returns a chat's title in lists.
func TitleOf(s protocol.SessionEntry) string {
	switch {
	case s.Title != "":
		return s.Title
	case s.Main:
		return "Main chat"
	}
	return "New chat"
}

// ChatName returns the display name of a chat key, even if the chat no longer exists.
func (v View) ChatName(key protocol.SessionKey) string {
	if s, ok := v.Session(key); ok {
		return TitleOf(s)
	}
	return string(key)
}

// loader is the view model of a page that is loaded as a whole. It is safe for concurrent use.
type loader[V any] struct {
	Value *Value[V]
	view  *Value[View]
	tasks *tasks
	// fetch requests the state and returns the change that applies it. It blocks.
	fetch func(context.Context) (apply func(*V), err error)
	// problem returns the field for the reason why loading failed.
	problem func(*V) *string
	// Follow loads at changes of this key of the app's view, and at this interval unless it is 0.
	key      func(View) string
	interval time.Duration
}

// Follow keeps the state up to date until ctx ends. It blocks.
func (l *loader[V]) Follow(ctx context.Context) {
	var wg crash.Group
	defer wg.Wait()
	if l.interval > 0 {
		wg.Go(func() {
			tick := time.Tick(l.interval)
			for {
				select {
				case <-tick:
					l.Load(ctx)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	last, loaded := "", false
	for v := range l.view.Changes(ctx) {
		if now := l.key(v); !loaded || now != last {
			last, loaded = now, true
			l.Load(ctx)
		}
	}
}

// Load loads the state once. It blocks.
func (l *loader[V]) Load(ctx context.Context) { l.load(ctx, l.fetch) }

// Reload loads the state again.
func (l *loader[V]) Reload() { l.tasks.start(l.Load) }

func (l *loader[V]) load(ctx context.Context, fetch func(context.Context) (func(*V), error)) {
	limited, cancel := context.WithTimeout(ctx, actionTimeout)
	defer cancel()
	apply, err := fetch(limited)
	if ctx.Err() != nil {
		return
	}
	l.Value.Update(func(v *V) {
		if err != nil {
			*l.problem(v) = Sentence(err)
			return
		}
		apply(v)
	})
}

// do performs an action, and then loads the state again. A failure becomes a notice.
func (l *loader[V]) do(f func(context.Context) error) {
	l.tasks.do(func(ctx context.Context) error {
		defer l.Load(ctx)
		return f(ctx)
	})
}
