package transfer

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/stream"
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

// leftover reports whether a cancelled transfer's destination may have an unfinished file that it was not told to remove.
func leftover(t protocol.Transfer) bool {
	return t.State == protocol.TransferCancelled && t.Current != "" && t.Attempts > 0 && !t.Simple && t.To != protocol.NativePrefix && t.To != protocol.Here
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
			e.left[row.ID] = row
		}
	}
	return nil
}

// tidy has machines that came back remove what transfers left there that were cancelled while they were away.
func (e *Engine) tidy(ctx context.Context) {
	var ready []store.Transfer
	e.mu.Lock()
	for id, row := range e.left {
		if _, _, ok := e.machines.Link(row.To); ok {
			ready = append(ready, row)
			delete(e.left, id)
		}
	}
	e.mu.Unlock()
	for _, row := range ready {
		if !e.discard(ctx, &job{e: e, row: row}) {
			e.keep(row)
			continue
		}
		if err := e.store.TidyTransfer(ctx, row.ID); err != nil {
			slog.Warn("A transfer could not be stored", "transfer", row.ID, "err", err)
		}
	}
}

// keep remembers a cancelled transfer until its destination was told.
func (e *Engine) keep(row store.Transfer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.left) < maxLeft && leftover(row.Transfer) {
		e.left[row.ID] = row
	}
}
