package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"fairlead/gateway/protocol"
)

const (
	// cancelLimit is the time in which a cancelled call can still return a partial result.
	cancelLimit  = 2 * time.Second
	previewLimit = 5 * time.Second
	// keepDone is the number of ended calls that are remembered for late results.
	keepDone = 1024
)

// ToolError is a node's message that a tool failed. It is a result for the model, not a failure of
// the gateway.
type ToolError struct{ Text string }

func (e *ToolError) Error() string { return e.Text }

// reply is the response to a pending call.
type reply struct {
	result    json.RawMessage
	truncated bool
	lines     []string
	err       error
}

// pending is a call or a request for logs in progress.
type pending struct {
	link     Link            // the node's link when the call began, because the node's field changes on disconnect
	listens  <-chan struct{} // of that link
	logs     bool
	keeps    bool        // the node continues the call when it loses its connection
	sent     atomic.Bool // the node may have received it
	reply    chan reply  // capacity one
	progress func(protocol.ToolProgress)
	node     *node // guarded by the hub's lock
}

// open registers a call on a connected node.
func (h *Hub) open(id protocol.NodeID, call protocol.CallID, logs bool, progress func(protocol.ToolProgress)) (*pending, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.nodes[id]
	if n == nil || n.link == nil {
		return nil, protocol.ErrUnavailable.With(fmt.Sprintf("Node not connected: %s", id))
	}
	if h.calls[call] != nil {
		return nil, protocol.ErrConflict.With(fmt.Sprintf("call %s is under way already", call))
	}
	p := &pending{node: n, link: n.link, listens: n.listens, logs: logs, progress: progress, reply: make(chan reply, 1)}
	h.calls[call] = p
	return p, nil
}

// abandon ends the wait for a call; its late result will be dropped.
func (h *Hub) abandon(call protocol.CallID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls[call] == nil {
		return
	}
	h.done[call] = h.calls[call].node.info.ID
	delete(h.calls, call)
	h.order = append(h.order, call)
	if len(h.order) > keepDone {
		delete(h.done, h.order[0])
		h.order = slices.Clone(h.order[1:])
	}
}

// ask waits until the node handles events, sends the event and waits for the reply, or until ctx is
// cancelled.
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
		select {
		case r := <-p.reply: // has a better error
			return r, r.err
		default:
		}
		if errors.Is(err, protocol.ErrUnavailable) {
			err = protocol.ErrUnavailable.With(fmt.Sprintf("Node disconnected: %s", id))
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

// errWaiterLeft is returned when ctx was cancelled after the event was sent and before the reply
// arrived.
var errWaiterLeft = errors.New("the waiter left")

// Call runs a tool on a node and waits for its result. progress may be nil; it is called on the
// connection's goroutine and must not block. If the tool fails, the error is a *ToolError. If the
// node disconnects, it is a protocol.ErrUnavailable: the outcome is then unknown. With
// [protocol.ExtKeep], Call waits for a limited time for the node to reconnect, if the call has an
// effect. When ctx is cancelled, a node that supports tool.cancel is told to stop; a result that
// arrives within two seconds is returned together with ctx's cause.
func (h *Hub) Call(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error) {
	if inv.Args == nil {
		inv.Args = json.RawMessage("{}")
	}
	p, err := h.open(id, inv.CallID, false, progress)
	if err != nil {
		return nil, err
	}
	defer h.abandon(inv.CallID)
	h.keep(p, inv)
	r, err := p.ask(ctx, id, protocol.EventToolInvoke, inv)
	return h.answered(ctx, p, inv.CallID, r, err)
}

// answered returns the result of a call after the wait for its reply.
func (h *Hub) answered(ctx context.Context, p *pending, call protocol.CallID, r reply, err error) (json.RawMessage, error) {
	if !errors.Is(err, errWaiterLeft) {
		return r.result, err
	}
	return h.late(ctx, p, call), context.Cause(ctx)
}

// late cancels a call at its node, if the node supports that, and returns the result that arrives
// within two seconds, or nil. A node that is offline gets the cancellation when it reconnects.
func (h *Hub) late(ctx context.Context, p *pending, call protocol.CallID) json.RawMessage {
	h.mu.Lock()
	link, ext := p.node.link, p.node.ext
	h.mu.Unlock()
	if link == nil || !slices.Contains(ext, protocol.ExtCancel) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelLimit)
	defer cancel()
	if link.SendEvent(ctx, protocol.EventToolCancel, protocol.ToolCancel{CallID: call}) != nil {
		return nil
	}
	select {
	case r := <-p.reply:
		if r.err == nil {
			return r.result
		}
	case <-ctx.Done():
	}
	return nil
}

