package journal

import (
	"testing"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

func TestAuditRecordsWhoAsked(t *testing.T) {
	app := protocol.AskedBy{Kind: protocol.AskedByApp, Name: "MCP CLI Proxy"}
	r := &tool.Record{
		Entry:    tool.Entry{Info: protocol.CallInfo{Tool: "command", Effect: protocol.EffectExec, State: protocol.CallDenied}, AskedBy: app},
		Decision: policy.Decision{Verdict: policy.Deny}, DecidedBy: "owner this computer", Resumed: true,
	}
	lines := auditEntries(r)
	if len(lines) != 1 || lines[0].AskedBy == nil || *lines[0].AskedBy != app || !lines[0].Resumed {
		t.Errorf("got %+v, want an entry asked by %+v that was resumed", lines, app)
	}
	r.AskedBy = protocol.AskedBy{}
	if lines = auditEntries(r); lines[0].AskedBy != nil {
		t.Errorf("without an asker: got %+v, want none", lines[0].AskedBy)
	}
}
