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
	// sweepEvery is how often the agents' workspaces are looked through for what transfers left unfinished and nobody goes on with.
	sweepEvery = 24 * time.Hour
	// maxLeft is how many cancelled transfers are remembered whose machine still has an unfinished file; machines sweep for themselves, too.
	maxLeft = 500
)

// ledger is where the unfinished files in an agent's workspace are written down.
func (e *Engine) ledger(agent protocol.AgentID) *stream.Ledger {
	if e.unfinished == "" {
		return nil
	}
	return stream.OpenLedger(filepath.Join(e.unfinished, string(agent)))
}

// sweep removes what transfers left unfinished in the agents' workspaces, at the start and then daily.
func (e *Engine) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		agents, _ := os.ReadDir(e.unfinished) // without the folder nothing was left
		for _, a := range agents {
			agent := protocol.AgentID(a.Name())
			if removed := e.ledger(agent).Sweep(e.folders(agent), time.Now().Add(-stream.PartAge)); removed > 0 {
				slog.Info("Unfinished files of old transfers were removed", "agent", agent, "files", removed)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// left is a cancelled transfer whose destination has not said that nothing unfinished is left.
type left struct {
	row  store.Transfer
	told Link          // over which it was told
	busy chan struct{} // closed when it has been told, for which somebody sees at the moment; else nil
}

// mayLeave reports whether a transfer's destination is a machine that may have something unfinished.
func mayLeave(t protocol.Transfer) bool {
	return t.Attempts > 0 && !t.Simple && t.To != protocol.NativePrefix && t.To != protocol.Here
}

// leftover reports whether nobody has said that nothing unfinished is left of a cancelled transfer.
func leftover(t protocol.Transfer) bool {
	return t.State == protocol.TransferCancelled && t.Current != "" && mayLeave(t)
}

// loadLeft brings back which cancelled transfers have left something on machines that were away.
func (e *Engine) loadLeft(ctx context.Context) error {
	rows, _, err := e.store.EndedTransfers(ctx, "", 0, maxLeft)
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

// tidy has machines remove what transfers left there that were cancelled, once over each connection until they have said that they did: what was sent
// over one that ended may not have arrived. wg has whoever waits for a machine that takes nothing at the moment.
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
	e.discard(ctx, j, func(over Link) {
		e.mu.Lock()
		l.told = over
		e.mu.Unlock()
	})
	e.mu.Lock()
	close(l.busy)
	l.busy = nil
	e.mu.Unlock()
}

// discarded hears over a connection that nothing unfinished is left of a cancelled transfer. What is returned writes that down, and may block.
func (e *Engine) discarded(over Link, id protocol.TransferID) (proceed func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if j := e.jobs[id]; j != nil && j.told == over { // it is just being cancelled
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
		if err := e.store.TidyTransfer(context.WithoutCancel(e.ctx), id); err != nil {
			slog.Warn("A transfer could not be stored", "transfer", id, "err", err)
		}
		e.publish(row.Transfer)
	}
}

// keepLocked remembers a transfer that is being cancelled until its destination says that nothing is left. It is called under e.mu.
func (e *Engine) keepLocked(j *job) *left {
	if j.gone || len(e.left) >= maxLeft || !mayLeave(j.row.Transfer) {
		return nil
	}
	l := &left{row: j.row, told: j.told}
	e.left[j.row.ID] = l
	return l
}
