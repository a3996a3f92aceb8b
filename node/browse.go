package node

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// runFileOperation carries out a person's operation in the browser of this machine's files.
func (n *Node) runFileOperation(ctx context.Context, inv protocol.ToolInvoke) (json.RawMessage, error) {
	select {
	case n.running <- struct{}{}:
		defer func() { <-n.running }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return n.browse.Act(ctx, inv.Tool, inv.Args)
}

// replacedFiles returns the folder for the files that the agent replaced.
func replacedFiles(home string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(home, "before")
}

// expiryInterval is the interval at which expired files are removed for good.
const expiryInterval = 24 * time.Hour

// removeExpiredFiles removes expired files at the start and then once a day.
func (n *Node) removeExpiredFiles(ctx context.Context) {
	tick := time.NewTicker(expiryInterval)
	defer tick.Stop()
	for {
		if err := n.ws.SweepTrash(time.Now()); err != nil {
			n.log.Warn("Emptying the trash failed", "err", err)
		}
		if err := n.browse.Sweep(time.Now()); err != nil {
			n.log.Warn("Removing expired backups failed", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// filesChanged reports a change in a folder that somebody is viewing. A lost report is not sent
// again, because every folder is listed again after a lost connection.
func (n *Node) filesChanged(c protocol.FilesChange) {
	if n.client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), progressLimit)
	defer cancel()
	if _, err := client.Call(ctx, n.client, protocol.FilesReport, c); err != nil {
		n.log.Info("Reporting a file change failed", "err", err)
	}
}
