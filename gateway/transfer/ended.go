package transfer

import (
	"context"
	"errors"
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

// mayDiscard reports whether a transfer may have left unfinished files anywhere.
func mayDiscard(t protocol.Transfer) bool { return t.Attempts > 0 && !t.Simple }

// cleanUp asks a node, or every node if it is empty, to remove the unfinished files of cancelled
// transfers. It is called for each connection until the node confirms, because a request may be
// lost with its connection.
func (e *Engine) cleanUp(ctx context.Context, node protocol.NodeID) {
	rows, _, err := e.services.store.List(ctx, store.TransferFilter{Finished: true, Node: node, Limit: maxCleanups})
	if err != nil {
		slog.Warn("Reading the cancelled transfers failed", "node", node, "err", err)
	}
	for _, row := range rows {
		if needsCleanup(row.Transfer) && (node == "" || row.To == node) {
			if _, err := e.stopBy(ctx, row.ID, message{event: eventCleanUp}); err != nil {
				slog.Debug("A cancelled transfer has no clean-up now", "transfer", row.ID, "err", err)
			}
		}
	}
}

// cleanupConfirmed handles a node's confirmation that a cancelled transfer has no unfinished files
// left. It does not block.
func (e *Engine) cleanupConfirmed(by Link, id protocol.TransferID) {
	q := e.services.queue
	q.workers.Start(func() {
		_, _, err := e.ask(q.workers.Context(), id, message{event: eventCleaned, link: by})
		if err != nil && !errors.Is(err, errLate) {
			slog.Warn("Storing a transfer failed", "transfer", id, "err", err) // the node confirms again at its next connection
		}
	})
}
