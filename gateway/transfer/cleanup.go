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
	// maxCleanups is the number of cancelled transfers whose unfinished files on a node are
	// remembered. Nodes also clean up by themselves.
	maxCleanups = 500
)

// unfinishedFiles returns the records of unfinished files in an agent's workspace.
func (e *Engine) unfinishedFiles(agent protocol.AgentID) *stream.Unfinished {
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
			if removed := e.unfinishedFiles(agent).Sweep(e.folders(agent), time.Now().Add(-stream.PartAge)); removed > 0 {
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

// cleanup is a cancelled transfer whose destination has not confirmed the removal of unfinished
// files.
type cleanup struct {
	row      store.Transfer
	notified Link          // the connection of the last request
	busy     chan struct{} // closed when the request in progress is sent; nil if there is none
}

// mayHaveUnfinished reports whether a transfer's destination is a node that may have unfinished
// files.
func mayHaveUnfinished(t protocol.Transfer) bool {
	return t.Attempts > 0 && !t.Simple && t.To != protocol.NativePrefix && t.To != protocol.Here
}

// needsCleanup reports whether a cancelled transfer's removal of unfinished files is unconfirmed.
func needsCleanup(t protocol.Transfer) bool {
	return t.State == protocol.TransferCancelled && t.Current != "" && mayHaveUnfinished(t)
}

// loadCleanups restores the cancelled transfers that left unfinished files on offline nodes.
func (e *Engine) loadCleanups(ctx context.Context) error {
	rows, _, err := e.store.Finished(ctx, "", 0, maxCleanups)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, row := range rows {
		if needsCleanup(row.Transfer) {
			e.cleanups[row.ID] = &cleanup{row: row}
		}
	}
	return nil
}

// startCleanups asks nodes to remove the unfinished files of cancelled transfers, once per
// connection until they confirm it, because a request may be lost with its connection. It counts
// goroutines that wait for a slow node in wg.
func (e *Engine) startCleanups(ctx context.Context, wg *sync.WaitGroup) {
	var ready []*cleanup
	e.mu.Lock()
	for _, l := range e.cleanups {
		if link, _, ok := e.machines.Link(l.row.To); ok && any(link) != any(l.notified) && l.busy == nil {
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
			e.cleanUp(ctx, l)
		}
	})
}

func (e *Engine) cleanUp(ctx context.Context, l *cleanup) {
	e.mu.Lock()
	j := &job{e: e, row: l.row}
	e.mu.Unlock()
	j.discard(ctx, func(over Link) {
		e.mu.Lock()
		l.notified = over
		e.mu.Unlock()
	})
	e.mu.Lock()
	close(l.busy)
	l.busy = nil
	e.mu.Unlock()
}

// cleanupConfirmed handles a node's confirmation that a cancelled transfer has no unfinished files
// left. The returned function stores that, and may block.
func (e *Engine) cleanupConfirmed(over Link, id protocol.TransferID) (proceed func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if j := e.jobs[id]; j != nil && j.notified == over { // it is being cancelled
		j.isClean = true
	}
	l := e.cleanups[id]
	if l == nil || l.notified != over {
		return func() {}
	}
	delete(e.cleanups, id)
	row := l.row
	row.Current = ""
	return func() {
		if err := e.store.ClearCurrent(context.WithoutCancel(e.ctx), id); err != nil {
			slog.Warn("Storing a transfer failed", "transfer", id, "err", err)
		}
		e.publish(row.Transfer)
	}
}

// addCleanupLocked remembers a cancelled transfer until its destination confirms that no unfinished
// files are left. The caller must hold e.mu.
func (e *Engine) addCleanupLocked(j *job) *cleanup {
	if j.isClean || len(e.cleanups) >= maxCleanups || !mayHaveUnfinished(j.row.Transfer) {
		return nil
	}
	l := &cleanup{row: j.row, notified: j.notified}
	e.cleanups[j.row.ID] = l
	return l
}
