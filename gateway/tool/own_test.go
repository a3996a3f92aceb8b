package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// ownTool is one of the gateway's own tools; it reports who caused its call.
func ownTool(by chan<- protocol.AskedBy, problem string) tool.Own {
	t := toolkit.Define("Own", "", toolkit.Traits{Effect: protocol.EffectWrite}, func(_ context.Context, call tool.Call, _ struct{}) (any, error) {
		by <- call.AskedBy
		return nil, nil
	})
	return tool.Own{Tool: toolkit.WithPreview(t, func(context.Context, tool.Call, struct{}) (protocol.CallPreview, error) {
		return protocol.CallPreview{Problem: problem}, nil
	})}
}

func TestNativeToolsLearnWhoCausedThem(t *testing.T) {
	g := start(t, nil)
	g.cfg.ToolApproval.DefaultDecision = "allow"
	by := make(chan protocol.AskedBy, 1)
	g.Registry.Register(ownTool(by, ""))
	want := protocol.AskedBy{Kind: protocol.AskedBySchedule, Name: "nightly"}
	g.mustRun(tool.Call{Tool: "gsv__Own", Args: json.RawMessage(`{}`), Session: chat, Run: "run", AskedBy: want})
	if got := <-by; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAFailureBeforeANativeCallIsANativeResult(t *testing.T) {
	g := start(t, nil)
	g.Registry.Register(ownTool(nil, "notes.md is a folder"))
	res := g.mustRun(tool.Call{ID: "call", Tool: "gsv__Own", Args: json.RawMessage(`{}`), Session: chat, Run: "run"})
	if got, want := res.Content.Text(), `{"ok":false,"error":"notes.md is a folder"}`; got != want || res.Info.State != protocol.CallFailed {
		t.Errorf("got %s, state %s, want %s, failed", got, res.Info.State, want)
	}
}
