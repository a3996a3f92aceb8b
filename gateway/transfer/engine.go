// Package transfer moves files between nodes, the agent's workspace, and windows or command lines.
// All transfers are in one queue, stored in the database. The gateway only coordinates and relays:
// each end does its own part (package stream), and the agent's workspace has an end in this
// process. Between two ends that support streams a transfer survives every interruption, including
// a restart of the gateway.
//
// A node of another program knows only the basic protocol (docs/protocol.md#transfers): one file at
// a time, without the extensions. With such a node a transfer is a sequence of single files
// ([basicTransfer]) and fails when it is interrupted.
//
// If the owners of two nodes allow it ([protocol.ExtDirect]), the source connects directly to the
// destination. For that, the gateway asks the source for the pin of a key made for this attempt and
// passes it to the destination; then it tells the source ([protocol.TransferStartEvent]) where the
// destination listens, and the pin and token to recognize it by. The destination reports whether
// data arrives directly ([stream.ParseRoute]). Its progress still comes through the gateway, so
// queue, journal, pause, cancel and the check for stalls are the same. If the ends cannot connect,
// they use the gateway in the same attempt; if they lose their connection, in another one. They do
// not try again for ten minutes. Package node/direct describes how strangers are kept out.
package transfer

import (
	"context"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

const (
	// maxRunning is the number of transfers that run at once. Further ones wait in the queue,
	// except that one transfer to each otherwise idle destination may always start: the others may
	// be waiting for the person at their destination.
	maxRunning = 16
	// defaultExpiry is the time for which a transfer waits for an offline node.
	defaultExpiry = 7 * 24 * time.Hour
	// progressEvery is the interval at which progress is published, per transfer.
	progressEvery = 200 * time.Millisecond
)

// Store stores the queue and its history.
type Store interface {
	Put(ctx context.Context, t store.Transfer) error
	Get(ctx context.Context, id protocol.TransferID) (store.Transfer, error)
	List(ctx context.Context, f store.TransferFilter) (page []store.Transfer, total int, err error)
	Delete(ctx context.Context, ids []protocol.TransferID) ([]protocol.TransferID, error)
	// ClearCurrent records that a cancelled transfer has no unfinished files left. It does not
	// change transfers in other states.
	ClearCurrent(ctx context.Context, id protocol.TransferID) error
}

// Options configure an engine.
type Options struct {
	Store    Store
	Bus      *event.Bus
	Machines Machines
	Folders  Folders
	// Authorizer decides about transfers, and RulesVersion, which may be nil, changes with the
	// rules: a transfer that waited meanwhile is decided about again.
	Authorizer   Authorizer
	RulesVersion func() string
	// Unfinished is a folder for the records of unfinished files in the agents' workspaces; may be
	// empty.
	Unfinished string
	// First is the number before the first transfer number on the wire; 0 selects a random one.
	First uint32
}

// Engine is the queue of transfers. It is safe for concurrent use.
type Engine struct {
	*relays // of the running transfers

	store      Store
	bus        *event.Bus
	machines   Machines
	workspaces workspaces
	policy     func() string
	authorizer Authorizer
	startedAt  int64 // Unix milliseconds

	ctx    context.Context // cancelled by Close
	cancel context.CancelCauseFunc
	wg     crash.Group
	wake   chan struct{}

	mu           sync.Mutex // guards the fields below, and the fields of all jobs
	jobs         map[protocol.TransferID]*job
	order        []*job                       // in order of creation
	inTransition map[protocol.TransferID]*job // ended transfers that are being changed
	failedDirect map[pair]time.Time           // the last failure of each direct connection
	closed       bool
}

// New returns an engine. Call Load, then Run.
func New(o Options) *Engine {
	e := &Engine{
		startedAt: time.Now().UnixMilli(),
		store:     o.Store, bus: o.Bus, machines: o.Machines, workspaces: newWorkspaces(o.Folders, o.Unfinished), policy: o.RulesVersion, authorizer: o.Authorizer, wake: make(chan struct{}, 1),
		jobs: make(map[protocol.TransferID]*job), relays: newRelays(o.First),
		inTransition: make(map[protocol.TransferID]*job), failedDirect: make(map[pair]time.Time),
	}
	if e.policy == nil {
		e.policy = func() string { return "" }
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	return e
}

// Load restores the queue of an earlier start. The transfers continue as soon as their nodes are
// connected.
func (e *Engine) Load(ctx context.Context) error {
	rows, _, err := e.store.List(ctx, store.TransferFilter{Limit: -1})
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, row := range rows {
		j := newJob(e, row, nil)
		if row.State == protocol.TransferRunning {
			j.row.State, j.row.Error = protocol.TransferWaiting, "The gateway was restarted"
		}
		j.isContinued = j.row.State == protocol.TransferWaiting && j.row.Attempts > 0
		j.addLocked()
	}
	return nil
}

// addLocked adds a job to the queue. The caller must hold e.mu.
func (j *job) addLocked() {
	j.e.jobs[j.row.ID] = j
	j.e.order = append(j.e.order, j)
}

// Run starts transfers until ctx is cancelled: it checks the queue when a node connects and when a
// transfer ends.
func (e *Engine) Run(ctx context.Context) {
	sub := e.bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeNode })
	defer sub.Close()
	var wg crash.Group
	defer wg.Wait()
	wg.Go(func() { e.workspaces.sweep(ctx) })
	wg.Go(func() { e.cleanUp(ctx, "") })
	wg.Go(func() {
		connections := make(map[protocol.NodeID]nodes.Link)
		for c := range sub.All(ctx) {
			e.Wake()
			id := c.Node.ID
			if link, _, ok := e.machines.Link(id); ok && link != connections[id] {
				connections[id] = link
				wg.Go(func() { e.cleanUp(ctx, id) })
			}
		}
	})
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		crash.Run("transfers", e.startReady)
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		case <-tick.C:
		}
	}
}

// Wake makes Run check the queue.
func (e *Engine) Wake() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// Close stops the running transfers, so that the next start continues them, and waits.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel(errShutdown)
	e.wg.Wait()
}
