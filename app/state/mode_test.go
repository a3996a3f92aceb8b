package state

import (
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
		if got := ModeOf(c.in, now); got.Mode != c.mode || ModeWord(got) == "" {
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
