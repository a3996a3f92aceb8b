package transfer

import (
	"slices"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// queue is the set of jobs: the transfers that have not ended, in order of creation, and the ended
// ones with which something is done. It says which may start. It is safe for concurrent use.
type queue struct {
	workers *crash.Workers // the owners of the jobs, and what they have started
	wake    wake.Signal

	mu    sync.Mutex // guards the fields below; a job's lock may be taken while it is held
	jobs  map[protocol.TransferID]*job
	order []*job // those that have not ended
}

// errClosed is the error while the gateway stops.
var errClosed = protocol.ErrUnavailable.With("The gateway is shutting down")

func newQueue() *queue {
	return &queue{workers: crash.NewWorkers(), wake: wake.New(), jobs: make(map[protocol.TransferID]*job)}
}

// Wake makes Run check the queue.
func (q *queue) Wake() {
	q.wake.Send()
}

// add adds a transfer that has not ended. If the gateway is stopping, the next start runs it.
func (q *queue) add(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.workers.Start(j.own) {
		q.jobs[j.id] = j
		q.order = append(q.order, j)
	}
}

// enqueue puts the job of an ended transfer into the queue again.
func (q *queue) enqueue(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Contains(q.order, j) {
		q.order = append(q.order, j)
	}
	q.Wake()
}

// find returns the job of a transfer, or nil.
func (q *queue) find(id protocol.TransferID) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.jobs[id]
}

// open returns the job of a transfer, which stays until the caller calls release. If it has none,
// open starts one that reads the transfer from the store.
func (q *queue) open(p *services, id protocol.TransferID) (*job, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.workers.Begin() {
		return nil, errClosed
	}
	defer q.workers.Done()
	j := q.jobs[id]
	if j == nil {
		j = newJob(p, store.Transfer{Transfer: protocol.Transfer{ID: id}}, nil)
		q.jobs[id] = j
		q.workers.Go(j.own)
	}
	j.callers++
	return j, nil
}

// release says that a caller of open does not need the job any more.
func (q *queue) release(j *job) {
	q.mu.Lock()
	j.callers--
	q.mu.Unlock()
	j.notify()
}

// leave removes a job that has nothing left to do, and reports whether it may go: it has no
// callers.
func (q *queue) leave(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j.callers > 0 {
		return false
	}
	delete(q.jobs, j.id)
	q.order = slices.DeleteFunc(q.order, func(o *job) bool { return o == j })
	return true
}

// revoke stops the jobs for which isMeant is true, and returns them. Each then ends its transfer with
// why as the reason. Partly received data is retained, and a retry continues with it.
func (q *queue) revoke(why string, isMeant func(protocol.Transfer) bool) (affected []*job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range q.order {
		if !q.isClosed() && j.revoke(why, isMeant) {
			affected = append(affected, j)
		}
	}
	return affected
}

// list returns the jobs that have not ended, in order of creation.
func (q *queue) list() []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.order)
}

// startReady starts the transfers that can run, and ends the expired ones.
func (q *queue) startReady() {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.isClosed() {
		return
	}
	running, busy := 0, make(map[protocol.NodeID]bool)
	for _, j := range q.order {
		if to, counts := j.isRunning(); counts {
			running++
			busy[to] = true
		}
	}
	for _, j := range q.order {
		to, ready, expired := j.canStart(now)
		switch {
		case expired:
			j.obeyLater(eventExpire)
		case ready && (running < maxRunning || !busy[to]):
			running++
			busy[to] = true
			j.obeyLater(eventStart)
		}
	}
}

func (q *queue) isClosed() bool { return q.workers.Context().Err() != nil }

// close stops all jobs and waits.
func (q *queue) close() { q.workers.Close(errShutdown) }
