package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// Link is a connection to an end of a transfer.
type Link interface {
	// SendEvent sends an event. SendEventBehind sends an event after the binary frames sent before
	// it.
	SendEvent(ctx context.Context, name string, payload any) error
	SendEventBehind(ctx context.Context, name string, payload any) error
	// SendFrame sends a binary frame and takes ownership of it. It blocks while the end is slow.
	SendFrame(ctx context.Context, f *stream.Frame) error
	// Gone is closed when the connection has closed.
	Gone() <-chan struct{}
}

// Window is a window or command line, which may be an end ([protocol.Here]).
type Window interface {
	Link
	// Device returns the paired device on which the window runs; empty on the gateway's own
	// computer.
	Device() protocol.DeviceID
}

// Machines are the connected nodes.
type Machines interface {
	Link(id protocol.NodeID) (nodes.Link, nodes.Contact, bool)
	// Lookup finds a tool of a node.
	Lookup(name protocol.ToolName) (protocol.NodeID, protocol.ToolSpec, error)
}

// transferEnd is one end of a running transfer.
type transferEnd struct {
	name       protocol.NodeID
	id         uint32 // the transfer's number at this end: two ends on one connection have two
	link       Link
	isFairlead bool            // supports streams
	canUndo    bool            // retains replaced files for an undo
	hasDirect  bool            // its owner allows direct connections to other nodes
	ready      <-chan struct{} // closed once the end handles events; nil if it already does
	in         *stream.Inbox   // received frames that have not been forwarded yet
}

// relay is a running transfer as the connections see it.
type relay struct {
	src, dst     *transferEnd
	stream       bool
	meta         chan protocol.TransferMetaParams
	accept       chan protocol.TransferAcceptParams
	complete     chan protocol.TransferCompleteParams
	done         chan protocol.TransferDoneParams
	lastActivity atomic.Int64 // time of the last message, since [processStart], on the monotonic clock
	bytes        atomic.Int64 // forwarded bytes of the source's frames
	size         int64        // size announced by the source; set before any frame is forwarded
}

// newRelay copies the sides, because a late frame of an earlier relay may still use their inboxes.
func newRelay(src, dst transferEnd) *relay {
	r := &relay{
		src: &src, dst: &dst, stream: src.isFairlead && dst.isFairlead, meta: make(chan protocol.TransferMetaParams, 1), accept: make(chan protocol.TransferAcceptParams, 1),
		complete: make(chan protocol.TransferCompleteParams, 1), done: make(chan protocol.TransferDoneParams, 1),
	}
	src.in, dst.in = stream.NewInbox(stream.Window), stream.NewInbox(stream.Window)
	r.touch()
	return r
}

var processStart = time.Now()

func (r *relay) touch() { r.lastActivity.Store(int64(time.Since(processStart))) }

// sinceActivity returns the time since the last message.
func (r *relay) sinceActivity() time.Duration {
	return time.Since(processStart) - time.Duration(r.lastActivity.Load())
}

// from returns the end that has this number on a connection, or nil.
func (r *relay) from(l Link, id uint32) *transferEnd {
	for _, s := range []*transferEnd{r.src, r.dst} {
		if s.link == l && s.id == id {
			return s
		}
	}
	return nil
}

// connectEnd returns the connection of an end. For an offline node the error is a
// protocol.ErrUnavailable.
func (j *job) connectEnd(id protocol.NodeID, what string) (*transferEnd, func(), error) {
	e := j.e
	switch id {
	case protocol.NativePrefix:
		l := newLocal(e, j.row.Agent)
		return &transferEnd{name: id, link: l, isFairlead: true, canUndo: true}, l.close, nil
	case protocol.Here:
		e.mu.Lock()
		l, there := j.here, j.hasWindowLocked()
		e.mu.Unlock()
		if !there {
			return nil, nil, offlineError(windowText)
		}
		return &transferEnd{name: id, link: l, isFairlead: true, canUndo: true}, func() {}, nil
	}
	l, c, ok := e.machines.Link(id)
	link, fits := l.(Link)
	if !ok || !fits {
		return nil, nil, offlineError(fmt.Sprintf("%s node not connected: %s", what, id))
	}
	names := func(ext string) bool { return slices.Contains(c.Extensions, ext) }
	return &transferEnd{
		name: id, link: link, isFairlead: names(protocol.ExtTransfer), canUndo: names(protocol.ExtUndo),
		hasDirect: names(protocol.ExtDirect) && !c.Local, ready: c.Listens,
	}, func() {}, nil
}

// atWindow reports whether an end is a window or command line.
func atWindow(t protocol.Transfer) bool { return t.From == protocol.Here || t.To == protocol.Here }

// errElsewhere is the error for a window on another computer than the one whose files are meant:
// there, the path names another file, which must not be sent or overwritten.
var errElsewhere = protocol.ErrConflict.With("The files are on another computer: continue in a window or on the command line there")

// windowText is the reason for waiting if an end is a window or command line.
const windowText = "Waiting for the window or command line that started it"

// offlineText is the reason for waiting if a node is offline.
func offlineText(id protocol.NodeID) string { return fmt.Sprintf("Waiting for %s", id) }

// offlineError says that a node is offline.
type offlineError string

func (e offlineError) Error() string        { return string(e) }
func (e offlineError) Is(target error) bool { return protocol.ErrUnavailable.Is(target) }

// Done handles the destination's last report, as the other reports ([relays.Meta]) are handled.
func (e *Engine) Done(l Link, p protocol.TransferDoneParams) (proceed func(), err error) {
	switch {
	case p.Discarded != "":
		return e.cleanupConfirmed(l, p.Discarded), nil
	case p.Undone != nil:
		e.mu.Lock()
		defer e.mu.Unlock()
		j := e.inTransition[p.Undone.ID]
		if j == nil || j.undoOn != l {
			return func() {}, nil
		}
		return offer(j.undone, sanitizeUndone(*p.Undone)), nil
	}
	r, err := e.report(l, p.TransferID, false)
	return offer(r.done, sanitizeDone(p)), err
}

// local is the end in this process: the agent's workspace. It implements both the connection and
// the end behind it.
type local struct {
	e    *Engine
	ends *stream.Ends
}

func newLocal(e *Engine, agent protocol.AgentID) *local {
	l := &local{e: e}
	l.ends = stream.NewEnds(stream.Options{Files: e.workspaces.folders(agent), Peer: localPeer{l}, Unfinished: e.workspaces.records.Of(string(agent))})
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
