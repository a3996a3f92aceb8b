package session

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestCanonicalFollowsTheTableOfKeys(t *testing.T) {
	for key, want := range map[protocol.SessionKey]protocol.SessionKey{
		"": chat, "main": chat, " MAIN ": chat, "agent:main:main": chat, "agent:Main:MAIN": chat, "agent::main": chat,
		// direct conversations, in every scope's spelling
		"agent:main:dm:ann":                   chat,
		"agent:main:cli:dm:main":              chat,
		"agent:main:whatsapp:default:dm:+491": chat,
		"agent:main:whatsapp:dm:a:b":          chat,
		"agent:Work:cli:dm:main":              "agent:work:main",
		// everything else
		"agent:main:whatsapp:group:1":           "agent:main:whatsapp:group:1",
		"agent:main:cron:job":                   "agent:main:cron:job",
		"agent:main:heartbeat:system:internal":  "agent:main:heartbeat:system:internal",
		"agent:main:app:chat:0190-ab":           "agent:main:app:chat:0190-ab",
		"agent:main:whatsapp:group:x:thread:dm": "agent:main:whatsapp:group:x:thread:dm",
		"my-notes":                              "my-notes",
		"agent:main":                            "agent:main",
	} {
		if got := Canonical(key); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
		if again := Canonical(want); again != want {
			t.Errorf("%q is not stable: %q", want, again)
		}
	}
	if k := newKey(); Canonical(k) != k {
		t.Error(k)
	}
}
