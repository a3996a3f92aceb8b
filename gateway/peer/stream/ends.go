package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"fairlead/gateway/protocol"
)

// Files is what an end may read and write. Errors are worded for people.
type Files interface {
	// Source finds a file or folder to send. release lets go of its handle.
	Source(path string) (item Item, release func(), err error)
	// Target opens the folder to write into, and makes it if make is set: path itself when into is set, else the one that path is in.
	Target(path string, into, make bool) (Target, error)
}

// Target is a folder to write into. Whoever has it closes Root.
type Target struct {
	Root *os.Root
	Name string // what the one thing that is sent shall be called; empty: everything keeps its name
	Abs  string // of the folder, for people
}

// path is where a name in the folder is, for people.
func (t Target) path(name string) string {
	switch {
	case t.Abs == "gsv:":
		return t.Abs + name
	case strings.HasPrefix(t.Abs, "gsv:"):
		return t.Abs + "/" + name
	}
	return filepath.Join(t.Abs, name)
}

// Peer is the gateway, for its ends. Methods may block.
type Peer interface {
	// Report calls a method; behind binary frames that were sent before when behind is set.
	Report(ctx context.Context, method string, params any, behind bool) error
	// SendFrame sends a binary frame, which it owns from then on.
	SendFrame(ctx context.Context, f *Frame) error
}

// Consent may refuse what would be received, with words for people; nil lets everything in that Files lets in. It may block.
type Consent func(ctx context.Context, in protocol.TransferReceive) error

// Ends are the ends of transfers on one connection. Event and Binary are called on the connection's reading goroutine.
type Ends struct {
	files   Files
	peer    Peer
	consent Consent
	log     *slog.Logger
	ledger  *Ledger // of what is unfinished; may be nil
	direct  Direct  // may be nil
	worth   int64   // from how many bytes on a transfer gets a connection of its own
	pace    Pace    // of what is sent

	mu    sync.Mutex // guards what follows
	open  map[role]*end
	turns map[turn]*waiting // the last ones
	wg    sync.WaitGroup
	shut  bool
	// refusals is how many refusals wait for the gateway's answer.
	refusals int
}

// role is one side of a transfer. A gateway with only the basic protocol uses one number for both
// sides when a transfer stays on one machine.
type role struct {
	id     uint32
	source bool
}

// maxOpen is how many transfers one connection has at most.
const maxOpen = 256

// maxRefusals is how many refusals wait for the gateway's answer at a time; more are dropped.
const maxRefusals = 16

// errLost is the cause of an end whose connection is gone.
var errLost = errors.New("the connection to the gateway was lost")

// NewEnds serves transfers. log and consent may be nil.
func NewEnds(files Files, peer Peer, consent Consent, log *slog.Logger) *Ends {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Ends{files: files, peer: peer, consent: consent, log: log, worth: worthwhile, open: make(map[role]*end), turns: make(map[turn]*waiting)}
}

// Keep has unfinished files written down in a ledger. Call it before anything else.
func (e *Ends) Keep(l *Ledger) *Ends {
	e.ledger = l
	return e
}

// end is one transfer at this end.
type end struct {
	role
	in     *Inbox
	begun  chan struct{}              // closed by transfer.start
	met    chan protocol.TransferPeer // how to reach the destination, by transfer.meet; once
	once   sync.Once
	cancel context.CancelCauseFunc
	basic  bool // frames are a file's bytes
}

// Event takes an event that belongs to transfers, and reports whether it does. It does not block.
func (e *Ends) Event(name string, payload json.RawMessage) bool {
	var err error
	switch name {
	case protocol.EventTransferSend:
		var p protocol.TransferSend
		if err = json.Unmarshal(payload, &p); err == nil {
			e.begin(p.TransferID, p.Stream, true, func(ctx context.Context, n *end) { e.send(ctx, n, p) })
		}
	case protocol.EventTransferReceive:
		p := protocol.TransferReceive{Size: -1} // one without a size is refused
		if err = json.Unmarshal(payload, &p); err == nil {
			e.begin(p.TransferID, p.Stream, false, func(ctx context.Context, n *end) { e.receive(ctx, n, p) })
		}
	case protocol.EventTransferStart:
		var p protocol.TransferStartEvent
		if err = json.Unmarshal(payload, &p); err == nil {
			if n := e.find(p.TransferID, true); n != nil {
				n.once.Do(func() { close(n.begun) })
			}
		}
	case protocol.EventTransferMeet:
		var p protocol.TransferMeet
		if err = json.Unmarshal(payload, &p); err == nil {
			if n := e.find(p.TransferID, true); n != nil {
				select {
				case n.met <- p.Peer:
				default: // it was told before
				}
			}
		}
	case protocol.EventTransferEnd:
		var p protocol.TransferEnd
		if err = json.Unmarshal(payload, &p); err == nil {
			if n := e.find(p.TransferID, false); n != nil {
				n.in.Close(io.EOF)
			}
		}
	case protocol.EventTransferStop:
		var p protocol.TransferStop
		if err = json.Unmarshal(payload, &p); err == nil {
			e.stop(p)
		}
	case protocol.EventTransferUndo:
		var p protocol.TransferUndoEvent
		if err = json.Unmarshal(payload, &p); err == nil {
			e.undo(p)
		}
	default:
		return false
	}
	if err != nil {
		e.log.Warn("Event cannot be read", "name", name, "err", err)
	}
	return true
}

