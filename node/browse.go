package node

import (
	"context"
	"encoding/json"
	"path/filepath"

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
