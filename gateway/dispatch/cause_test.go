package dispatch

import (
	"context"
	"encoding/json"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// own is a gateway's own tool, which tells who caused it to run.
type own struct {
	Nodes
	by chan protocol.AskedBy
}

func (n own) Lookup(protocol.ToolName) (protocol.NodeID, protocol.ToolSpec, error) {
	return protocol.NativePrefix, protocol.ToolSpec{Name: "Own", Effect: protocol.EffectWrite, InputSchema: json.RawMessage(`{"type":"object"}`)}, nil
}

func (n own) Preview(context.Context, protocol.NodeID, protocol.ToolInvoke) (protocol.CallPreview, bool, error) {
	return protocol.CallPreview{}, true, nil
}

func (n own) Call(ctx context.Context, _ protocol.NodeID, _ protocol.ToolInvoke, _ func(protocol.ToolProgress)) (json.RawMessage, error) {
	n.by <- Cause(ctx)
	return json.RawMessage(`{"ok":true}`), nil
}

func TestTheGatewaysOwnToolsHearWhoCausedThem(t *testing.T) {
	g := start(t, nil)
	g.cfg = config.Default()
	g.cfg.ToolApproval.DefaultDecision = "allow"
	n := own{g.hub, make(chan protocol.AskedBy, 1)}
	g.Dispatcher = New(n, g.gate, g.rules, g.store, g.bus, func() config.Config { return g.cfg })
	want := protocol.AskedBy{Kind: protocol.AskedBySchedule, Name: "nightly"}
	g.must(Call{Tool: "gsv__Own", Args: json.RawMessage(`{}`), Session: chat, Run: "run", AskedBy: want})
	if by := <-n.by; by != want {
		t.Errorf("it hears of %+v", by)
	}
}
