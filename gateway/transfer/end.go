package transfer

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
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

// ends connects the ends of transfers. It is safe for concurrent use.
type ends struct {
	machines   Machines
	workspaces workspaces
	relays     *Relays
}

// connect returns the connection of an end; window is the connected window of the transfer, or nil.
// For an end that is offline the error is a protocol.ErrUnavailable.
func (e ends) connect(id protocol.NodeID, what string, row store.Transfer, window Window) (*transferEnd, func(), error) {
	switch id {
	case protocol.NativePrefix:
		l := newLocal(e.relays, e.workspaces, row.Agent)
		return &transferEnd{name: id, link: l, isFairlead: true, canUndo: true}, l.close, nil
	case protocol.Here:
		if !isConnected(window) {
			return nil, nil, offlineError(windowText)
		}
		return &transferEnd{name: id, link: window, isFairlead: true, canUndo: true}, func() {}, nil
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

// waitReason returns the reason for waiting, or "" if both ends are connected.
func (e ends) waitReason(t protocol.Transfer, window Window) string {
	for _, id := range []protocol.NodeID{t.From, t.To} {
		switch id {
		case protocol.NativePrefix:
		case protocol.Here:
			if !isConnected(window) {
				return windowText
			}
		default:
			if _, _, ok := e.machines.Link(id); !ok {
				return offlineText(id)
			}
		}
	}
	return ""
}

// isConnected reports whether the window or command line that is an end is connected.
func isConnected(w Window) bool {
	if w == nil {
		return false
	}
	select {
	case <-w.Gone():
		return false
	default:
		return true
	}
}

// discard asks the destination of an inactive transfer to remove unfinished files, if the
// destination is connected.
func (e ends) discard(ctx context.Context, row store.Transfer, window Window) {
	s, release, err := e.connect(row.To, "Destination", row, window)
	if err != nil {
		return
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	s.event(ctx, protocol.EventTransferStop, protocol.TransferStop{Path: pathOf(row.Destination), Stream: &protocol.TransferStream{ID: row.ID, Into: row.Into}, Current: row.Current})
}

// undoLimit is the time limit for restoring the files that a transfer replaced.
const undoLimit = time.Minute

// undo asks the destination to restore the replaced files and waits for its result.
func (e ends) undo(ctx context.Context, row store.Transfer, window Window) (out protocol.TransferUndone, err error) {
	s, release, err := e.connect(row.To, "Destination", row, window)
	if err != nil {
		return out, protocol.ErrUnavailable.With(err.Error())
	}
	defer release()
	if !s.canUndo {
		return out, protocol.ErrUnavailable.With(fmt.Sprintf("%s cannot restore files: update Fairlead there", s.name))
	}
	result, forget := e.relays.awaitUndo(row.ID, s.link)
	defer forget()
	if err := s.event(ctx, protocol.EventTransferUndo, protocol.TransferUndoEvent{TransferID: e.relays.number(), ID: row.ID, Path: pathOf(row.Destination), Into: row.Into}); err != nil {
		return out, protocol.ErrUnavailable.With(err.Error())
	}
	silent := protocol.ErrTimeout.With(fmt.Sprintf("%s did not report the result", s.name))
	ctx, cancel := context.WithTimeoutCause(ctx, undoLimit, silent)
	defer cancel()
	select {
	case out = <-result:
	case <-s.link.Gone():
		return out, protocol.ErrUnavailable.With(fmt.Sprintf("Node disconnected: %s", s.name))
	case <-ctx.Done():
		return out, context.Cause(ctx)
	}
	if out.Error != "" {
		return out, protocol.ErrInternal.With(out.Error)
	}
	return out, nil
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
