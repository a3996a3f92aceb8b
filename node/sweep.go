package node

import (
	"context"
	"path/filepath"
	"time"

	"fairlead/gateway/peer/stream"
)

// partsInterval is the interval at which a node removes unfinished files of abandoned transfers; the
// first time is at its start.
const partsInterval = 24 * time.Hour

// transferRecords returns the node's record of unfinished files of transfers, or nil if the program has no
// data folder.
func (n *Node) transferRecords() *stream.Unfinished {
	if n.opts.Keep == "" {
		return nil
	}
	return stream.OpenUnfinished(filepath.Join(n.opts.Keep, "unfinished", "node"))
}

func (n *Node) removeStaleParts(ctx context.Context, parts *stream.Unfinished, files stream.Files) {
	tick := time.NewTicker(partsInterval)
	defer tick.Stop()
	for {
		if removed := parts.Sweep(files, time.Now().Add(-stream.PartAge)); removed > 0 {
			n.log.Info("Removed unfinished files of old transfers", "files", removed)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
