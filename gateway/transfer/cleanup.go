package transfer

import (
	"context"
	"log/slog"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// maxCleanups is the number of ended transfers among which the gateway looks for cancelled ones
// with unfinished files. Nodes also clean up by themselves.
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

// cleanUp asks a node, or every node if it is empty, to remove the unfinished files of cancelled
// transfers. It is called for each connection until the node confirms, because a request may be
// lost with its connection.
func (e *Engine) cleanUp(ctx context.Context, node protocol.NodeID) {
	rows, _, err := e.store.List(ctx, store.TransferFilter{Finished: true, Node: node, Limit: maxCleanups})
	if err != nil {
		slog.Warn("Reading the cancelled transfers failed", "node", node, "err", err)
	}
	for _, row := range rows {
		if needsCleanup(row.Transfer) && (node == "" || row.To == node) {
			whileCancelled(ctx, e, row.ID, func(j *job) { j.discard(ctx) })
		}
	}
}

// whileCancelled calls f if a transfer is cancelled and its removal of unfinished files
// unconfirmed. Nobody can retry the transfer meanwhile.
func whileCancelled(ctx context.Context, e *Engine, id protocol.TransferID, f func(*job)) {
	j, queued, err := e.reserve(ctx, id, nil)
	if err != nil || queued != nil {
		return
	}
	defer j.release()
	row, err := e.store.Get(ctx, id)
	if err != nil || !needsCleanup(row.Transfer) {
		return
	}
	e.mu.Lock()
	j.row = row
	e.mu.Unlock()
	f(j)
}

// cleanupConfirmed handles a node's confirmation that a cancelled transfer has no unfinished files
// left. The returned function stores that; it does not block.
func (e *Engine) cleanupConfirmed(over Link, id protocol.TransferID) (proceed func()) {
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !e.closed {
			e.wg.Go(func() { whileCancelled(e.ctx, e, id, func(j *job) { j.recordCleanup(over) }) })
		}
	}
}

// recordCleanup records a confirmation if it comes from the destination.
func (j *job) recordCleanup(over Link) {
	t := j.view()
	if link, _, ok := j.e.machines.Link(t.To); !ok || any(link) != any(over) {
		return
	}
	if err := j.e.store.ClearCurrent(context.WithoutCancel(j.e.ctx), t.ID); err != nil {
		slog.Warn("Storing a transfer failed", "transfer", t.ID, "err", err)
	}
	t.Current = ""
	publish(j.e.bus, t)
}
