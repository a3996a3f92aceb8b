package feed

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// Feed is the connection to a gateway and what is known about it. It is safe for concurrent use.
type Feed struct {
	*Facts
	FileEvents
	// Tasks are the actions that run in the background. A failure becomes a notice.
	Tasks *Tasks
	// WaysIn loads the exposures.
	WaysIn *WaysIn
	// OnSnapshot and OnChange report what has just been applied, in order and on one goroutine. Set
	// them before Run.
	OnSnapshot func()
	OnChange   func(protocol.Change)

	client  atomic.Pointer[client.Client] // nil until Use
	gateway Gateway                       // answers in place of the client; nil except for [NewOf]

	pairingLoads, appLoads, serverLoads requests
}

// New returns the feed of the gateway of this computer. Use and Run start it. The client's OnUp and
// OnDown must call Connected and Down. Close stops everything.
func New() *Feed { return newFeed(Status{}) }

// NewRemote is [New] for a remote gateway; device is this computer's ID there, if paired.
func NewRemote(device protocol.DeviceID) *Feed { return newFeed(Status{Remote: true, Device: device}) }

func newFeed(s Status) *Feed {
	f := &Feed{Facts: newFacts(), OnSnapshot: func() {}, OnChange: func(protocol.Change) {}}
	f.Status.Update(func(v *Status) { *v = s })
	f.WaysIn = &WaysIn{feed: f}
	f.Tasks = NewTasks(func(err error) { f.Notify("error", Sentence(err)) })
	return f
}

// NewOf returns the feed of a gateway that reports no changes.
func NewOf(g Gateway) *Feed {
	f := newFeed(Status{})
	f.gateway = g
	return f
}

// Use sets the client. Until then actions fail as without a connection.
func (f *Feed) Use(c *client.Client) { f.client.Store(c) }

// Close cancels the running actions and waits for them. No action starts afterwards.
func (f *Feed) Close() { f.Tasks.Close() }

// Connected records that the gateway is connected.
func (f *Feed) Connected() {
	f.Status.Update(func(s *Status) { s.Connected, s.Problem = true, "" })
}

// Down records that the gateway is not connected, and why.
func (f *Feed) Down(err error) {
	problem := Sentence(err)
	var final *client.FinalError
	if errors.As(err, &final) && errors.Is(err, protocol.ErrUnauthorized) {
		problem = unauthorizedText(err, f.Status.Get().Device)
	}
	f.Status.Update(func(s *Status) { s.Connected, s.Problem = false, problem })
}

// Run follows the gateway until ctx ends or the gateway refuses the feed.
func (f *Feed) Run(ctx context.Context) error {
	c := f.client.Load()
	if c == nil {
		return protocol.ErrNotConnected
	}
	to := follower{f}
	return c.Feed(ctx, to.snapshot, to.apply)
}

// Invoke implements [Gateway].
func (f *Feed) Invoke(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if f.gateway != nil {
		return f.gateway.Invoke(ctx, method, params)
	}
	c := f.client.Load()
	if c == nil {
		return nil, protocol.ErrUnavailable.With("not connected to the gateway yet")
	}
	return client.Call(ctx, c, protocol.Method[any, json.RawMessage]{Name: method}, params)
}

// Pause pauses or resumes the agent.
func (f *Feed) Pause(paused bool) {
	Start(f, protocol.AgentPause, protocol.PauseParams{Paused: paused})
}

// Notify shows a notice.
func (f *Feed) Notify(level, text string) {
	f.Notice.Update(func(n **protocol.Notice) {
		*n = &protocol.Notice{Level: level, Text: text, At: time.Now().UnixMilli()}
	})
}

// requests numbers the requests for one fact. Responses may arrive out of order.
type requests struct {
	sent    atomic.Int64
	applied int64 // number of the request that the fact is the result of; guarded by the facts' lock
}

// refresh loads a fact. Of several responses, that of the latest request counts.
func refresh[S, R any](f *Feed, n *requests, v *Value[S], m protocol.Method[protocol.Empty, R], set func(*S, R, error)) {
	number := n.sent.Add(1)
	f.Tasks.StartRequest(func(ctx context.Context) {
		r, err := Call(ctx, f, m, protocol.Empty{})
		v.Update(func(s *S) {
			if number >= n.applied {
				n.applied = number
				set(s, r, err)
			}
		})
	})
}

// Facts are what is known about a gateway, each of them a value that can be watched.
type Facts struct {
	Status    *Value[Status]
	Sessions  *Value[Sessions]
	Runs      *Value[Runs]
	Texts     *Value[Texts]
	Calls     *Value[CallList]
	Questions *Value[Questions]
	Machines  *Value[MachineList]
	Transfers *Value[Transfers]
	Notice    *Value[*protocol.Notice]
	Models    *Value[[]ModelChoice]
	Pulls     *Value[PullList]
	Pairing   *Value[Pairing]
	Apps      *Value[ConnectedApps]
	Servers   *Value[ServerList]
	Exposures *Value[Exposures]
	Changed   *Value[Changed]

	mu   sync.Mutex // guards view; the values share it
	view View
}

func newFacts() *Facts {
	f := &Facts{}
	v, mu := &f.view, &f.mu
	f.Status, f.Sessions, f.Runs = newValue(mu, &v.Status), newValue(mu, &v.Sessions), newValue(mu, &v.Runs)
	f.Texts, f.Calls, f.Questions = newValue(mu, &v.Texts), newValue(mu, &v.Calls), newValue(mu, &v.Questions)
	f.Machines, f.Transfers = newValue(mu, &v.Machines), newValue(mu, &v.Transfers)
	f.Notice, f.Models, f.Pairing = newValue(mu, &v.Notice), newValue(mu, &v.Models), newValue(mu, &v.Pairing)
	f.Apps, f.Servers = newValue(mu, &v.Apps), newValue(mu, &v.Servers)
	f.Exposures = newValue(mu, &v.Exposures)
	f.Pulls, f.Changed = newValue(mu, &v.Pulls), newValue(mu, &v.Changed)
	return f
}

// All returns all facts.
func (f *Facts) All() []Fact {
	return []Fact{
		f.Status, f.Sessions, f.Runs, f.Texts, f.Calls, f.Questions, f.Machines, f.Transfers, f.Notice,
		f.Models, f.Pulls, f.Pairing, f.Apps, f.Servers, f.Exposures, f.Changed,
	}
}

// View returns a consistent picture of all facts.
func (f *Facts) View() View {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.view
}

// Update changes several facts at once. change must not change other facts, nor what slices and maps
// contain.
func (f *Facts) Update(change func(*View), facts ...Fact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.view)
	for _, x := range facts {
		x.touch()
	}
}

// Watch returns the picture of a gateway for a reader of some facts.
func (f *Facts) Watch(facts ...Fact) Picture { return Picture{f, facts} }

// Picture is a [View] that changes when some facts do.
type Picture struct {
	of    *Facts
	facts []Fact
}

// Get returns the present view.
func (p Picture) Get() View { return p.of.View() }

// Changes yields the present view and, after changes of the facts, the latest one, until ctx ends.
func (p Picture) Changes(ctx context.Context) iter.Seq[View] {
	return changes(ctx, &p.of.mu, p.facts, func() View { return p.of.view })
}
