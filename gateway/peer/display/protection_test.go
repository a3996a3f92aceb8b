package display

import (
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestUnprotectedMachinesAreNamedWithWhatIsMissing(t *testing.T) {
	t.Parallel()
	node := func(name string, online, protects bool) protocol.NodeInfo {
		checks := []protocol.EnforcedCheck{{ID: protocol.ProtectedCheck, Enforced: protects, Why: "no name spaces"}}
		return protocol.NodeInfo{ID: "n", Name: name, Online: online, Host: &protocol.HostInfo{Enforcement: &protocol.Enforcement{Checks: checks}}}
	}
	for name, c := range map[string]struct {
		nodes      []protocol.NodeInfo
		machines   string
		everywhere bool
	}{
		"no machine":          {nil, "", false},
		"protected":           {[]protocol.NodeInfo{node("A", true, true)}, "", false},
		"not protected":       {[]protocol.NodeInfo{node("A", true, false)}, "A (no name spaces)", true},
		"one of two":          {[]protocol.NodeInfo{node("A", true, false), node("B", true, true)}, "A (no name spaces)", false},
		"the other is away":   {[]protocol.NodeInfo{node("A", true, false), node("B", false, true)}, "A (no name spaces)", true},
		"only one is offline": {[]protocol.NodeInfo{node("A", false, false)}, "", false},
		"without a report":    {[]protocol.NodeInfo{{ID: "old", Online: true}}, "old (it does not report that it contains commands)", true},
	} {
		t.Run(name, func(t *testing.T) {
			machines, everywhere := Unprotected(c.nodes)
			if got := strings.Join(machines, ", "); got != c.machines || everywhere != c.everywhere {
				t.Errorf("got %q, everywhere %v, want %q, %v", got, everywhere, c.machines, c.everywhere)
			}
		})
	}
}
