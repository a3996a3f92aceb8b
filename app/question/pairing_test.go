package question

import (
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

func TestRequestsAreShownInWords(t *testing.T) {
	r := protocol.Question{Kind: protocol.AskPair, Pairing: &protocol.PairingSubject{Device: protocol.Device{Name: "nas", Hostname: "vm", OS: "Debian 12", Address: "10.0.0.3"}}}
	d := &r.Pairing.Device
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	says := func(title, text string) {
		t.Helper()
		if got := PairingWords(r, feed.View{}, now).Title; got != title {
			t.Errorf("%q, want %q", got, title)
		}
		if got := RequestText(r, now); got != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
	says("Pair “nas”?", "It wants to be a machine that the agent can use.")
	if got, want := RequestSource(r), "Debian 12 · 10.0.0.3 · computer name vm"; got != want {
		t.Errorf("RequestSource: got %q, want %q", got, want)
	}
	d.ExpiresAt = now.Add(24 * time.Hour).UnixMilli()
	says("Pair “nas”?", "It wants to be a machine that the agent can use. Access ends tomorrow at 12:00.")
	d.Role, d.Scopes, d.ExpiresAt = protocol.RoleClient, []protocol.Scope{protocol.ScopeRead, protocol.ScopeChat}, 0
	says("Pair “nas”?", "It wants to control Fairlead. It may view and chat.")
	r.Kind, r.Pairing.Wider = protocol.AskWiden, []string{"the tool Write"}
	says("Allow more on “nas”?", "It offers more than you allowed: the tool Write.")
	r.ExpiresAt = now.Add(59*time.Second + 700*time.Millisecond).UnixMilli()
	if got, want := wording.TimeLeft(r.ExpiresAt, now), "1:00 left"; got != want {
		t.Errorf("TimeLeft: got %q, want %q", got, want)
	}
}

func TestRightsOfAWindowAreShownInWords(t *testing.T) {
	for want, scopes := range map[string][]protocol.Scope{
		"do nothing": nil, "view": {protocol.ScopeRead}, "view and chat": {protocol.ScopeChat, protocol.ScopeRead},
		"view, chat and answer questions": {protocol.ScopeRead, protocol.ScopeChat, protocol.ScopeApprove},
		"do everything you can":           {protocol.ScopeRead, protocol.ScopeChat, protocol.ScopeInvoke, protocol.ScopeApprove, protocol.ScopeAdmin},
	} {
		if got := RightsText(scopes); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
