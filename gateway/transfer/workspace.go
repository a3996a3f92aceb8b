package transfer

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"time"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// local is the end in this process: the agent's workspace. It implements both the connection and
// the end behind it.
type local struct {
	relays *Relays
	ends   *stream.Ends
}

func newLocal(r *Relays, w workspaces, agent protocol.AgentID) *local {
	l := &local{relays: r}
	l.ends = stream.NewEnds(stream.Options{Files: w.folders(agent), Peer: localPeer{l}, Unfinished: w.records.Of(string(agent))})
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

// Gone returns a channel that is never closed.
func (l *local) Gone() <-chan struct{} { return nil }

// localPeer is the gateway as the local end sees it.
type localPeer struct{ l *local }

func (p localPeer) Report(_ context.Context, _ string, params any, _ bool) error {
	proceed, err := func() {}, error(nil)
	switch v := params.(type) {
	case protocol.TransferMetaParams:
		proceed, err = p.l.relays.Meta(p.l, v)
	case protocol.TransferAcceptParams:
		proceed, err = p.l.relays.Accept(p.l, v)
	case protocol.TransferCompleteParams:
		proceed, err = p.l.relays.Complete(p.l, v)
	case protocol.TransferDoneParams:
		proceed, err = p.l.relays.Done(p.l, v)
	}
	proceed()
	return err
}

func (p localPeer) SendFrame(_ context.Context, f *stream.Frame) error {
	p.l.relays.Frame(p.l, f)
	return nil
}

// Folders returns the files that an agent's workspace may send and receive.
type Folders func(agent protocol.AgentID) stream.Files

// workspaces are the agents' workspaces, the end of a transfer in this process.
type workspaces struct {
	folders Folders
	dir     string // the folder of records, with an entry for each agent; may be empty
	records *stream.UnfinishedFiles
}

func newWorkspaces(folders Folders, dir string) workspaces {
	w := workspaces{folders: folders, dir: dir}
	if dir != "" {
		w.records = stream.OpenUnfinished(dir)
	}
	return w
}

// sweepEvery is the interval at which the workspaces are searched for unfinished files of abandoned
// transfers.
const sweepEvery = 24 * time.Hour

// sweep removes the unfinished files in the workspaces, at the start and then daily.
func (w workspaces) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		agents, _ := os.ReadDir(w.dir) // without the folder there are no unfinished files
		for _, a := range agents {
			agent := protocol.AgentID(a.Name())
			if removed := w.records.Of(a.Name()).Sweep(w.folders(agent), time.Now().Add(-stream.PartAge)); removed > 0 {
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
