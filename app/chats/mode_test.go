package chats

import (
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestTrustThatEndedAsksAgain(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	entry := func(m *protocol.ApprovalMode) protocol.SessionEntry {
		return protocol.SessionEntry{Settings: &protocol.SessionPrefs{Approvals: m}}
	}
	for _, c := range []struct {
		in   protocol.SessionEntry
		mode string
	}{
		{protocol.SessionEntry{}, protocol.ModeAsk},
		{entry(nil), protocol.ModeAsk},
		{entry(&protocol.ApprovalMode{}), protocol.ModeAsk},
		{entry(&protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: 1_000_000}), protocol.ModeAsk},
		{entry(&protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: 1_000_001}), protocol.ModeTrust},
		{entry(&protocol.ApprovalMode{Mode: protocol.ModeReadOnly}), protocol.ModeReadOnly},
	} {
		if got := ModeOf(c.in, now); got.Mode != c.mode || ModeWord(got, now) == "" {
			t.Errorf("%+v is %q, want %q", c.in.Settings, got.Mode, c.mode)
		}
	}
	words := map[string]bool{}
	for _, c := range ModeChoices {
		words[c.Text] = true
		if (c.Mode == protocol.ModeTrust) != (c.For > 0) {
			t.Errorf("%s: a trust, and only that, ends by itself", c.Text)
		}
	}
	if len(words) != len(ModeChoices) {
		t.Error("two ways of asking are called the same")
	}
}

func protectedHost(enforced bool) *protocol.HostInfo {
	checks := []protocol.EnforcedCheck{{ID: protocol.ProtectedCheck, Enforced: enforced, Why: "no mount name spaces"}}
	return &protocol.HostInfo{Enforcement: &protocol.Enforcement{Checks: checks}}
}

func TestTrustIsOfferedWhereAMachineProtects(t *testing.T) {
	desk := protocol.NodeInfo{ID: "desk", Online: true, Host: protectedHost(true)}
	pi := protocol.NodeInfo{ID: "pi", Online: true, Host: protectedHost(false)}
	for name, c := range map[string]struct {
		nodes     []protocol.NodeInfo
		text      string
		available bool
	}{
		"no machine":    {nil, "", true},
		"protected":     {[]protocol.NodeInfo{desk}, "", true},
		"one of two":    {[]protocol.NodeInfo{desk, pi}, "still ask where nothing protects start-up files: pi (no mount name spaces)", true},
		"not protected": {[]protocol.NodeInfo{pi}, "Trust is not available", false},
	} {
		text, available := TrustLimit(c.nodes)
		if !strings.Contains(text, c.text) || c.text == "" && text != "" || available != c.available {
			t.Errorf("%s: got %q, available %v, want %q, %v", name, text, available, c.text, c.available)
		}
	}
}
