package protocol

import (
	"strings"
	"testing"
)

func TestUnprotectedMachinesAreNamedWithWhatIsMissing(t *testing.T) {
	t.Parallel()
	node := func(name string, online, protects bool) NodeInfo {
		checks := []EnforcedCheck{{ID: ProtectedCheck, Enforced: protects, Why: "no name spaces"}}
		return NodeInfo{ID: "n", Name: name, Online: online, Host: &HostInfo{Enforcement: &Enforcement{Checks: checks}}}
	}
	for name, c := range map[string]struct {
		nodes      []NodeInfo
		machines   string
		everywhere bool
	}{
		"no machine":          {nil, "", false},
		"protected":           {[]NodeInfo{node("A", true, true)}, "", false},
		"not protected":       {[]NodeInfo{node("A", true, false)}, "A (no name spaces)", true},
		"one of two":          {[]NodeInfo{node("A", true, false), node("B", true, true)}, "A (no name spaces)", false},
		"the other is away":   {[]NodeInfo{node("A", true, false), node("B", false, true)}, "A (no name spaces)", true},
		"only one is offline": {[]NodeInfo{node("A", false, false)}, "", false},
		"without a report":    {[]NodeInfo{{ID: "old", Online: true}}, "old (it does not report that it contains commands)", true},
	} {
		t.Run(name, func(t *testing.T) {
			machines, everywhere := Unprotected(c.nodes)
			if got := strings.Join(machines, ", "); got != c.machines || everywhere != c.everywhere {
				t.Errorf("got %q, everywhere %v, want %q, %v", got, everywhere, c.machines, c.everywhere)
			}
		})
	}
}
