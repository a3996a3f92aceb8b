// Package transfer moves files between nodes, the agent's workspace, and windows or command lines.
// All transfers are in one queue, stored in the database. The gateway only coordinates and relays:
// each end does its own part (package stream), and the agent's workspace has an end in this
// process. Between two ends that support streams a transfer survives every interruption, including
// a restart of the gateway.
//
// Each transfer that has not ended is a job, and so is an ended one while something is done with
// it. One goroutine owns the job and its state. All requests, of people, of the queue and of the
// attempt that moves the files, go to that goroutine, one at a time, and one table says what each
// does in each state ([transitions]). A change is stored, then published and acknowledged; one that
// cannot be stored does not happen.
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
	Put(ctx context.Context, t store.Transfer, changes ...store.CallChange) error
	Get(ctx context.Context, id protocol.TransferID) (store.Transfer, error)
	List(ctx context.Context, f store.TransferFilter) (page []store.Transfer, total int, err error)
	Delete(ctx context.Context, ids []protocol.TransferID) ([]protocol.TransferID, error)
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
	services *services
}

// services are what the engine and all of its jobs use.
type services struct {
	store    Store
	bus      *event.Bus
	machines Machines
	ends     ends
	relays   *Relays
	direct   *directPairs
	judge    judge
	queue    *queue
}

// New returns an engine. Call Load, then Run.
func New(o Options) *Engine {
	e := &Engine{}
	relays := newRelays(o.First, e.cleanupConfirmed)
	e.services = &services{
		store: o.Store, bus: o.Bus, machines: o.Machines, relays: relays, direct: newDirectPairs(), judge: newJudge(o.Authorizer, o.RulesVersion),
		queue: newQueue(), ends: ends{machines: o.Machines, workspaces: newWorkspaces(o.Folders, o.Unfinished), relays: relays},
	}
	return e
}

// Relays returns the part that handles what the ends of running transfers send.
func (e *Engine) Relays() *Relays { return e.services.relays }

// Load restores the queue of an earlier start. The transfers continue as soon as their nodes are
// connected.
func (e *Engine) Load(ctx context.Context) error {
	rows, _, err := e.services.store.List(ctx, store.TransferFilter{Limit: -1})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.State == protocol.TransferRunning {
			row.State, row.Error = protocol.TransferWaiting, "The gateway was restarted"
		}
		j := newJob(e.services, row, nil)
		j.live.isContinued = row.State == protocol.TransferWaiting && row.Attempts > 0
		e.services.queue.add(j)
	}
	return nil
}

// Run starts transfers until ctx is cancelled: it checks the queue when a node connects and when a
// transfer ends.
func (e *Engine) Run(ctx context.Context) {
	sub := e.services.bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeNode })
	defer sub.Close()
	var wg crash.Group
	defer wg.Wait()
	wg.Go(func() { e.services.ends.workspaces.sweep(ctx) })
	wg.Go(func() { e.cleanUp(ctx, "") })
	wg.Go(func() {
		connections := make(map[protocol.NodeID]nodes.Link)
		for c := range sub.All(ctx) {
			e.services.queue.Wake()
			id := c.Node.ID
			if link, _, ok := e.services.machines.Link(id); ok && link != connections[id] {
				connections[id] = link
				wg.Go(func() { e.cleanUp(ctx, id) })
			}
		}
	})
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		crash.Run("transfers", e.services.queue.startReady)
		select {
		case <-ctx.Done():
			return
		case <-e.services.queue.wake:
		case <-tick.C:
		}
	}
}

// Close stops the running transfers, so that the next start continues them, and waits.
func (e *Engine) Close() { e.services.queue.close() }
