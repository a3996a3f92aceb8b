package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// rejoin ends a call that an earlier start of the gateway sent. If the node has continued it,
// rejoin waits for its result; otherwise the outcome is unknown. The call is never sent again.
func (d *Pipeline) rejoin(ctx context.Context, c Call, row store.Call) (Result, error) {
	id := row.Info.Node
	if row.Info.Effect == protocol.EffectRead || id == protocol.NativePrefix {
		return d.lost(ctx, row)
	}
	if c.OnStart != nil {
		c.OnStart()
	}
	d.show(row.Info)
	d.when(ctx, func() bool {
		info, known := d.nodes.Node(id)
		return !known || info.Online
	})
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, approval.ErrSuspended):
		return Result{}, cause // the next start requests the approval again
	case cause != nil:
		return d.lost(ctx, row)
	}
	row.Info.Args = c.Args // the journal does not store file contents
	t := &task{Pipeline: d, call: c, row: row, stored: true, by: row.Principal}
	t.spec = protocol.ToolSpec{Name: row.Info.Tool, Effect: row.Info.Effect, Idempotent: row.Idempotent}
	t.verdict = policy.Decision{Verdict: policy.Allow, Reason: "an earlier start began it"}
	limit := t.limit()
	callCtx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	running := row.Info
	raw, err := d.nodes.Rejoin(callCtx, id, c.ID, t.progress(&running))
	return t.outcome(ctx, raw, err, limit)
}

// Late handles a node's result of a call that nobody waits for. If the call's outcome was unknown,
// it updates the journal and returns the result for the chat. protocol.ErrNotFound means that there
// is no such call; protocol.ErrUnavailable makes the node report again.
func (d *Pipeline) Late(ctx context.Context, node protocol.NodeID, p protocol.ToolResultParams) (*Result, error) {
	row, err := d.journal.Call(ctx, p.CallID)
	switch {
	case err != nil:
		return nil, err
	case row.Info.Node != node:
		return nil, protocol.ErrForbidden.With("Node not authorized for this call")
	case row.Info.State == protocol.CallRunning:
		return nil, protocol.ErrUnavailable.With("the run of this call has not been taken up yet; report it again")
	case row.Info.State != protocol.CallUnknown:
		return nil, protocol.ErrNotFound.With("Unknown callId")
	}
	t := &task{Pipeline: d, row: row, spec: protocol.ToolSpec{Name: row.Info.Tool, Effect: row.Info.Effect}, by: row.Principal}
	t.call.Args = row.Info.Args
	t.verdict = policy.Decision{Verdict: policy.Allow, Reason: "its machine has reported the outcome, which was unknown"}
	raw := p.Result
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	if p.Error != "" {
		t.close(protocol.CallFailed, nil, p.Error)
	} else {
		t.close(t.read(raw), raw, "")
	}
	won, err := d.journal.SettleCall(context.WithoutCancel(ctx), entry(t.row), t.audit()...)
	switch {
	case err != nil:
		return nil, err
	case !won:
		return nil, protocol.ErrNotFound.With("Unknown callId")
	}
	d.show(t.row.Info)
	res := replay(t.row)
	res.Content = append(protocol.Content{protocol.Text(knownText(row))}, res.Content...)
	return &res, nil
}

// knownText tells the model and the person to which call a late outcome belongs.
func knownText(c store.Call) string {
	return fmt.Sprintf("The outcome of the call of %s on %s that started at %s was unknown. The machine has reported it now:",
		c.Info.Tool, c.Info.Node, time.UnixMilli(c.Info.StartedAt).Format("15:04:05"))
}
