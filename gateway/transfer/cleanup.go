package transfer

import (
	"context"
	"log/slog"
	"sync"

	"fairlead/gateway/protocol"
)

// maxCleanups is the number of cancelled transfers whose unfinished files on a node are remembered.
// Nodes also clean up by themselves.
const maxCleanups = 500

// mayHaveUnfinished reports whether a transfer's destination is a node that may have unfinished
// files.
func mayHaveUnfinished(t protocol.Transfer) bool {
	return t.Attempts > 0 && !t.Simple && t.To != protocol.NativePrefix && t.To != protocol.Here
}

// needsCleanup reports whether a cancelled transfer's removal of unfinished files is unconfirmed.
func needsCleanup(t protocol.Transfer) bool {
	return t.State == protocol.TransferCancelled && t.Current != "" && mayHaveUnfinished(t)
}

// startCleanups asks nodes to remove the unfinished files of cancelled transfers, once per
// connection until they confirm it, because a request may be lost with its connection. It counts
// goroutines that wait for a slow node in wg.
func (e *Engine) startCleanups(ctx context.Context, wg *sync.WaitGroup) {
	var ready []*job
	e.mu.Lock()
	for _, j := range e.cleanups {
		if link, _, ok := e.machines.Link(j.row.To); ok && any(link) != any(j.notified) && j.busy == nil {
			j.busy = make(chan struct{})
			ready = append(ready, j)
		}
	}
	e.mu.Unlock()
	if len(ready) == 0 {
		return
	}
	wg.Go(func() {
		for _, j := range ready {
			j.discard(ctx)
			e.mu.Lock()
			close(j.busy)
			j.busy = nil
			e.mu.Unlock()
		}
	})
}

// cleanupConfirmed handles a node's confirmation that a cancelled transfer has no unfinished files
// left. The returned function stores that, and may block.
func (e *Engine) cleanupConfirmed(over Link, id protocol.TransferID) (proceed func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if j := e.jobs[id]; j != nil && j.notified == over { // it is being cancelled
		j.isClean = true
	}
	j := e.cleanups[id]
	if j == nil || j.notified != over {
		return func() {}
	}
	delete(e.cleanups, id)
	t := j.row.Transfer
	t.Current = ""
	return func() {
		if err := e.store.ClearCurrent(context.WithoutCancel(e.ctx), id); err != nil {
			slog.Warn("Storing a transfer failed", "transfer", id, "err", err)
		}
		publish(e.bus, t)
	}
}
