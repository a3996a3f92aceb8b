package tool_test

import (
	"encoding/json"
	"errors"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/tooltest"
)

func TestLimitedAppUsesOnlyItsMachines(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	g.cfg.ToolApproval.DefaultDecision = "allow"
	g.Registry.Register(ownTool(make(chan protocol.AskedBy, 1), ""))
	run := func(name protocol.ToolName, nodes ...protocol.NodeID) error {
		p := appPrincipal("app", nodes...)
		_, err := g.Run(t.Context(), tool.Call{Tool: name, Args: json.RawMessage(`{"command":"make"}`), Principal: p})
		return err
	}
	for _, name := range []protocol.ToolName{bash, "gsv__Own"} {
		if err := run(name, "laptop"); !errors.Is(err, protocol.ErrNotFound) {
			t.Errorf("%s: got %v, want error ErrNotFound", name, err)
		}
	}
	if n := len(g.tower.Calls()); n != 0 {
		t.Fatalf("%d calls ran, want none", n)
	}
	if err := run(bash, "laptop", "tower"); err != nil || len(g.tower.Calls()) != 1 {
		t.Errorf("its own machine: got %v, %d calls; want 1", err, len(g.tower.Calls()))
	}
}
