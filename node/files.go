package node

import (
	"context"
	"path/filepath"
	"time"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node/baseline"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

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

const cleanupInterval = 24 * time.Hour

// removeOldFiles removes expired files of the trash, expired backups, and unfinished files of
// abandoned transfers, at the start and then at intervals until ctx ends.
func (n *Node) removeOldFiles(ctx context.Context, parts *stream.UnfinishedFiles, files stream.Files) {
	tick := time.NewTicker(cleanupInterval)
	defer tick.Stop()
	for {
		now := time.Now()
		if err := n.ws.Entries().SweepTrash(now); err != nil {
			n.log.Warn("Emptying the trash failed", "err", err)
		}
		if err := n.browse.Sweep(now); err != nil {
			n.log.Warn("Removing expired backups failed", "err", err)
		}
		if removed := parts.Sweep(files, now.Add(-stream.PartAge)); removed > 0 {
			n.log.Info("Removed unfinished files of old transfers", "files", removed)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// transferRecords returns the record of unfinished files; nil without a data folder.
func (n *Node) transferRecords() *stream.UnfinishedFiles {
	if n.opts.Keep == "" {
		return nil
	}
	return stream.OpenUnfinished(filepath.Join(n.opts.Keep, "unfinished", "node"))
}

// openBaseline opens the baseline of the workspace, and puts back what commands of a node that died
// have changed in protected files.
func (n *Node) openBaseline() {
	if n.opts.Confine.Mode == sandbox.Full {
		return
	}
	baseline.RestrictModes(n.opts.Home, true)
	var err error
	if n.baseline, err = baseline.New(filepath.Join(n.opts.Keep, "protected"), n.ws, n.floor, n.log, n.reportPutBack); err != nil {
		n.baseline = nil
		n.log.Error("Files that start programs are not put back after commands", "err", err)
		return
	}
	n.ws = n.ws.WithChanging(n.baseline.Edit)
	for _, c := range n.baseline.Recover() {
		n.log.Warn("A command changed a protected file before this node started", "path", c.Path, "kind", c.Kind, "problem", c.Problem)
	}
}

func (o Options) workspace() workspace.Config {
	return workspace.Config{
		Dir: o.Workspace, WholeDisk: o.Confine.WholeDisk, Grants: o.Confine.Grants, ReadOnly: o.Confine.Mode == sandbox.ReadOnly,
		Private: o.Home,
	}
}

// openPrivateTemp opens the workspace again, so that the file tools see what commands have in their
// /tmp.
func (n *Node) openPrivateTemp() {
	config := n.opts.workspace()
	config.PrivateTemp = n.box.PrivateTemp(n.opts.Confine.profile(n.ws.Dir()))
	if config.PrivateTemp == "" {
		return
	}
	ws, err := config.Open()
	if err != nil {
		n.log.Error("File tools do not see the temporary files of commands", "err", err)
		return
	}
	n.ws.Close()
	n.ws = ws
}
