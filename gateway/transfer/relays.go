package transfer

import (
	"context"
	"math/rand/v2"
	"sync"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// relays finds the running transfer to which a frame or report belongs, by its number on a
// connection.
type relays struct {
	mu       sync.Mutex // guards the fields below
	byNumber map[uint32]*relay
	last     uint32 // the last transfer number
}

// newRelays starts after the number first; 0 selects a random one.
func newRelays(first uint32) *relays {
	if first == 0 {
		first = rand.Uint32()
	}
	return &relays{byNumber: make(map[uint32]*relay), last: first}
}

// number returns an unused transfer number. Numbers are not reused soon, because a peer may still
// send messages about an old one.
func (t *relays) number() uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		if t.last++; t.last != 0 && t.byNumber[t.last] == nil {
			return t.last
		}
	}
}

// register routes reports and frames with the relay's numbers to it until unregister is called.
func (t *relays) register(r *relay) (unregister func()) {
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

func (t *relays) relay(id uint32) *relay {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byNumber[id]
}

// Frame handles a binary frame from a connection and takes ownership of it. A frame of a transfer
// that does not belong to this connection is dropped. Frame blocks only for a source without flow
// control, while its data cannot be forwarded.
func (t *relays) Frame(l Link, f *stream.Frame) {
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

// report returns the transfer that a connection reports on. It returns nil for an unknown transfer:
// such a report succeeds without effect, as in the original system.
func (t *relays) report(l Link, id *uint32, source bool) (*relay, error) {
	if id == nil {
		return nil, protocol.ErrBadRequest.With("transferId required")
	}
	r := t.relay(*id)
	if r == nil {
		return nil, nil
	}
	s := r.dst
	if source {
		s = r.src
	}
	if s.link != l || s.id != *id {
		return nil, errOtherNode
	}
	r.touch()
	return r, nil
}

// deliver returns a function that passes a report to its transfer.
func deliver[T any](r *relay, err error, into func(*relay) chan T, v T) (proceed func(), _ error) {
	if r == nil {
		return func() {}, err
	}
	return func() {
		select {
		case into(r) <- v:
		default: // repeated report
		}
	}, nil
}

// Meta, Accept, Complete and Done handle the reports of the ends (docs/protocol.md#transfers). They
// never block. The caller must call proceed, which is never nil, once the response is queued for
// sending: the transfer continues only then, so that a peer receives further events after the
// response to its report.
func (t *relays) Meta(l Link, p protocol.TransferMetaParams) (proceed func(), err error) {
	r, err := t.report(l, p.TransferID, true)
	return deliver(r, err, func(r *relay) chan protocol.TransferMetaParams { return r.meta }, sanitizeMeta(p))
}

func (t *relays) Accept(l Link, p protocol.TransferAcceptParams) (proceed func(), err error) {
	r, err := t.report(l, p.TransferID, false)
	p.Error = sanitizeText(p.Error)
	return deliver(r, err, func(r *relay) chan protocol.TransferAcceptParams { return r.accept }, p)
}

func (t *relays) Complete(l Link, p protocol.TransferCompleteParams) (proceed func(), err error) {
	r, err := t.report(l, p.TransferID, true)
	p.Error = sanitizeText(p.Error)
	return deliver(r, err, func(r *relay) chan protocol.TransferCompleteParams { return r.complete }, p)
}
