package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"sync"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// Relays handles what the ends of transfers send. It finds the running transfer to which a frame or
// report belongs, by its number on a connection. It is safe for concurrent use.
type Relays struct {
	// discarded handles a node's confirmation that a cancelled transfer has no unfinished files left.
	discarded func(Link, protocol.TransferID)

	mu       sync.Mutex // guards the fields below
	byNumber map[uint32]*relay
	last     uint32                              // the last transfer number
	undos    map[protocol.TransferID]awaitedUndo // in progress
}

// awaitedUndo is an undo that the connection of a destination has yet to report.
type awaitedUndo struct {
	on     Link
	result chan protocol.TransferUndone
}

// newRelays starts after the number first; 0 selects a random one. discarded must not block.
func newRelays(first uint32, discarded func(Link, protocol.TransferID)) *Relays {
	if first == 0 {
		first = rand.Uint32()
	}
	return &Relays{discarded: discarded, byNumber: make(map[uint32]*relay), last: first, undos: make(map[protocol.TransferID]awaitedUndo)}
}

// awaitUndo returns a channel for the result of the undo of a transfer, which a destination
// reports. The caller must call forget.
func (t *Relays) awaitUndo(id protocol.TransferID, on Link) (result <-chan protocol.TransferUndone, forget func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := make(chan protocol.TransferUndone, 1)
	t.undos[id] = awaitedUndo{on, c}
	return c, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.undos, id)
	}
}

// number returns an unused transfer number. Numbers are not reused soon, because a peer may still
// send messages about an old one.
func (t *Relays) number() uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		if t.last++; t.last != 0 && t.byNumber[t.last] == nil {
			return t.last
		}
	}
}

// register routes reports and frames with the relay's numbers to it until unregister is called.
func (t *Relays) register(r *relay) (unregister func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byNumber[r.src.id], t.byNumber[r.dst.id] = r, r
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.byNumber, r.src.id)
		delete(t.byNumber, r.dst.id)
	}
}

func (t *Relays) relay(id uint32) *relay {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byNumber[id]
}

// Frame handles a binary frame from a connection and takes ownership of it. A frame of a transfer
// that does not belong to this connection is dropped. Frame blocks only for a source without flow
// control, while its data cannot be forwarded.
func (t *Relays) Frame(l Link, f *stream.Frame) {
	r := t.relay(f.ID())
	if r == nil {
		f.Free()
		return
	}
	s := r.from(l, f.ID())
	switch {
	case s != nil && r.stream:
		r.touch()
		s.in.Put(f)
	case s != nil && s == r.src:
		r.touch()
		s.in.PutWait(context.Background(), f) // returns when the inbox is closed
	default:
		f.Free()
	}
}

var errOtherNode = protocol.ErrForbidden.With("Node not authorized for this transfer")

// report returns the transfer that a connection reports on. A report on an unknown transfer
// succeeds without effect, as in GSV: the returned relay receives nothing.
func (t *Relays) report(l Link, id *uint32, source bool) (*relay, error) {
	if id == nil {
		return new(relay), protocol.ErrBadRequest.With("transferId required")
	}
	r := t.relay(*id)
	if r == nil {
		return new(relay), nil
	}
	if s := r.from(l, *id); s == nil || (s == r.src) != source {
		return new(relay), errOtherNode
	}
	r.touch()
	return r, nil
}

// offer returns a function that passes a report on, unless it is a repeated one, or to is nil.
func offer[T any](to chan<- T, v T) (proceed func()) {
	return func() {
		select {
		case to <- v:
		default:
		}
	}
}

// Meta, Accept, Complete and Done handle the reports of the ends (docs/protocol.md#transfers). They
// never block. The caller must call proceed, which is never nil, once the response is queued for
// sending: the transfer continues only then, so that a peer receives further events after the
// response to its report.
func (t *Relays) Meta(l Link, p protocol.TransferMetaParams) (proceed func(), err error) {
	r, err := t.report(l, p.TransferID, true)
	return offer(r.meta, sanitizeMeta(p)), err
}

func (t *Relays) Accept(l Link, p protocol.TransferAcceptParams) (proceed func(), err error) {
	r, err := t.report(l, p.TransferID, false)
	p.Error = sanitizeText(p.Error)
	return offer(r.accept, p), err
}

func (t *Relays) Complete(l Link, p protocol.TransferCompleteParams) (proceed func(), err error) {
	r, err := t.report(l, p.TransferID, true)
	p.Error = sanitizeText(p.Error)
	return offer(r.complete, p), err
}

// Done handles the destination's last report, and its reports about a transfer that has ended.
func (t *Relays) Done(l Link, p protocol.TransferDoneParams) (proceed func(), err error) {
	switch {
	case p.Discarded != "":
		return func() { t.discarded(l, p.Discarded) }, nil
	case p.Undone != nil:
		t.mu.Lock()
		defer t.mu.Unlock()
		undo := t.undos[p.Undone.ID]
		if undo.on != l {
			return func() {}, nil
		}
		return offer(undo.result, sanitizeUndone(*p.Undone)), nil
	}
	r, err := t.report(l, p.TransferID, false)
	return offer(r.done, sanitizeDone(p)), err
}

// Limits of the reports of an end. They are stored and shown in every window, so they are cut off
// here: no count is negative, and no text is longer than a path with a short explanation.
const (
	maxText     = 8 << 10 // bytes of a text
	maxProblems = 50      // our own ends report no more
	maxStartup  = 20      // start-up files that a source reports
)

func sanitizeText(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	return strings.ToValidUTF8(text, "�")
}

func sanitizeProblems(list []protocol.TransferProblem) []protocol.TransferProblem {
	list = list[:min(len(list), maxProblems)]
	for i, p := range list {
		list[i] = protocol.TransferProblem{Path: sanitizeText(p.Path), Text: sanitizeText(p.Text)}
	}
	return list
}

func sanitizeMeta(p protocol.TransferMetaParams) protocol.TransferMetaParams {
	p.Error, p.Mime, p.Files, p.Holes = sanitizeText(p.Error), sanitizeText(p.Mime), max(p.Files, 0), max(p.Holes, 0)
	p.Startup = p.Startup[:min(len(p.Startup), maxStartup)]
	for i := range p.Startup {
		p.Startup[i] = sanitizeText(p.Startup[i])
	}
	if p.Size != nil && *p.Size < 0 && p.Error == "" {
		p.Error = "The source reported a negative size"
	}
	return p
}

func sanitizeDone(p protocol.TransferDoneParams) protocol.TransferDoneParams {
	p.Error, p.Path, p.Problems = sanitizeText(p.Error), sanitizeText(p.Path), sanitizeProblems(p.Problems)
	if sum, err := hex.DecodeString(p.SHA256); err != nil || len(sum) != sha256.Size {
		p.SHA256 = ""
	}
	p.Files, p.Skipped, p.Failed, p.Kept = max(p.Files, 0), max(p.Skipped, 0), max(p.Failed, 0), max(p.Kept, 0)
	if p.BytesWritten != nil {
		n := max(*p.BytesWritten, 0)
		p.BytesWritten = &n
	}
	return p
}

func sanitizeUndone(u protocol.TransferUndone) protocol.TransferUndone {
	u.Error, u.Back, u.Problems = sanitizeText(u.Error), max(u.Back, 0), sanitizeProblems(u.Problems)
	return u
}

func sanitizeProgress(a stream.ProgressReport) stream.ProgressReport {
	return stream.ProgressReport{Files: max(a.Files, 0), Bytes: max(a.Bytes, 0), Current: sanitizeText(a.Current)}
}
