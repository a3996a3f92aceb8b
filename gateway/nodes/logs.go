package nodes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"fairlead/gateway/protocol"
)

// Logs asks a node for log lines (docs/protocol.md#logs), with GSV's rules for lines and target. It
// fails after the limit.
func (t *Calls) Logs(ctx context.Context, in protocol.LogsGetParams, limit time.Duration) (protocol.LogsGetResult, error) {
	lines := protocol.DefaultLogLines
	if in.Lines != nil {
		if math.IsNaN(*in.Lines) || *in.Lines < 1 {
			return protocol.LogsGetResult{}, protocol.ErrBadRequest.With("lines must be a positive number")
		}
		lines = int(min(math.Floor(*in.Lines), protocol.MaxLogLines))
	}
	id, err := t.pick(in.NodeID)
	if err != nil {
		return protocol.LogsGetResult{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, protocol.ErrTimeout.With(fmt.Sprintf("logs.get timed out after %dms", limit.Milliseconds())))
	defer cancel()
	call := protocol.CallID(protocol.NewID())
	p, err := t.open(id, call, nil, nil)
	if err != nil {
		return protocol.LogsGetResult{}, err
	}
	defer t.abandon(call)
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

// pick returns the node for a request for logs: the one that the request names, or the only
// connected one, as in GSV.
func (t *Calls) pick(id protocol.NodeID) (protocol.NodeID, error) {
	if id != "" {
		return id, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.nodes {
		switch {
		case n.link == nil:
		case id == "":
			id = n.info.ID
		default:
			return "", protocol.ErrBadRequest.With("nodeId required when multiple nodes are connected")
		}
	}
	if id == "" {
		return "", protocol.ErrUnavailable.With("No nodes connected")
	}
	return id, nil
}
