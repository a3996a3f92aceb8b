package tool

import (
	"context"
	"encoding/json"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// own is one of the gateway's own tools; it reports who caused its call.
type own struct {
	Nodes
	by      chan protocol.AskedBy
	problem string // found by the preview
}

func (n own) Lookup(protocol.ToolName) (protocol.NodeID, protocol.ToolSpec, error) {
	return protocol.NativePrefix, protocol.ToolSpec{Name: "Own", Effect: protocol.EffectWrite, InputSchema: json.RawMessage(`{"type":"object"}`)}, nil
}

func (n own) Preview(context.Context, protocol.NodeID, protocol.ToolInvoke) (protocol.CallPreview, bool, error) {
	return protocol.CallPreview{Problem: n.problem}, true, nil
}

func (n own) Call(ctx context.Context, _ protocol.NodeID, _ protocol.ToolInvoke, _ func(protocol.ToolProgress)) (json.RawMessage, error) {
	n.by <- Cause(ctx)
	return json.RawMessage(`{"ok":true}`), nil
}

func TestTheGatewaysOwnToolsHearWhoCausedThem(t *testing.T) {
	g := start(t, nil)
	g.cfg = config.Default()
	g.cfg.ToolApproval.DefaultDecision = "allow"
	n := own{g.hub, make(chan protocol.AskedBy, 1), ""}
	g.Pipeline = New(n, g.gate, g.rules, store.CallStore{DB: g.store}, g.bus, func() config.Config { return g.cfg })
	want := protocol.AskedBy{Kind: protocol.AskedBySchedule, Name: "nightly"}
	g.must(Call{Tool: "gsv__Own", Args: json.RawMessage(`{}`), Session: chat, Run: "run", AskedBy: want})
	if by := <-n.by; by != want {
		t.Errorf("it hears of %+v", by)
	}
}

func TestAFailureBeforeANativeCallIsANativeResult(t *testing.T) {
	g := start(t, nil)
	g.Pipeline = New(own{g.hub, nil, "notes.md is a folder"}, g.gate, g.rules, store.CallStore{DB: g.store}, g.bus, func() config.Config { return g.cfg })
	res := g.must(Call{ID: "call", Tool: "gsv__Own", Args: json.RawMessage(`{}`), Session: chat, Run: "run"})
	if got, want := res.Content.Text(), `{"ok":false,"error":"notes.md is a folder"}`; got != want || res.Info.State != protocol.CallFailed {
		t.Errorf("got %s, state %s, want %s, failed", got, res.Info.State, want)
	}
}
