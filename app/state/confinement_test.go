package state

import (
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func machine(e *protocol.Enforcement) protocol.NodeInfo {
	return protocol.NodeInfo{ID: "box", Host: &protocol.HostInfo{Enforcement: e}}
}

func TestConfinementSaysOnlyWhatIsEnforced(t *testing.T) {
	checks := []protocol.EnforcedCheck{{ID: "net.tcp", Why: "the kernel is too old", Fix: "use Linux 6.7"}, {ID: "fs.write.outside", Enforced: true, By: "Landlock"}, {ID: "new.check", Enforced: true}}
	c := ConfinementOf(machine(&protocol.Enforcement{Mode: "workspace-write", Network: "blocked", Summary: "partly", Checks: checks}))
	if c.Level != LevelWarning || len(c.Guarantees) != 3 || !c.Guarantees[0].Enforced || c.Guarantees[1].Text != "new.check." ||
		c.Guarantees[2].Text != "Not enforced: No TCP connections. The kernel is too old. Use Linux 6.7." {
		t.Errorf("partly: %+v", c)
	}
	c = ConfinementOf(machine(&protocol.Enforcement{Mode: "workspace-write", Network: "blocked", Summary: "contained", Checks: checks}))
	if c.Level != LevelGood || c.Line != "Commands can write only in the workspace and the allowed folders; they have no network access." {
		t.Errorf("contained: %+v", c)
	}
	c = ConfinementOf(machine(&protocol.Enforcement{Mode: "read-only", Network: "allowed", Summary: "contained", Checks: checks[1:], Warnings: []string{"the node runs as root: beware"}}))
	if c.Line != "Commands cannot change files; they can use the network." || c.Warnings[0] != "Fairlead runs as root there: beware." {
		t.Errorf("read only: %+v", c)
	}
	c = ConfinementOf(machine(&protocol.Enforcement{Mode: "read-only", Network: "blocked", Summary: "none", Checks: checks[:1]}))
	if c.Level != LevelBad || !strings.Contains(c.Line, "cannot enforce") {
		t.Errorf("nothing enforced: %+v", c)
	}
	c = ConfinementOf(machine(&protocol.Enforcement{Mode: "full", Checks: checks}))
	if c.Level != LevelBad || c.Guarantees != nil || !strings.Contains(c.Line, "keys and tokens, including Fairlead's own") {
		t.Errorf("full access promises something, or hides what it opens: %+v", c)
	}
	if c := ConfinementOf(protocol.NodeInfo{}); c.Level != LevelBad || c.Guarantees != nil {
		t.Errorf("a machine that says nothing: %+v", c)
	}
}
