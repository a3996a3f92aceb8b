package transfer

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

const (
	// sweepEvery is the interval at which the agents' workspaces are searched for unfinished files
	// of abandoned transfers.
	sweepEvery = 24 * time.Hour
	// maxLeft is the number of cancelled transfers whose unfinished files on a node are remembered.
	// Nodes also clean up by themselves.
	maxLeft = 500
)

// ledger returns the records of unfinished files in an agent's workspace.
func (e *Engine) ledger(agent protocol.AgentID) *stream.Unfinished {
	if e.unfinished == "" {
		return nil
	}
	return stream.OpenUnfinished(filepath.Join(e.unfinished, string(agent)))
}

// sweep removes the unfinished files in the agents' workspaces, at the start and then daily.
func (e *Engine) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		agents, _ := os.ReadDir(e.unfinished) // without the folder there are no unfinished files
		for _, a := range agents {
			agent := protocol.AgentID(a.Name())
			if removed := e.ledger(agent).Sweep(e.folders(agent), time.Now().Add(-stream.PartAge)); removed > 0 {
				slog.Info("Unfinished files of old transfers removed", "agent", agent, "files", removed)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// left is a cancelled transfer whose destination has not confirmed the removal of unfinished files.
type left struct {
	row  store.Transfer
	told Link          // the connection of the last request
	busy chan struct{} // closed when the request in progress is sent; nil if there is none
}

// mayLeave reports whether a transfer's destination is a node that may have unfinished files.
func mayLeave(t protocol.Transfer) bool {
	return t.Attempts > 0 && !t.Simple && t.To != protocol.NativePrefix && t.To != protocol.Here
}

// leftover reports whether a cancelled transfer's removal of unfinished files is unconfirmed.
func leftover(t protocol.Transfer) bool {
	return t.State == protocol.TransferCancelled && t.Current != "" && mayLeave(t)
}

// loadLeft restores the cancelled transfers that left unfinished files on offline nodes.
func (e *Engine) loadLeft(ctx context.Context) error {
	rows, _, err := e.store.Finished(ctx, "", 0, maxLeft)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, row := range rows {
		if leftover(row.Transfer) {
			e.left[row.ID] = &left{row: row}
		}
	}
	return nil
}

// tidy asks nodes to remove the unfinished files of cancelled transfers, once per connection until
// they confirm it, because a request may be lost with its connection. It counts goroutines that
// wait for a slow node in wg.
func (e *Engine) tidy(ctx context.Context, wg *sync.WaitGroup) {
	var ready []*left
	e.mu.Lock()
	for _, l := range e.left {
		if link, _, ok := e.machines.Link(l.row.To); ok && any(link) != any(l.told) && l.busy == nil {
			l.busy = make(chan struct{})
			ready = append(ready, l)
		}
	}
	e.mu.Unlock()
	if len(ready) == 0 {
		return
	}
	wg.Go(func() {
		for _, l := range ready {
			e.tidyOne(ctx, l)
		}
	})
}

func (e *Engine) tidyOne(ctx context.Context, l *left) {
	e.mu.Lock()
	j := &job{e: e, row: l.row}
	e.mu.Unlock()
	j.discard(ctx, func(over Link) {
		e.mu.Lock()
		l.told = over
		e.mu.Unlock()
	})
	e.mu.Lock()
	close(l.busy)
	l.busy = nil
	e.mu.Unlock()
}

// discarded handles a node's confirmation that a cancelled transfer has no unfinished files left.
// The returned function stores that, and may block.
func (e *Engine) discarded(over Link, id protocol.TransferID) (proceed func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if j := e.jobs[id]; j != nil && j.told == over { // it is being cancelled
		j.gone = true
	}
	l := e.left[id]
	if l == nil || l.told != over {
		return func() {}
	}
	delete(e.left, id)
	row := l.row
	row.Current = ""
	return func() {
		if err := e.store.ClearCurrent(context.WithoutCancel(e.ctx), id); err != nil {
			slog.Warn("Storing a transfer failed", "transfer", id, "err", err)
		}
		e.publish(row.Transfer)
	}
}

// keepLocked remembers a cancelled transfer until its destination confirms that no unfinished files
// are left. The caller must hold e.mu.
func (e *Engine) keepLocked(j *job) *left {
	if j.gone || len(e.left) >= maxLeft || !mayLeave(j.row.Transfer) {
		return nil
	}
	l := &left{row: j.row, told: j.told}
	e.left[j.row.ID] = l
	return l
}
