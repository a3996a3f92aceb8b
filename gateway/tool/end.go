package tool

import (
	"encoding/json"
	"fmt"
	"time"

	"fairlead/gateway/protocol"
)

// close sets the end of the call in its record.
func (r *Record) close(state string, raw json.RawMessage, failure string) {
	r.Info.State, r.Info.EndedAt, r.Info.Error, r.ResultJSON = state, time.Now().UnixMilli(), failure, raw
}

// unreportedText returns a warning if a cancelled call may have had an effect without a report.
func (r *Record) unreportedText(raw json.RawMessage) string {
	if r.Info.State != protocol.CallRunning || len(raw) > 0 || r.Info.Effect == protocol.EffectRead {
		return ""
	}
	return " The machine has not reported what was done by then: check before you repeat it."
}

// unknownText tells the model and the person about a call that may or may not have run.
func unknownText(r Record) string {
	text := fmt.Sprintf("Unknown outcome: the call of %s on %s started at %s and ended without a report. It may have happened.",
		r.Info.Tool, r.Info.Node, time.UnixMilli(r.Info.StartedAt).Format("15:04:05"))
	if r.Idempotent {
		return text + " Repeating it does no harm."
	}
	return text + " Check first; do not repeat it without checking. Its idempotency key is " + r.IdempotencyKey + "."
}

// endFault returns why a call has ended, for callers that are programs. A call whose outcome is
// unknown must not simply be repeated.
func endFault(code protocol.FaultCode, text, state string) *protocol.Fault {
	f := protocol.NewFault(code, text)
	f.Retryable = f.Retryable && state != protocol.CallUnknown
	return f
}

// interpret returns the state that a result means, and records what it says about a command.
func (r *Record) interpret(raw json.RawMessage) (state string) {
	state = protocol.CallDone
	var out struct {
		Status    string `json:"status"`
		ExitCode  *int   `json:"exitCode"`
		Tail      string `json:"tail"`
		SessionID string `json:"sessionId"`
	}
	if json.Unmarshal(raw, &out) != nil {
		return state
	}
	info, effect := &r.Info, r.Info.Effect
	if effect == protocol.EffectExec {
		info.ExitCode, info.Tail = out.ExitCode, out.Tail // shown until the result's message arrives
		if out.Status == "failed" {
			state = protocol.CallFailed
		}
	}
	// A node without extensions declares no effects.
	if out.Status == "running" && (effect == protocol.EffectExec || effect == protocol.EffectUnknown) {
		r.Process = out.SessionID
	}
	return state
}
