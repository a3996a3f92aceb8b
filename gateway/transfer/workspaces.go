package transfer

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// Folders returns the files that an agent's workspace may send and receive.
type Folders func(agent protocol.AgentID) stream.Files

// workspaces are the agents' workspaces, the end of a transfer in this process.
type workspaces struct {
	folders Folders
	records string // the folder for the records of unfinished files; may be empty
}

// sweepEvery is the interval at which the workspaces are searched for unfinished files of abandoned
// transfers.
const sweepEvery = 24 * time.Hour

// unfinishedFiles returns the records of unfinished files in an agent's workspace.
func (w workspaces) unfinishedFiles(agent protocol.AgentID) *stream.Unfinished {
	if w.records == "" {
		return nil
	}
	return stream.OpenUnfinished(filepath.Join(w.records, string(agent)))
}

// sweep removes the unfinished files in the workspaces, at the start and then daily.
func (w workspaces) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		agents, _ := os.ReadDir(w.records) // without the folder there are no unfinished files
		for _, a := range agents {
			agent := protocol.AgentID(a.Name())
			if removed := w.unfinishedFiles(agent).Sweep(w.folders(agent), time.Now().Add(-stream.PartAge)); removed > 0 {
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
