package stream

import (
	"context"
	"encoding/json"
	"errors"
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
	open  map[uint32]*end
	turns map[turn]*waiting // the last ones
	wg    sync.WaitGroup
	shut  bool
}

// turn is what one at a time has: an attempt of a transfer begins when the one before has let go of its files, and what that left is removed.
type turn struct {
	id     protocol.TransferID
	source bool
}

// waiting is who has a turn, or waits for it.
type waiting struct {
	n    *end          // nil when it ends by itself
	over chan struct{} // closed then
}

// maxOpen is how many transfers one connection has at most.
const maxOpen = 256

// errLost is the cause of an end whose connection is gone.
var errLost = errors.New("the connection to the gateway was lost")

// NewEnds serves transfers. log and consent may be nil.
func NewEnds(files Files, peer Peer, consent Consent, log *slog.Logger) *Ends {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Ends{files: files, peer: peer, consent: consent, log: log, worth: worthwhile, open: make(map[uint32]*end), turns: make(map[turn]*waiting)}
}

// Keep has unfinished files written down in a ledger. Call it before anything else.
func (e *Ends) Keep(l *Ledger) *Ends {
	e.ledger = l
	return e
}

// end is one transfer at this end.
type end struct {
	id     uint32
	in     *Inbox
	begun  chan struct{}              // closed by transfer.start
	met    chan protocol.TransferPeer // how to reach the destination, by transfer.meet; once
	once   sync.Once
	cancel context.CancelCauseFunc
	seed   bool // frames are a file's bytes
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
		var p protocol.TransferReceive
		if err = json.Unmarshal(payload, &p); err == nil {
			e.begin(p.TransferID, p.Stream, false, func(ctx context.Context, n *end) { e.receive(ctx, n, p) })
		}
	case protocol.EventTransferStart:
		var p protocol.TransferStartEvent
		if err = json.Unmarshal(payload, &p); err == nil {
			if n := e.find(p.TransferID); n != nil {
				n.once.Do(func() { close(n.begun) })
			}
		}
	case protocol.EventTransferMeet:
		var p protocol.TransferMeet
		if err = json.Unmarshal(payload, &p); err == nil {
			if n := e.find(p.TransferID); n != nil {
				select {
				case n.met <- p.Peer:
				default: // it was told before
				}
			}
		}
	case protocol.EventTransferEnd:
		var p protocol.TransferEnd
		if err = json.Unmarshal(payload, &p); err == nil {
			if n := e.find(p.TransferID); n != nil {
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

// Binary takes a frame, which it owns from then on. A frame of a transfer that is unknown is dropped. It blocks only while one of the seed's peers sends
// faster than can be written.
func (e *Ends) Binary(f *Frame) {
	n := e.find(f.ID())
	switch {
	case n == nil:
		f.Free()
	case n.seed:
		n.in.PutWait(context.Background(), f) // ends with the inbox
	default:
		n.in.Put(f)
	}
}

func (e *Ends) find(id uint32) *end {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open[id]
}

func (e *Ends) begin(id uint32, stream *protocol.TransferStream, source bool, run func(context.Context, *end)) {
	ctx, cancel := context.WithCancelCause(context.Background())
	n := &end{id: id, in: NewInbox(Window), begun: make(chan struct{}), met: make(chan protocol.TransferPeer, 1), cancel: cancel, seed: stream == nil}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shut || len(e.open) >= maxOpen {
		cancel(nil)
		return
	}
	if old := e.open[id]; old != nil { // a gateway that uses a number again means the new one
		old.cancel(errLost)
		old.in.Close(errLost)
	}
	e.open[id] = n
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
		if e.open[id] == n {
			delete(e.open, id)
		}
		e.mu.Unlock()
	})
}

// turnLocked takes the next turn, and ends whoever has one: mine waits for that, pass lets the one after have it. It is called under e.mu.
func (e *Ends) turnLocked(t turn, n *end) (mine, pass func()) {
	before, me := e.turns[t], &waiting{n, make(chan struct{})}
	e.turns[t] = me
	if before != nil && before.n != nil {
		before.n.cancel(errLost)
		before.n.in.Close(errLost)
	}
	mine = func() {
		if before != nil {
			<-before.over
		}
	}
	pass = func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if close(me.over); e.turns[t] == me {
			delete(e.turns, t)
		}
	}
	return mine, pass
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
