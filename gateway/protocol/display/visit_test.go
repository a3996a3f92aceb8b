package display

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestARequestForAccessSaysWhetherTheAddressIsProven(t *testing.T) {
	v := protocol.VisitSubject{Title: "Wiki", URL: "http://wiki.localhost:8787", Email: "ann@example.com", From: "192.0.2.7", Message: "It is\n\x1b[31mAnn"}
	for _, c := range []struct{ verified, want string }{
		{"", "Let ann@example.com visit “Wiki”? Nobody has checked that this address is theirs. They ask from 192.0.2.7. They wrote: “It is Ann” The app is http://wiki.localhost:8787."},
		{"Google", "Let ann@example.com visit “Wiki”? They signed in with Google, from 192.0.2.7. They wrote: “It is Ann” The app is http://wiki.localhost:8787."},
	} {
		v.Verified = c.verified
		if got := Line(protocol.Question{Kind: protocol.AskVisit, Visit: &v}); got != c.want {
			t.Errorf("verified by %q: got %q, want %q", c.verified, got, c.want)
		}
	}
}