// Binary takes a frame, which it owns from then on. It drops a frame of an unknown transfer. It
// blocks only in the basic protocol, while the gateway sends faster than the disk writes.
func (e *Ends) Binary(f *Frame) {
	n := e.find(f.ID(), false) // data goes to destinations; only records go to a source, too
	if n == nil {
		n = e.find(f.ID(), true)
	}
	switch {
	case n == nil:
		f.Free()
	case n.basic:
		n.in.PutWait(context.Background(), f) // ends with the inbox
	default:
		n.in.Put(f)
	}
}

func (e *Ends) find(id uint32, source bool) *end {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open[role{id, source}]
}

func (e *Ends) begin(id uint32, stream *protocol.TransferStream, source bool, run func(context.Context, *end)) {
	ctx, cancel := context.WithCancelCause(context.Background())
	n := &end{
		role: role{id, source}, in: NewInbox(Window), begun: make(chan struct{}), met: make(chan protocol.TransferPeer, 1), cancel: cancel, basic: stream == nil,
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shut {
		cancel(nil)
		return
	}
	e.replaceLocked(n.role)
	if len(e.open) >= maxOpen {
		e.refuseLocked(ctx, n)
		return
	}
	e.open[n.role] = n
	mine, pass := func() {}, func() {}
	if stream != nil {
		mine, pass = e.turnLocked(turn{stream.ID, source}, n)
	}
	e.wg.Go(func() {
		defer cancel(nil)
		defer pass()
		mine()
		run(ctx, n)
		n.in.Close(errLost)
		e.mu.Lock()
		if e.open[n.role] == n {
			delete(e.open, n.role)
		}
		e.mu.Unlock()
	})
}

// replaceLocked cancels transfers whose number the gateway uses again. The source begins first, so
// a new source cancels an old destination too; a new destination may belong to the current source.
// The caller holds e.mu.
func (e *Ends) replaceLocked(r role) {
	for _, old := range []*end{e.open[r], e.open[role{r.id, false}]} {
		if old != nil {
			old.cancel(errLost)
			old.in.Close(errLost)
			delete(e.open, old.role)
		}
	}
}

// refuseLocked reports that there are too many transfers. At most maxRefusals reports wait for an
// answer at a time. The caller holds e.mu.
func (e *Ends) refuseLocked(ctx context.Context, n *end) {
	if e.refusals >= maxRefusals {
		n.cancel(nil)
		return
	}
	e.refusals++
	why := fmt.Sprintf("This machine has %d transfers under way, which is the limit: try again later", maxOpen)
	e.wg.Go(func() {
		defer n.cancel(nil)
		if n.source {
			e.report(ctx, n, protocol.TransferMeta.Name, protocol.TransferMetaParams{TransferID: &n.id, Size: new(int64), Error: why}, false)
		} else {
			e.report(ctx, n, protocol.TransferAccept.Name, protocol.TransferAcceptParams{TransferID: &n.id, Error: why}, false)
		}
		e.mu.Lock()
		e.refusals--
		e.mu.Unlock()
	})
}

// Drop ends everything, because the connection is gone; what is unfinished is kept. The Ends may be used on.
func (e *Ends) Drop() {
	e.mu.Lock()
	for _, n := range e.open {
		n.cancel(errLost)
		n.in.Close(errLost)
	}
	e.mu.Unlock()
}

// Close is Drop for good, and waits.
func (e *Ends) Close() {
	e.mu.Lock()
	e.shut = true
	e.mu.Unlock()
	e.Drop()
	e.wg.Wait()
}

func (e *Ends) out(ctx context.Context, f *Frame) error { return e.peer.SendFrame(ctx, f) }

// report tells the gateway, unless the transfer is over.
func (e *Ends) report(ctx context.Context, n *end, method string, params any, behind bool) bool {
	err := e.peer.Report(ctx, method, params, behind)
	if err != nil && ctx.Err() == nil {
		e.log.Warn("A transfer could not be reported on", "transfer", n.id, "method", method, "err", err)
	}
	return err == nil
}
