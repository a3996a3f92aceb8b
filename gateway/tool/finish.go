package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"fairlead/gateway/approval"
	"fairlead/gateway/protocol"
)

// network reports whether the call may use the network that it requests: the person was asked, or
// runs it directly.
func (t *task) network() bool {
	if !t.call.Direct {
		p := t.row.Info.Preview
		return p != nil && p.Network && t.row.Info.ApprovalID != ""
	}
	var args struct {
		Network bool `json:"network"`
	}
	return mayHave(t.call.Args, "network") && json.Unmarshal(t.call.Args, &args) == nil && args.Network
}

// mayHave reports whether JSON may have a member with a name of lower-case letters. Most calls have
// none, which avoids decoding them.
func mayHave(raw []byte, name string) bool {
	for i, c := range raw {
		switch {
		case c == '\\' || c >= utf8.RuneSelf: // perhaps written with an escape
			return true
		case c|0x20 == name[0] && len(raw)-i >= len(name) && strings.EqualFold(string(raw[i:i+len(name)]), name):
			return true
		}
	}
	return false
}

// ownTime is the limit for a tool that has its own timeout.
const ownTime = 365 * 24 * time.Hour

// limit returns how long the node may take: the configured time, but at least the call's own
// timeout argument, which for a command may mean no limit.
func (t *task) limit() time.Duration {
	if t.spec.OwnTime {
		return ownTime
	}
	limit := time.Duration(t.config().Timeouts.Tool) * time.Millisecond
	var own struct {
		Timeout *float64 `json:"timeout"`
	}
	if !mayHave(t.call.Args, "timeout") || json.Unmarshal(t.call.Args, &own) != nil || own.Timeout == nil {
		return limit
	}
	switch {
	case *own.Timeout > 0:
	case *own.Timeout == 0 && t.spec.Effect == protocol.EffectExec: // 0 means no limit, as in Bash
		return ownTime
	default:
		return limit
	}
	return max(limit, time.Duration(min(*own.Timeout, float64(ownTime.Milliseconds())))*time.Millisecond+5*time.Second)
}

// stopped ends a call whose context has ended: cancelled by the person or with its run, or because
// the gateway stops. raw is the output so far, if any.
func (t *task) stopped(ctx context.Context, raw json.RawMessage) (Result, error) {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errStopped):
		return t.end(ctx, protocol.CallCancelled, raw, "The person stopped this call."+t.silence(raw))
	case cause == nil: // its approval was cancelled by an earlier start
		return t.end(ctx, protocol.CallCancelled, nil, "The call was stopped with its run.")
	}
	text := "The call was stopped with its run."
	if errors.Is(cause, approval.ErrSuspended) {
		if t.row.Info.State != protocol.CallRunning {
			return Result{}, cause // it has not started: the next start resumes it
		}
		text = "The call was stopped because Fairlead was quit."
	}
	if _, err := t.end(ctx, protocol.CallCancelled, raw, text+t.silence(raw)); err != nil {
		return Result{}, err
	}
	return Result{}, cause
}

// silence returns a warning if a call that may have had an effect was cancelled and the node has
// not reported on it.
func (t *task) silence(raw json.RawMessage) string {
	if t.row.Info.State != protocol.CallRunning || len(raw) > 0 || t.spec.Effect == protocol.EffectRead {
		return ""
	}
	return " The machine has not said what was done by then: look before you repeat it."
}

// finished ends a call that the node has answered.
func (t *task) finished(ctx context.Context, raw json.RawMessage) (Result, error) {
	return t.end(ctx, t.read(raw), raw, "")
}

// read returns the state that a result means, and stores what the result says about a command.
func (t *task) read(raw json.RawMessage) (state string) {
	state = protocol.CallDone
	var out struct {
		Status    string `json:"status"`
		ExitCode  *int   `json:"exitCode"`
		Tail      string `json:"tail"`
		SessionID string `json:"sessionId"`
	}
	if t.spec.Effect == protocol.EffectExec && json.Unmarshal(raw, &out) == nil {
		// shown until the result's message arrives
		t.row.Info.ExitCode, t.row.Info.Tail = out.ExitCode, out.Tail
		switch out.Status {
		case "failed":
			state = protocol.CallFailed
		case "running":
			t.row.Process = out.SessionID
		}
	}
	if t.spec.Effect == protocol.EffectUnknown && json.Unmarshal(raw, &out) == nil && out.Status == "running" {
		t.row.Process = out.SessionID // a node without extensions declares no effects
	}
	// the result itself has ok, see docs/protocol.md#tools-and-calls
	if t.row.Info.Node == protocol.NativePrefix {
		var native struct{ OK *bool }
		if json.Unmarshal(raw, &native) == nil && native.OK != nil && !*native.OK {
			state = protocol.CallFailed
		}
	}
	return state
}
