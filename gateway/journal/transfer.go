package journal

import (
	"encoding/json"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// callStates are the states of a call for those of the transfer that it has queued.
var callStates = map[string]string{
	protocol.TransferQueued: protocol.CallRunning, protocol.TransferWaiting: protocol.CallRunning,
	protocol.TransferRunning: protocol.CallRunning, protocol.TransferPaused: protocol.CallRunning,
	protocol.TransferDone: protocol.CallDone, protocol.TransferFailed: protocol.CallFailed, protocol.TransferCancelled: protocol.CallCancelled,
}

// auditState returns the state of an ended call for the audit log. A call that has queued a transfer
// does not say how that ended.
func auditState(r *tool.Record) string {
	var out struct {
		Result struct {
			State string `json:"state"`
		} `json:"result"`
	}
	i := r.Info
	if i.Node == protocol.NativePrefix && i.Tool == "Transfer" && i.State == protocol.CallDone && json.Unmarshal(r.ResultJSON, &out) == nil && callStates[out.Result.State] != "" {
		return callStates[out.Result.State]
	}
	return i.State
}

// EndTransfer records in the entry of the call that has queued a transfer how the transfer ended, and
// returns the entry for the audit log. output is what a call returns that has waited for the end. It
// closes a call that was left open for that ([tool.Authorization.Leave]), or whose outcome was
// unknown. An agent's call, or that of a transfer that was tried again, has ended before: then the end
// of the transfer is added to what followed it.
func EndTransfer(c *store.Call, t protocol.Transfer, output json.RawMessage) []protocol.AuditEntry {
	i := &c.Info
	end := protocol.Ending{At: t.EndedAt, State: callStates[t.State], Output: output, Error: t.Error}
	line := protocol.AuditEntry{
		At: end.At, Kind: protocol.AuditCall, By: c.Principal, Node: i.Node, SessionKey: i.SessionKey, RunID: i.RunID, CallID: i.CallID, Tool: i.Tool, What: summary(i.Args),
		Input: c.InputSHA256, State: end.State, Error: end.Error,
	}
	if c.AskedBy.Kind != "" {
		line.AskedBy = &c.AskedBy
	}
	isLeft := !i.Over() && i.Direct
	if isLeft { // otherwise the decision has an entry of its own
		line.Verdict, line.Why = string(policy.Allow), tool.ReasonDirect
	}
	if isLeft || i.State == protocol.CallUnknown {
		i.State, i.EndedAt, i.Error, c.ResultJSON = end.State, end.At, end.Error, output
		c.OutputSHA256, c.OutputBytes = checksum(output)
	} else {
		c.Continued.Ended = &end
	}
	return []protocol.AuditEntry{line}
}
