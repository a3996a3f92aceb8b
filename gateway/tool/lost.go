package tool

import (
	"context"
	"fmt"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Load ends the calls that an earlier start left open and that no run will resume: those that a
// person or a program made directly. It must run before any call.
func (d *Pipeline) Load(ctx context.Context) error {
	open, err := d.journal.OpenCalls(ctx)
	if err != nil {
		return fmt.Errorf("look for calls of an earlier start: %w", err)
	}
	for _, c := range open {
		if c.Info.RunID != "" {
			continue
		}
		if _, err := d.lost(ctx, c); err != nil {
			return fmt.Errorf("end call %s of an earlier start: %w", c.Info.CallID, err)
		}
	}
	return nil
}

// lost ends a call whose outcome is unknown.
func (d *Pipeline) lost(ctx context.Context, c store.Call) (Result, error) {
	waited := c.Info.State == protocol.CallWaiting
	c.Info.State, c.Info.EndedAt = protocol.CallUnknown, time.Now().UnixMilli()
	c.Info.Error = unknownText(c)
	if waited {
		c.Info.State, c.Info.Error = protocol.CallCancelled, "Fairlead was stopped before the call began."
	}
	var lines []protocol.AuditEntry
	if i := c.Info; i.Effect != protocol.EffectRead {
		lines = []protocol.AuditEntry{{
			At: i.EndedAt, Kind: protocol.AuditCall, By: c.Principal, Node: i.Node, SessionKey: i.SessionKey, RunID: i.RunID,
			CallID: i.CallID, Tool: i.Tool, What: gist(i.Args), Input: c.InputSHA256, Why: "an earlier start left it open", Approval: i.ApprovalID, State: i.State,
		}}
	}
	if _, err := d.journal.FinishCall(context.WithoutCancel(ctx), c, lines...); err != nil {
		return Result{}, err
	}
	d.show(c.Info)
	return replay(c), nil
}
