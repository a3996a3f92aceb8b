package transfer

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// local is the end in this process: the agent's workspace. It implements both the connection and
// the end behind it.
type local struct {
	e    *Engine
	ends *stream.Ends
	gone chan struct{}
}

func newLocal(e *Engine, agent protocol.AgentID) *local {
	l := &local{e: e, gone: make(chan struct{})}
	l.ends = stream.NewEnds(stream.Options{Files: e.workspaces.folders(agent), Peer: localPeer{l}, Unfinished: e.workspaces.unfinishedFiles(agent)})
	return l
}

func (l *local) close() { l.ends.Close() }

func (l *local) SendEvent(_ context.Context, name string, payload any) error {
	raw, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	l.ends.Event(name, raw)
	return nil
}

func (l *local) SendEventBehind(ctx context.Context, name string, payload any) error {
	return l.SendEvent(ctx, name, payload)
}

func (l *local) SendFrame(_ context.Context, f *stream.Frame) error {
	l.ends.Binary(f)
	return nil
}

func (l *local) Gone() <-chan struct{} { return l.gone }

// localPeer is the engine as the local end sees it.
type localPeer struct{ l *local }

func (p localPeer) Report(_ context.Context, _ string, params any, _ bool) error {
	proceed, err := func() {}, error(nil)
	switch v := params.(type) {
	case protocol.TransferMetaParams:
		proceed, err = p.l.e.Meta(p.l, v)
	case protocol.TransferAcceptParams:
		proceed, err = p.l.e.Accept(p.l, v)
	case protocol.TransferCompleteParams:
		proceed, err = p.l.e.Complete(p.l, v)
	case protocol.TransferDoneParams:
		proceed, err = p.l.e.Done(p.l, v)
	}
	proceed()
	return err
}

func (p localPeer) SendFrame(_ context.Context, f *stream.Frame) error {
	p.l.e.Frame(p.l, f)
	return nil
}

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
func (w workspaces) unfinishedFiles(agent protocol.AgentID) *stream.UnfinishedFiles {
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