// Preview asks a node what a call would do. Only the tool and arguments of inv are used. ok is
// false when the node does not support previews.
func (h *Hub) Preview(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke) (preview protocol.CallPreview, ok bool, err error) {
	h.mu.Lock()
	n := h.nodes[id]
	h.mu.Unlock()
	if n == nil || !slices.Contains(n.ext, protocol.ExtPreview) {
		return preview, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, previewLimit)
	defer cancel()
	raw, err := h.Call(ctx, id, protocol.ToolInvoke{CallID: protocol.CallID(protocol.NewID()), Tool: inv.Tool, Args: inv.Args, Preview: true}, nil)
	if err != nil {
		return preview, false, err
	}
	if string(raw) == "null" {
		return preview, false, nil
	}
	if len(raw) > maxPreview {
		return preview, false, protocol.ErrTooLarge.With(fmt.Sprintf("the preview of %s has %d bytes, at most %d", inv.Tool, len(raw), maxPreview))
	}
	if err := json.Unmarshal(raw, &preview); err != nil {
		return preview, false, fmt.Errorf("read the preview of %s: %w", inv.Tool, err)
	}
	return preview, true, nil
}

// Logs requests the last log lines of a node.
func (h *Hub) Logs(ctx context.Context, id protocol.NodeID, lines int) (protocol.LogsGetResult, error) {
	call := protocol.CallID(protocol.NewID())
	p, err := h.open(id, call, true, nil)
	if err != nil {
		return protocol.LogsGetResult{}, err
	}
	defer h.abandon(call)
	r, err := p.ask(ctx, id, protocol.EventLogsGet, protocol.LogsGet{CallID: call, Lines: lines})
	switch {
	case errors.Is(err, errWaiterLeft):
		return protocol.LogsGetResult{}, context.Cause(ctx)
	case err != nil:
		return protocol.LogsGetResult{}, err
	case r.lines == nil:
		r.lines = []string{}
	}
	return protocol.LogsGetResult{NodeID: id, Lines: r.lines, Count: len(r.lines), Truncated: r.truncated}, nil
}

// settleCall passes a reply to the waiter of the node's call. Unknown calls return 404, those of
// another node 403, with the messages of the original system.
func (h *Hub) settleCall(from protocol.NodeID, call protocol.CallID, logs bool, r reply) (protocol.Ack, error) {
	if call == "" {
		return protocol.Ack{}, protocol.ErrBadRequest.With("callId required")
	}
	p, err := h.takePending(from, call, logs)
	switch {
	case err != nil:
		return protocol.Ack{}, err
	case p == nil:
		return protocol.Ack{OK: true, Dropped: true}, nil
	}
	p.reply <- r // does not block: a call is settled once
	return protocol.Ack{OK: true}, nil
}

// takePending removes the call of a node's report from the pending calls. It is nil if nobody waits
// for the call any more.
func (h *Hub) takePending(from protocol.NodeID, call protocol.CallID, logs bool) (*pending, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.calls[call]
	switch {
	case p == nil && h.done[call] == from && from != "":
		delete(h.done, call)
		return nil, nil
	case p == nil || p.logs != logs:
		return nil, protocol.ErrNotFound.With("Unknown callId")
	case p.node.info.ID != from:
		return nil, protocol.ErrForbidden.With("Node not authorized for this call")
	}
	delete(h.calls, call)
	return p, nil
}

// Result handles a node's result. A report with neither result nor error counts as an empty result.
func (h *Hub) Result(from protocol.NodeID, p protocol.ToolResultParams) (protocol.Ack, error) {
	r := reply{result: p.Result}
	if p.Error != "" {
		r = reply{err: &ToolError{p.Error}}
	} else if len(r.result) == 0 {
		r.result = json.RawMessage("null")
	}
	return h.settleCall(from, p.CallID, false, r)
}

// LogsResult handles a node's log lines.
func (h *Hub) LogsResult(from protocol.NodeID, p protocol.LogsResultParams) (protocol.Ack, error) {
	r := reply{lines: p.Lines, truncated: p.Truncated}
	if p.Error != "" {
		r = reply{err: protocol.ErrInternal.With(p.Error)}
	}
	return h.settleCall(from, p.CallID, true, r)
}

// Progress handles a node's progress report on a running call.
func (h *Hub) Progress(from protocol.NodeID, p protocol.ToolProgress) (protocol.Ack, error) {
	h.mu.Lock()
	call := h.calls[p.CallID]
	own := call != nil && call.node.info.ID == from
	h.mu.Unlock()
	if !own || call.progress == nil {
		return protocol.Ack{OK: true, Dropped: true}, nil
	}
	p.Tail = lastOf(p.Tail, maxLive)
	call.progress(p)
	return protocol.Ack{OK: true}, nil
}

// failLocked fails the calls of a closed connection with the message why, except those that spare
// selects.
func (h *Hub) failLocked(n *node, why string, spare func(protocol.CallID, *pending) bool) {
	for id, p := range h.calls {
		if p.node != n || spare != nil && spare(id, p) {
			continue
		}
		said := why
		if p.logs && why == replacedCall {
			said = replacedLogs
		}
		delete(h.calls, id)
		p.reply <- reply{err: protocol.ErrUnavailable.With(fmt.Sprintf(said, n.info.ID))}
	}
}

// Errors for calls of a closed connection, with the messages of the original system.
const (
	nodeGone     = "Node disconnected: %s"
	replacedCall = "Node replaced during tool request: %s"
	replacedLogs = "Node replaced during log request: %s"
)
