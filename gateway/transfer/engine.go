package transfer

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

const (
	// maxRunning is how many transfers run at once; the others wait for their turn, but for one to each machine that nothing is on its way to: what goes to
	// another one may wait for the person there.
	maxRunning = 16
	// defaultExpiry is how long a transfer waits for a machine.
	defaultExpiry = 7 * 24 * time.Hour
	// progressEvery is how often progress is published, per transfer.
	progressEvery = 200 * time.Millisecond
)

// Store keeps the queue and its history.
type Store interface {
	PutTransfer(ctx context.Context, t store.Transfer) error
	Transfer(ctx context.Context, id protocol.TransferID) (store.Transfer, error)
	OpenTransfers(ctx context.Context) ([]store.Transfer, error)
	EndedTransfers(ctx context.Context, node protocol.NodeID, offset, limit int) ([]store.Transfer, int, error)
	ForgetTransfers(ctx context.Context, ids []protocol.TransferID) ([]protocol.TransferID, error)
	// TidyTransfer notes that a cancelled transfer has left nothing unfinished; any other one stays as it is.
	TidyTransfer(ctx context.Context, id protocol.TransferID) error
}

// Options say what an engine works with.
type Options struct {
	Store    Store
	Bus      *event.Bus
	Machines Machines
	Folders  Folders
	// Meet lets two machines have a connection through the gateway: a ticket for each, until over; ok is false when that cannot be. May be nil.
	Meet func() (one, other string, over func(), ok bool)
	// Unfinished is a folder to write down in what transfers may leave unfinished in the agents' workspaces; may be empty.
	Unfinished string
	// First is the number before the first one that a transfer gets on the wire; 0 takes a random one.
	First uint32
}

// Engine is the queue. It is safe for use by many goroutines.
type Engine struct {
	store      Store
	bus        *event.Bus
	machines   Machines
	folders    Folders
	joins      func() (one, other string, over func(), ok bool)
	policy     func() string
	again      func(ctx context.Context, t protocol.Transfer) error
	unfinished string

	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	wake   chan struct{}

	mu     sync.Mutex // guards what follows, and every job's fields
	jobs   map[protocol.TransferID]*job
	order  []*job // as they came
	relays map[uint32]*relay
	ending map[protocol.TransferID]*job  // no longer in the queue, and not yet stored as ended, or the other way round
	left   map[protocol.TransferID]*left // cancelled, and their destinations may have a part
	undoes map[protocol.TransferID]*undoing
	apart  map[passage]time.Time // when one was of no use
	last   uint32                // number that was given last
	closed bool
}

// New makes an engine. Load and Run it.
func New(o Options) *Engine {
	e := &Engine{
		store: o.Store, bus: o.Bus, machines: o.Machines, folders: o.Folders, policy: func() string { return "" }, wake: make(chan struct{}, 1),
		jobs: make(map[protocol.TransferID]*job), relays: make(map[uint32]*relay),
		ending: make(map[protocol.TransferID]*job), left: make(map[protocol.TransferID]*left), undoes: make(map[protocol.TransferID]*undoing), apart: make(map[passage]time.Time), joins: o.Meet, unfinished: o.Unfinished, last: o.First,
	}
	if e.last == 0 {
		e.last = rand.Uint32()
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	return e
}

// Guard has a transfer that waited while the rules about calls changed asked about once more: policy is a fingerprint of the rules, again returns why the
// transfer may not run now. Call it once, before Load.
func (e *Engine) Guard(policy func() string, again func(ctx context.Context, t protocol.Transfer) error) {
	e.policy, e.again = policy, again
}

// Load brings back what an earlier start left: it goes on as soon as its machines are there.
func (e *Engine) Load(ctx context.Context) error {
	rows, err := e.store.OpenTransfers(ctx)
	if err != nil {
		return err
	}
	if err := e.loadLeft(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, row := range rows {
		if row.State == protocol.TransferRunning {
			row.State, row.Error = protocol.TransferWaiting, "The gateway was restarted"
		}
		e.addLocked(&job{e: e, row: row, over: make(chan struct{})})
	}
	return nil
}

func (e *Engine) addLocked(j *job) {
	e.jobs[j.row.ID] = j
	e.order = append(e.order, j)
}

// number gives a transfer a number that no other one had lately: a peer may still speak of an old one.
func (e *Engine) number() uint32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		if e.last++; e.last != 0 && e.relays[e.last] == nil {
			return e.last
		}
	}
}

// Run starts what can start until ctx ends: when a machine comes, when another transfer has ended.
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
		e.tidy(ctx, &wg)
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		case <-tick.C:
		}
	}
}

// Wake has the queue looked through.
func (e *Engine) Wake() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// Close ends what runs, so that the next start takes it up, and waits.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel(errShut)
	e.wg.Wait()
}
