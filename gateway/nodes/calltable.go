package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
)

const (
	// cancelLimit is the time in which a cancelled call can still return a partial result.
	cancelLimit = 2 * time.Second
	// maxAbandoned is the number of abandoned calls that are remembered for late results.
	maxAbandoned = 1024
)

// Calls holds the calls and requests for logs in progress. It is safe for concurrent use; methods
// with Locked in their names require the hub's lock.
type Calls struct {
	bus *event.Bus // may be nil

	mu        *sync.Mutex               // the hub's; guards the fields below
	nodes     map[protocol.NodeID]*node // the hub's
	pending   map[protocol.CallID]*pending
	abandoned map[protocol.CallID]protocol.NodeID // calls that nobody waits for any more: late results are "dropped", not unknown
	order     []protocol.CallID                   // keys of abandoned, oldest first
}

// pending is a call or a request for logs in progress.
type pending struct {
	link     Link            // the node's link when the call began, because the node's field changes on disconnect
	listens  <-chan struct{} // of that link
	logs     bool
	survives bool        // the node continues the call when it loses its connection
	sent     atomic.Bool // the node may have received it
	reply    chan reply  // capacity one
	progress func(protocol.ToolProgress)
	node     *node // guarded by the hub's lock
}

// reply is the response to a pending call.
type reply struct {
	result    json.RawMessage
	truncated bool
	lines     []string
	err       error
}

// abandon ends the wait for a call; its late result will be dropped.
func (t *Calls) abandon(call protocol.CallID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pending[call]
	if p == nil {
		return
	}
	t.abandoned[call] = p.node.info.ID
	delete(t.pending, call)
	t.order = append(t.order, call)
	if len(t.order) > maxAbandoned {
		delete(t.abandoned, t.order[0])
		t.order = slices.Clone(t.order[1:])
	}
}

// deliverReply passes a reply to the waiter of the node's call. Unknown calls return 404, those of
// another node 403, with the messages of GSV.
func (t *Calls) deliverReply(from protocol.NodeID, call protocol.CallID, logs bool, r reply) (protocol.Ack, error) {
	if call == "" {
		return protocol.Ack{}, protocol.ErrBadRequest.With("callId required")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pending[call]
	switch {
	case p == nil && t.abandoned[call] == from && from != "":
		delete(t.abandoned, call)
		return protocol.Ack{OK: true, Dropped: true}, nil
	case p == nil || p.logs != logs:
		return protocol.Ack{}, protocol.ErrNotFound.With("Unknown callId")
	case p.node.info.ID != from:
		return protocol.Ack{}, protocol.ErrForbidden.With("Node not authorized for this call")
	}
	delete(t.pending, call)
	p.reply <- r // does not block: a call is settled once
	return protocol.Ack{OK: true}, nil
}

// failLocked fails the calls of a closed connection, except those that spare selects.
func (t *Calls) failLocked(n *node, why string, spare func(protocol.CallID, *pending) bool) {
	for id, p := range t.pending {
		if p.node != n || spare != nil && spare(id, p) {
			continue
		}
		text := why
		if p.logs && why == replacedCall {
			text = replacedLogs
		}
		delete(t.pending, id)
		p.reply <- reply{err: protocol.ErrUnavailable.With(fmt.Sprintf(text, n.info.ID))}
	}
}

// Errors for calls of a closed connection, with the messages of GSV.
const (
	nodeGone     = "Node disconnected: %s"
	replacedCall = "Node replaced during tool request: %s"
	replacedLogs = "Node replaced during log request: %s"
)

// ask waits until the node handles events, sends the event and waits for the reply or ctx.
func (p *pending) ask(ctx context.Context, id protocol.NodeID, name string, payload any) (reply, error) {
	select {
	case <-p.listens:
	default:
		select {
		case r := <-p.reply: // the node has disconnected
			return r, r.err
		case <-ctx.Done():
			return reply{}, context.Cause(ctx)
		case <-p.listens:
		}
	}
	p.sent.Store(true)
	if err := p.link.SendEvent(ctx, name, payload); err != nil {
		p.sent.Store(false)
		select {
		case r := <-p.reply: // has a better error
			return r, r.err
		default:
		}
		if errors.Is(err, protocol.ErrUnavailable) {
			err = protocol.ErrUnavailable.With(fmt.Sprintf(nodeGone, id))
		}
		return reply{}, err
	}
	return p.wait(ctx)
}

// wait waits for the reply, or until ctx is cancelled.
func (p *pending) wait(ctx context.Context) (reply, error) {
	select {
	case r := <-p.reply:
		return r, r.err
	case <-ctx.Done():
		return reply{}, errWaiterLeft
	}
}

// errWaiterLeft means that ctx was cancelled before the reply to a sent event arrived.
var errWaiterLeft = errors.New("the waiter left")

// result returns the result of a call after the wait for its reply. If the waiter left, it cancels
// the call at its node, if the node supports that, and returns the result that arrives within two
// seconds, or nil. A node that is offline gets the cancellation when it reconnects.
func (t *Calls) result(ctx context.Context, p *pending, call protocol.CallID, r reply, err error) (json.RawMessage, error) {
	if !errors.Is(err, errWaiterLeft) {
		return r.result, err
	}
	cause := context.Cause(ctx)
	t.mu.Lock()
	link, ext := p.node.link, p.node.ext
	t.mu.Unlock()
	if link == nil || !slices.Contains(ext, protocol.ExtCancel) {
		return nil, cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelLimit)
	defer cancel()
	if link.SendEvent(ctx, protocol.EventToolCancel, protocol.ToolCancel{CallID: call}) != nil {
		return nil, cause
	}
	select {
	case r := <-p.reply:
		if r.err == nil {
			return r.result, cause
		}
	case <-ctx.Done():
	}
	return nil, cause
}
