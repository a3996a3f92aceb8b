package node

import (
	"context"
	"path/filepath"
	"time"

	"fairlead/gateway/peer/stream"
)

// sweepEvery is how often a node looks for unfinished files of transfers that nobody goes on with; the first time is its start.
const sweepEvery = 24 * time.Hour

// ledger is where the node writes down what transfers may leave unfinished; nil when the program has no place of its own.
func (n *Node) ledger() *stream.Ledger {
	if n.opts.Keep == "" {
		return nil
	}
	return stream.OpenLedger(filepath.Join(n.opts.Keep, "unfinished", "node"))
}

func (n *Node) sweep(ctx context.Context, parts *stream.Ledger, files stream.Files) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if removed := parts.Sweep(files, time.Now().Add(-stream.PartAge)); removed > 0 {
			n.log.Info("Unfinished files of old transfers were removed", "files", removed)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
