package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

func TestPanicOfAToolEndsItsCall(t *testing.T) {
	g := start(t, nil)
	g.cfg.ToolApproval.DefaultDecision = "allow"
	broken := func(name string, effect protocol.Effect) tool.Own {
		return tool.Own{Tool: toolkit.Define(name, "", toolkit.Traits{Effect: effect}, func(context.Context, tool.Call, struct{}) (any, error) { panic("broken") })}
	}
	shown := toolkit.WithPreview(toolkit.Define("Shown", "", toolkit.Traits{Effect: protocol.EffectWrite}, func(context.Context, tool.Call, struct{}) (any, error) { return nil, nil }),
		func(context.Context, tool.Call, struct{}) (protocol.CallPreview, error) { panic("broken") })
	g.Registry.Register(broken("Reads", protocol.EffectRead), broken("Writes", protocol.EffectWrite), tool.Own{Tool: shown})
	for name, want := range map[string]struct{ state, text string }{
		"gsv__Reads":  {protocol.CallFailed, "internal error"},
		"gsv__Writes": {protocol.CallUnknown, "Unknown outcome"}, // it may have written before
		"gsv__Shown":  {protocol.CallFailed, "internal error"},
	} {
		id := protocol.CallID("call " + name)
		res, err := g.Run(t.Context(), tool.Call{ID: id, Tool: protocol.ToolName(name), Args: json.RawMessage(`{}`), Session: chat, Run: "run"})
		if err != nil || res.Info.State != want.state || !strings.Contains(res.Info.Error, want.text) || res.Info.Fault == nil || res.Info.Fault.Code != protocol.FaultInternal {
			t.Errorf("%s: got %+v, %v, want %s with %q", name, res.Info, err, want.state, want.text)
		}
		if row := g.storedCall(id); row.Info.State != want.state {
			t.Errorf("%s: the journal has %s, want %s", name, row.Info.State, want.state)
		}
	}
	if n := len(g.Running()); n > 0 {
		t.Errorf("%d calls are still open", n)
	}
	by := make(chan protocol.AskedBy, 1)
	g.Registry.Register(ownTool(by, ""))
	if res := g.mustRun(tool.Call{Tool: "gsv__Own", Args: json.RawMessage(`{}`), Session: chat, Run: "run"}); res.Info.State != protocol.CallDone {
		t.Errorf("the next call: got %+v, want Info.State CallDone", res.Info)
	}
}
