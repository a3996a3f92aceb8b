package rpc

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestAllowByDefaultNeedsAMachineThatProtects(t *testing.T) {
	machine := func(name string, protects bool) protocol.NodeInfo {
		checks := []protocol.EnforcedCheck{{ID: protocol.ProtectedCheck, Enforced: protects, Why: "no mount name spaces"}}
		return protocol.NodeInfo{Name: name, Online: true, Host: &protocol.HostInfo{Enforcement: &protocol.Enforcement{Checks: checks}}}
	}
	for path, value := range map[string]string{"toolApproval.defaultDecision": `"allow"`, "toolApproval": `{"defaultDecision":"allow","rules":[]}`} {
		for name, c := range map[string]struct {
			nodes   []protocol.NodeInfo
			refused bool
		}{
			"no machine":    {nil, false},
			"protected":     {[]protocol.NodeInfo{machine("desk", true)}, false},
			"one of two":    {[]protocol.NodeInfo{machine("desk", true), machine("pi", false)}, false},
			"not protected": {[]protocol.NodeInfo{machine("pi", false)}, true},
		} {
			err := checkDefault(protocol.ConfigSetParams{Path: path, Value: json.RawMessage(value)}, func() []protocol.NodeInfo { return c.nodes })
			if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "pi (no mount name spaces)") {
				t.Errorf("%s, %s: got %v, want a refusal that says what is missing: %v", path, name, err, c.refused)
			}
		}
	}
	unprotected := func() []protocol.NodeInfo { return []protocol.NodeInfo{machine("pi", false)} }
	for _, p := range []protocol.ConfigSetParams{
		{Path: "toolApproval.defaultDecision", Value: json.RawMessage(`"ask"`)},
		{Path: "toolApproval.defaultDecision"},
		{Path: "toolApproval.rules", Value: json.RawMessage(`[]`)},
		{Path: "model", Value: json.RawMessage(`{"defaultDecision":"allow"}`)},
	} {
		if err := checkDefault(p, unprotected); err != nil {
			t.Errorf("%s %s: got %v, want no refusal", p.Path, p.Value, err)
		}
	}
}
