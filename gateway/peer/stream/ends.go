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

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

// Files gives an end access to files. Error texts are for people.
type Files interface {
	// Source opens a file or folder to send.
	Source(path string) (Item, error)
	// Target opens the folder to write into, and creates it if make is set: path itself if into is
	// set, otherwise its parent folder.
	Target(path string, into, make bool) (Target, error)
}

// Target is a folder to write into. Its holder closes Root.
type Target struct {
	Root *os.Root
	Name string // new name of the only item; empty: items keep their names
	Abs  string // path of the folder, for messages
}

// path returns the path of a name in the folder, for messages.
func (t Target) path(name string) string {
	switch {
	case t.Abs == "gsv:":
		return t.Abs + name
	case strings.HasPrefix(t.Abs, "gsv:"):
		return t.Abs + "/" + name
	}
	return filepath.Join(t.Abs, name)
}

// Peer is the connection to the gateway. Methods may block.
type Peer interface {
	// Report calls a method, after earlier binary frames if behind is set.
	Report(ctx context.Context, method string, params any, behind bool) error
	// SendFrame sends a binary frame and takes ownership of it.
	SendFrame(ctx context.Context, f *Frame) error
}

// Consent may refuse an incoming transfer; its error is for people. nil accepts everything that
// Files allows. It may block.
type Consent func(ctx context.Context, in protocol.TransferReceive) error

// Options configure the ends of a connection. All but Files and Peer may be nil.
type Options struct {
	Files      Files
	Peer       Peer
	Consent    Consent
	Log        *slog.Logger
	Unfinished *UnfinishedFiles // records unfinished files
	// Direct enables direct connections for transfers whose other end supports them.
	Direct Direct
}

// Ends are the ends of all transfers on one connection. Event and Binary are called on the
// connection's reading goroutine.
type Ends struct {
	options  Options
	share    Share            // of outgoing transfers
	attempts wire.TicketLocks // one attempt at a time, by transfer and end
	wg       crash.Group

	mu     sync.Mutex // guards the fields below
	open   map[role]*end
	closed bool
}

// role is one side of a transfer. A gateway without the extensions uses one number for both sides
// when a transfer stays on one machine.
type role struct {
	id     uint32
	source bool
}

const (
	// maxOpen is the maximum number of transfers on one connection.
	maxOpen = 256
	// maxRefusals is the maximum number of further ones that are refused at a time; more are
	// dropped.
	maxRefusals = 16
)

// errLost is the cancellation cause when the connection is lost.
var errLost = errors.New("the connection to the gateway was lost")

// NewEnds creates the ends of a connection.
func NewEnds(o Options) *Ends {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Ends{options: o, open: make(map[role]*end)}
}

// end is one end of one transfer.
type end struct {
	role
	transfer protocol.TransferID // empty without records: frames contain the bytes of one file
	peer     Peer
	log      *slog.Logger
	in       *Inbox
	started  chan *protocol.TransferPeer // receives transfer.start: the listening destination, or nil
	cancel   context.CancelCauseFunc
}

// stop cancels the end, for a reason.
func (n *end) stop(cause error) {
	n.cancel(cause)
	n.in.Close(cause)
}

// Event handles an event and reports whether it belongs to transfers. It does not block.
func (e *Ends) Event(name string, payload json.RawMessage) bool {
	var err error
	switch name {
	case protocol.EventTransferSend:
		err = handle(payload, protocol.TransferSend{}, func(p protocol.TransferSend) {
			e.begin(p.TransferID, p.Stream, true, func(ctx context.Context, n *end) { e.send(ctx, n, p) })
		})
	case protocol.EventTransferReceive:
		err = handle(payload, protocol.TransferReceive{Size: -1}, func(p protocol.TransferReceive) { // a missing size is refused
			e.begin(p.TransferID, p.Stream, false, func(ctx context.Context, n *end) { e.receive(ctx, n, p) })
		})
	case protocol.EventTransferStart:
		err = handle(payload, protocol.TransferStartEvent{}, func(p protocol.TransferStartEvent) {
			if n := e.find(p.TransferID, true); n != nil {
				select {
				case n.started <- p.Peer:
				default: // a repeated event
				}
			}
		})
	case protocol.EventTransferEnd:
		err = handle(payload, protocol.TransferEnd{}, func(p protocol.TransferEnd) {
			if n := e.find(p.TransferID, false); n != nil {
				n.in.Close(io.EOF)
			}
		})
	case protocol.EventTransferStop:
		err = handle(payload, protocol.TransferStop{}, e.stop)
	case protocol.EventTransferUndo:
		err = handle(payload, protocol.TransferUndoEvent{}, e.undo)
	default:
		return false
	}
	if err != nil {
		e.options.Log.Warn("Event cannot be read", "name", name, "err", err)
	}
	return true
}

