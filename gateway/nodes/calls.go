package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

const previewLimit = 5 * time.Second

// notSent returns the error of a call that its node did not get: a failure, not an unknown outcome.
// It is also a protocol.ErrUnavailable.
func notSent(err error) error {
	if !errors.Is(err, protocol.ErrUnavailable) {
		return err
	}
	text := "The call was not sent: " + err.Error()
	return &tool.Failure{Text: text, Fault: protocol.NewFault(protocol.FaultTargetUnreachable, text), Cause: err}
}

// open registers a call on a connected node, or a request for logs, for which inv is nil.
func (t *Calls) open(id protocol.NodeID, call protocol.CallID, inv *protocol.ToolInvoke, progress func(protocol.ToolProgress)) (*pending, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.nodes[id]
	if n == nil || n.link == nil {
		return nil, protocol.ErrUnavailable.With(fmt.Sprintf("Node not connected: %s", id))
	}
	if t.pending[call] != nil {
		return nil, protocol.ErrConflict.With(fmt.Sprintf("call %s is under way already", call))
	}
	p := &pending{
		node: n, link: n.link, listens: n.listens, logs: inv == nil, survives: inv != nil && n.continues(*inv), progress: progress, reply: make(chan reply, 1),
	}
	t.pending[call] = p
	return p, nil
}

// Call runs a tool on a node and waits for its result. progress may be nil; it is called on the
// connection's goroutine and must not block. If the tool fails, or the node did not get the call, the
// error is a *[tool.Failure]. If the node disconnects later, it is a protocol.ErrUnavailable alone: the
// outcome is then unknown. With
// [protocol.ExtKeep], Call waits for a limited time for the node to reconnect, if the call has an
// effect. When ctx is cancelled, a node that supports tool.cancel is told to stop; a result that
// arrives within two seconds is returned together with ctx's cause.
func (t *Calls) Call(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error) {
	if inv.Args == nil {
		inv.Args = json.RawMessage("{}")
	}
	p, err := t.open(id, inv.CallID, &inv, progress)
	if err != nil {
		return nil, notSent(err)
	}
	defer t.abandon(inv.CallID)
	r, err := p.ask(ctx, id, protocol.EventToolInvoke, inv)
	if !p.sent.Load() {
		return nil, notSent(err)
	}
	return t.result(ctx, p, inv.CallID, r, err)
}

// Rejoin waits, like [Calls.Call], for the result of a call that an earlier start of the gateway made
// and the node continues. It returns protocol.ErrUnavailable if the node has not connected since or
// does not know the call.
func (t *Calls) Rejoin(ctx context.Context, id protocol.NodeID, call protocol.CallID, progress func(protocol.ToolProgress)) (json.RawMessage, error) {
	t.mu.Lock()
	n := t.nodes[id]
	if n == nil || t.pending[call] != nil || !slices.Contains(n.calls, call) {
		t.mu.Unlock()
		return nil, protocol.ErrUnavailable.With(fmt.Sprintf(nodeGone, id))
	}
	p := &pending{node: n, link: n.link, listens: n.listens, survives: true, reply: make(chan reply, 1), progress: progress}
	p.sent.Store(true)
	t.pending[call] = p
	if n.link == nil { // it connected, and has lost its connection again
		t.failLater(call, p, n)
	}
	t.mu.Unlock()
	defer t.abandon(call)
	r, err := p.wait(ctx)
	return t.result(ctx, p, call, r, err)
}

// Preview asks a node what a call would do. Only the tool and arguments of inv are used. ok is
// false when the node does not support previews.
func (t *Calls) Preview(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke) (preview protocol.CallPreview, ok bool, err error) {
	t.mu.Lock()
	n := t.nodes[id]
	t.mu.Unlock()
	if n == nil || !slices.Contains(n.ext, protocol.ExtPreview) {
		return preview, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, previewLimit)
	defer cancel()
	raw, err := t.Call(ctx, id, protocol.ToolInvoke{CallID: protocol.CallID(protocol.NewID()), Tool: inv.Tool, Args: inv.Args, Preview: true}, nil)
	switch {
	case err != nil:
		return preview, false, err
	case string(raw) == "null":
		return preview, false, nil
	case len(raw) > maxPreview:
		return preview, false, protocol.ErrTooLarge.With(fmt.Sprintf("the preview of %s has %d bytes, at most %d", inv.Tool, len(raw), maxPreview))
	}
	if err := json.Unmarshal(raw, &preview); err != nil {
		return preview, false, fmt.Errorf("read the preview of %s: %w", inv.Tool, err)
	}
	return preview, true, nil
}

// Result handles a node's result. A report with neither result nor error counts as an empty result.
func (t *Calls) Result(from protocol.NodeID, p protocol.ToolResultParams) (protocol.Ack, error) {
	t.mu.Lock()
	if n := t.nodes[from]; n != nil && n.setWarnings(p.Warnings) {
		publish(t.bus, n.info)
	}
	t.mu.Unlock()
	r := reply{result: p.Result}
	if p.Error != "" {
		r = reply{err: &tool.Failure{Text: p.Error, Fault: p.Fault}}
	} else if len(r.result) == 0 {
		r.result = json.RawMessage("null")
	}
	return t.deliverReply(from, p.CallID, false, r)
}

// LogsResult handles a node's log lines.
func (t *Calls) LogsResult(from protocol.NodeID, p protocol.LogsResultParams) (protocol.Ack, error) {
	r := reply{lines: p.Lines, truncated: p.Truncated}
	if p.Error != "" {
		r = reply{err: protocol.ErrInternal.With(p.Error)}
	}
	return t.deliverReply(from, p.CallID, true, r)
}

// Progress handles a node's progress report on a running call.
func (t *Calls) Progress(from protocol.NodeID, p protocol.ToolProgress) (protocol.Ack, error) {
	t.mu.Lock()
	call := t.pending[p.CallID]
	own := call != nil && call.node.info.ID == from
	t.mu.Unlock()
	if !own || call.progress == nil {
		return protocol.Ack{OK: true, Dropped: true}, nil
	}
	p.Tail = lastOf(p.Tail, maxLive)
	call.progress(p)
	return protocol.Ack{OK: true}, nil
}
