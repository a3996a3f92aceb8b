package transfer

import (
	"context"
	"sync"
	"time"

	"fairlead/gateway/event"
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
	Unfinished(ctx context.Context) ([]store.Transfer, error)
	Finished(ctx context.Context, node protocol.NodeID, offset, limit int) ([]store.Transfer, int, error)
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
	// Meet prepares a connection of two nodes through the gateway: it returns one ticket for each,
	// valid until over is called. ok is false when that is not possible. Meet may be nil.
	Meet func() (one, other string, over func(), ok bool)
	// Authorizer decides about transfers, and RulesVersion changes with the rules: a transfer that
	// waited meanwhile is decided about again. Without them, every transfer may run.
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
	folders    Folders
	joinConns  func() (one, other string, over func(), ok bool)
	policy     func() string
	authorizer Authorizer
	unfinished string

	ctx    context.Context // cancelled by Close
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	wake   chan struct{}

	mu           sync.Mutex // guards the fields below, and the fields of all jobs
	jobs         map[protocol.TransferID]*job
	order        []*job                           // in order of creation
	settling     map[protocol.TransferID]*job     // transfers between the queue and the history, in either direction
	cleanups     map[protocol.TransferID]*cleanup // cancelled transfers whose destinations may have unfinished files
	undos        map[protocol.TransferID]*pendingUndo
	failedRoutes map[routeKey]time.Time // the last failure of each route
	closed       bool
}

// New returns an engine. Call Load, then Run.
func New(o Options) *Engine {
	e := &Engine{
		store: o.Store, bus: o.Bus, machines: o.Machines, folders: o.Folders, policy: o.RulesVersion, authorizer: o.Authorizer, wake: make(chan struct{}, 1),
		jobs: make(map[protocol.TransferID]*job), relays: newRelays(o.First),
		settling: make(map[protocol.TransferID]*job), cleanups: make(map[protocol.TransferID]*cleanup), undos: make(map[protocol.TransferID]*pendingUndo), failedRoutes: make(map[routeKey]time.Time), joinConns: o.Meet, unfinished: o.Unfinished,
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
	rows, err := e.store.Unfinished(ctx)
	if err != nil {
		return err
	}
	if err := e.loadCleanups(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, row := range rows {
		if row.State == protocol.TransferRunning {
			row.State, row.Error = protocol.TransferWaiting, "The gateway was restarted"
		}
		e.addLocked(&job{e: e, row: row, done: make(chan struct{})})
	}
	return nil
}

func (e *Engine) addLocked(j *job) {
	e.jobs[j.row.ID] = j
	e.order = append(e.order, j)
}

// Run starts transfers until ctx is cancelled: it checks the queue when a node connects and when a
// transfer ends.
func (e *Engine) Run(ctx context.Context) {
	sub := e.bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeNode })
	defer sub.Close()
	nodes := make(chan struct{})
	go func() {
		defer close(nodes)
		for range sub.All(ctx) {
			e.Wake()
		}
	}()
	defer func() { <-nodes }()
	var wg sync.WaitGroup
	wg.Go(func() { e.sweep(ctx) })
	defer wg.Wait()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		e.startReady()
		e.startCleanups(ctx, &wg)
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