// handle decodes an event's payload over the default p, and passes it to f.
func handle[T any](payload json.RawMessage, p T, f func(T)) error {
	if err := json.Unmarshal(payload, &p); err != nil {
		return err
	}
	f(p)
	return nil
}

// Binary takes ownership of a frame. It drops frames of unknown transfers. It blocks only for a
// transfer without records, while the gateway sends faster than the disk writes.
func (e *Ends) Binary(f *Frame) {
	n := e.find(f.ID(), false) // data goes to destinations; a source receives only records
	if n == nil {
		n = e.find(f.ID(), true)
	}
	switch {
	case n == nil:
		f.Free()
	case n.transfer == "":
		n.in.PutWait(context.Background(), f) // returns when the inbox is closed
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
		role: role{id, source}, peer: e.options.Peer, log: e.options.Log, in: NewInbox(Window),
		started: make(chan *protocol.TransferPeer, 1), cancel: cancel,
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		cancel(nil)
		return
	}
	e.replaceLocked(n.role)
	switch open := len(e.open); {
	case open >= maxOpen+maxRefusals:
		cancel(nil)
		return
	case open >= maxOpen:
		stream = nil
		run = func(ctx context.Context, n *end) {
			n.refuse(ctx, fmt.Errorf("This machine already runs %d transfers, which is the limit: try again later", maxOpen))
		}
	}
	wait, done := func() {}, func() {}
	if stream != nil {
		ticket := e.enqueueLocked(stream.ID, source)
		wait, done = ticket.Wait, ticket.Release
		n.transfer = stream.ID
	}
	e.open[n.role] = n
	e.wg.Go(func() {
		defer cancel(nil)
		defer done()
		wait()
		if err := crash.Run("transfer", func() { run(ctx, n) }, "transfer", n.id); err != nil {
			n.refuse(ctx, err)
		}
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
			old.stop(errLost)
			delete(e.open, old.role)
		}
	}
}

// Drop stops all transfers because the connection is lost. Unfinished files stay. The Ends can be
// used again.
func (e *Ends) Drop() {
	e.mu.Lock()
	for _, n := range e.open {
		n.stop(errLost)
	}
	e.mu.Unlock()
}

// Close stops all transfers finally and waits for them.
func (e *Ends) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.Drop()
	e.wg.Wait()
}

// refuse reports why the transfer cannot begin.
func (n *end) refuse(ctx context.Context, why error) {
	if n.source {
		meta := protocol.TransferMetaParams{TransferID: &n.id, Size: new(int64), Error: why.Error()}
		n.report(ctx, protocol.TransferMeta.Name, meta, false)
	} else {
		accept := protocol.TransferAcceptParams{TransferID: &n.id, Error: why.Error()}
		n.report(ctx, protocol.TransferAccept.Name, accept, false)
	}
}

// report calls a method of the gateway, and logs an error unless the transfer has ended.
func (n *end) report(ctx context.Context, method string, params any, behind bool) bool {
	err := n.peer.Report(ctx, method, params, behind)
	if err != nil && ctx.Err() == nil {
		n.log.Warn("Transfer report failed", "transfer", n.id, "method", method, "err", err)
	}
	return err == nil
}
