package display

import (
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func machine(e *protocol.Enforcement) protocol.NodeInfo {
	return protocol.NodeInfo{ID: "box", Host: &protocol.HostInfo{Enforcement: e}}
}

func TestConfinementSaysOnlyWhatIsEnforced(t *testing.T) {
	checks := []protocol.EnforcedCheck{{ID: "net.tcp", Why: "the kernel is too old", Fix: "use Linux 6.7."}, {ID: "fs.write.outside", Enforced: true, By: "Landlock"}, {ID: "new.check", Enforced: true}}
	c := ConfinementOf(machine(&protocol.Enforcement{Mode: "workspace-write", Network: "blocked", Summary: "partly", Checks: checks}))
	if c.Level != LevelWarning || len(c.Guarantees) != 3 || !c.Guarantees[0].Enforced || c.Guarantees[1].Text != "new.check." ||
		c.Guarantees[2].Text != "Commands can use the network. Use Linux 6.7." {
		t.Errorf(`partly: got %+v; want Level %v, Guarantees of length 3, Guarantees[0].Enforced, Guarantees[1].Text "new.check." and Guarantees[2].Text "Commands can use the network. Use Linux 6.7."`, c, LevelWarning)
	}
	c = ConfinementOf(machine(&protocol.Enforcement{Mode: "workspace-write", Network: "blocked", Summary: "contained", Checks: checks}))
	if c.Level != LevelGood || c.Line != "Commands here can write only in your workspace and have no network, unless you allow it." {
		t.Errorf(`contained: got %+v; want Level %v and Line "Commands here can write only in your workspace and have no network, unless you allow it."`, c, LevelGood)
	}
	protects := append([]protocol.EnforcedCheck{{ID: "fs.write.protected", Enforced: true}}, checks...)
	c = ConfinementOf(machine(&protocol.Enforcement{Mode: "workspace-write", Network: "allowed", Summary: "contained", Checks: protects}))
	if c.Line != "Commands here can write only in your workspace, except files that start programs, and can use the network." {
		t.Errorf("protected files: got %+v, want one line about both", c)
	}
	c = ConfinementOf(machine(&protocol.Enforcement{Mode: "read-only", Network: "allowed", Summary: "contained", Checks: checks[1:], Warnings: []string{"the node runs as root: beware"}}))
	if c.Line != "Commands here cannot change files and can use the network." || c.Warnings[0] != "Fairlead runs as administrator here: beware." {
		t.Errorf("read only: %+v", c)
	}
	c = ConfinementOf(machine(&protocol.Enforcement{Mode: "read-only", Network: "blocked", Summary: "none", Checks: checks[:1]}))
	if c.Level != LevelBad || !strings.Contains(c.Line, "cannot limit commands") {
		t.Errorf("nothing enforced: %+v", c)
	}
	c = ConfinementOf(machine(&protocol.Enforcement{Mode: "full", Checks: checks}))
	if c.Level != LevelBad || c.Guarantees != nil || !strings.Contains(c.Line, "keys and tokens, including Fairlead's own") {
		t.Errorf("full access promises something, or hides what it opens: %+v", c)
	}
	c = ConfinementOf(machine(&protocol.Enforcement{Mode: "workspace-write", Checks: []protocol.EnforcedCheck{
		{ID: "net.tcp", Enforced: true}, {ID: "net.udp", Enforced: true}, {ID: "ipc", Enforced: true}, {ID: "unix.sockets", Why: "the kernel is too old"},
	}}))
	if len(c.Guarantees) != 2 || c.Guarantees[0].Text != "Commands cannot use the network." || c.Guarantees[1].Enforced {
		t.Errorf("checks with one meaning: got %+v, want two, one of them not enforced", c.Guarantees)
	}
	if c := ConfinementOf(protocol.NodeInfo{}); c.Level != LevelBad || c.Guarantees != nil {
		t.Errorf("a machine that says nothing: %+v", c)
	}
}

// TestMissingLimitsAreWordedWithoutNegation covers each check that can fail.
func TestMissingLimitsAreWordedWithoutNegation(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"pid.view":           "Commands can see your other programs.",
		"fs.write.protected": "Commands can change files that run later, such as start-up files and git hooks, until Fairlead puts them back after the command.",
		"forks":              "A command can start any number of programs (Fairlead runs as administrator).",
		"fs.metadata":        "Commands can change permissions and times of your files outside the workspace.",
	} {
		checks := []protocol.EnforcedCheck{{ID: "fs.write.outside", Enforced: true}, {ID: id, Why: "the kernel does not limit root's processes"}}
		if id != "forks" {
			checks[1].Why = "Landlock does not cover mode, owner and times"
		}
		c := ConfinementOf(machine(&protocol.Enforcement{Mode: "workspace-write", Summary: "partly", Checks: checks}))
		if got := c.Guarantees[len(c.Guarantees)-1].Text; got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
	for id, words := range guarantees {
		if strings.Contains(words.open, "not") || strings.Contains(words.open, "Landlock") || words.open == "" {
			t.Errorf("%s: %q is no plain sentence", id, words.open)
		}
	}
}
