package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

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
	pace    Pace    // of what is sent through the gateway

	mu   sync.Mutex // guards what follows
	open map[uint32]*end
	wg   sync.WaitGroup
	shut bool
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
	return &Ends{files: files, peer: peer, consent: consent, log: log, open: make(map[uint32]*end)}
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
	begun  chan struct{}          // closed by transfer.start
	peer   *protocol.TransferPeer // the destination, when it waits for a direct connection; set before begun is closed
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
			e.begin(p.TransferID, p.Stream == nil, func(ctx context.Context, n *end) { e.send(ctx, n, p) })
		}
	case protocol.EventTransferReceive:
		var p protocol.TransferReceive
		if err = json.Unmarshal(payload, &p); err == nil {
			e.begin(p.TransferID, p.Stream == nil, func(ctx context.Context, n *end) { e.receive(ctx, n, p) })
		}
	case protocol.EventTransferStart:
		var p protocol.TransferStartEvent
		if err = json.Unmarshal(payload, &p); err == nil {
			if n := e.find(p.TransferID); n != nil {
				n.once.Do(func() {
					n.peer = p.Peer
					close(n.begun)
				})
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

func (e *Ends) begin(id uint32, seed bool, run func(context.Context, *end)) {
	ctx, cancel := context.WithCancelCause(context.Background())
	n := &end{id: id, in: NewInbox(Window), begun: make(chan struct{}), cancel: cancel, seed: seed}
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
	e.wg.Go(func() {
		defer cancel(nil)
		run(ctx, n)
		n.in.Close(errLost)
		e.mu.Lock()
		if e.open[id] == n {
			delete(e.open, id)
		}
		e.mu.Unlock()
	})
}

func (e *Ends) stop(p protocol.TransferStop) {
	cause := ErrDiscard
	if p.Keep {
		cause = errLost
	}
	if n := e.find(p.TransferID); n != nil {
		n.cancel(cause)
		n.in.Close(cause)
		return
	}
	if p.Keep || p.Stream == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.shut {
		e.wg.Go(func() { e.discard(p) })
	}
}

// discard removes the unfinished file of a transfer that was cancelled while it rested.
func (e *Ends) discard(p protocol.TransferStop) {
	removed := e.ledger.clean(e.files, markOf(p.Stream.ID), time.Time{})
	t, err := e.files.Target(p.Path, p.Stream.Into, false)
	if err == nil {
		defer t.Root.Close()
	}
	if err == nil && p.Current != "" {
		r := &Receiver{Transfer: p.Stream.ID}
		if t.Root.Remove(r.partName(path.Clean(p.Current))) == nil {
			removed++
		}
	}
	if removed > 0 {
		e.log.Info("Unfinished files were removed", "transfer", p.Stream.ID, "files", removed)
	}
	e.discarded(p.TransferID, p.Stream.ID)
}

// discarded confirms that nothing unfinished is left of a transfer; a gateway that does not hear it asks again.
func (e *Ends) discarded(number uint32, id protocol.TransferID) {
	ctx, cancel := context.WithTimeout(context.Background(), confirmLimit)
	defer cancel()
	e.peer.Report(ctx, protocol.TransferFinish.Name, protocol.TransferDoneParams{TransferID: &number, Discarded: id}, false)
}

// confirmLimit is how long it may take to confirm something.
const confirmLimit = 5 * time.Second

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

// send is the source's side.
func (e *Ends) send(ctx context.Context, n *end, p protocol.TransferSend) {
	if p.Stream == nil {
		e.sendFile(ctx, n, p.Path)
		return
	}
	var items []Item
	var err error
	for _, path := range p.Stream.Paths {
		item, release, sourceErr := e.files.Source(path)
		if err = sourceErr; err != nil {
			break
		}
		defer release()
		items = append(items, item)
	}
	meta := protocol.TransferMetaParams{TransferID: &n.id, Size: new(int64)}
	if err == nil {
		meta.Files, *meta.Size, err = Count(items, p.Stream.Links)
	}
	if err != nil {
		meta.Error = err.Error()
		e.report(ctx, n, protocol.TransferMeta.Name, meta, false)
		return
	}
	var call Caller
	if e.direct != nil && p.Stream.Peer != nil {
		if call, err = e.direct.Source(p.Stream.ID); err == nil {
			self := call.Self()
			meta.Peer = &self
		} else {
			e.log.Warn("Not direct", "transfer", p.Stream.ID, "err", err)
		}
	}
	if !e.report(ctx, n, protocol.TransferMeta.Name, meta, false) || !n.started(ctx) {
		return
	}
	e.log.Info("Sending", "transfer", p.Stream.ID, "attempt", p.Stream.Attempt, "files", meta.Files, "bytes", *meta.Size)
	err = e.sendItems(ctx, n, call, items, p.Stream.Links)
	done := protocol.TransferCompleteParams{TransferID: &n.id}
	if err != nil {
		if ctx.Err() != nil {
			e.log.Info("Sending was interrupted", "transfer", p.Stream.ID, "err", err)
			return
		}
		done.Error = err.Error()
	}
	e.report(ctx, n, protocol.TransferComplete.Name, done, true)
}

// started waits for transfer.start.
func (n *end) started(ctx context.Context) bool {
	select {
	case <-n.begun:
		return true
	case <-ctx.Done():
		return false
	}
}

// spare is how much of a disk is left free at least.
const spare = 16 << 20

// receive is the destination's side.
func (e *Ends) receive(ctx context.Context, n *end, p protocol.TransferReceive) {
	if p.Stream == nil {
		e.receiveFile(ctx, n, p)
		return
	}
	accept := protocol.TransferAcceptParams{TransferID: &n.id}
	refuse := func(err error) {
		accept.Error = err.Error()
		e.report(ctx, n, protocol.TransferAccept.Name, accept, false)
	}
	if e.consent != nil {
		if err := e.consent(ctx, p); err != nil {
			refuse(err)
			return
		}
	}
	t, err := e.files.Target(p.Path, p.Stream.Into, true)
	if err != nil {
		refuse(err)
		return
	}
	defer t.Root.Close()
	if room := free(t.Root); p.Stream.Attempt <= 1 && room >= 0 && room < p.Size+spare {
		refuse(fmt.Errorf("The disk has %d MiB left, and %d MiB would arrive", room>>20, p.Size>>20)) //lint:ignore ST1005 for people
		return
	}
	var listen Listener
	if e.direct != nil && p.Stream.Peer != nil {
		if listen, err = e.direct.Destination(p.Stream.ID, *p.Stream.Peer); err == nil {
			defer listen.Close()
			self := listen.Self()
			accept.Peer = &self
		} else {
			e.log.Warn("Not direct", "transfer", p.Stream.ID, "err", err)
		}
	}
	if !e.report(ctx, n, protocol.TransferAccept.Name, accept, false) {
		return
	}
	mark := markOf(p.Stream.ID)
	res, err := e.receiveItems(ctx, n, listen, func() *Receiver {
		return &Receiver{
			ID: n.id, Transfer: p.Stream.ID, Root: t.Root, Rename: t.Name, Conflict: p.Stream.Conflict, Out: e.out, In: n.in,
			Note: func(dir string) { e.ledger.note(mark, t.path(dir)) },
		}
	})
	switch {
	case err == nil && res.Failed == 0 && p.Stream.Attempt <= 1 && !res.again:
		e.ledger.done(mark)
	case err == nil && res.Failed == 0, errors.Is(context.Cause(ctx), ErrDiscard): // an earlier attempt may have left another one
		e.ledger.clean(e.files, mark, time.Time{})
	}
	if err != nil && ctx.Err() != nil {
		e.log.Info("Receiving was interrupted", "transfer", p.Stream.ID, "err", context.Cause(ctx))
		if errors.Is(context.Cause(ctx), ErrDiscard) {
			e.discarded(n.id, p.Stream.ID)
		}
		return
	}
	done := protocol.TransferDoneParams{TransferID: &n.id, BytesWritten: &res.Written, Files: res.New, Skipped: res.Skipped, Failed: res.Failed, Problems: res.Problems}
	if res.Top != "" {
		done.Path = t.path(res.Top)
	}
	if err != nil {
		done.Error = err.Error()
		if diskFull(err) {
			done.Error = "The disk is full"
		}
	}
	e.log.Info("Received", "transfer", p.Stream.ID, "files", res.New, "skipped", res.Skipped, "failed", res.Failed, "bytes", res.Written, "err", err)
	e.report(ctx, n, protocol.TransferFinish.Name, done, true)
}
