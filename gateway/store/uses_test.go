package store

import (
	"maps"
	"testing"

	"fairlead/gateway/protocol"
)

func TestOnlyTrustOfNowIsListed(t *testing.T) {
	s := openTest(t)
	for key, mode := range map[protocol.SessionKey]*protocol.ApprovalMode{
		"now": {Mode: protocol.ModeTrust, Until: 2000}, "past": {Mode: protocol.ModeTrust, Until: 1000}, "edits": {Mode: protocol.ModeAcceptEdits}, "none": nil, "deleted": {Mode: protocol.ModeTrust, Until: 2000},
	} {
		if _, err := s.Sessions.Ensure(t.Context(), key, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Sessions.Update(t.Context(), key, func(x *Session) {
			if x.Prefs.Approvals = mode; key == "deleted" {
				x.DeletedAt = 5
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Sessions.Trusted(t.Context(), 1000)
	if err != nil || len(list) != 1 || list[0].Key != "now" {
		t.Errorf("got %+v, %v; want the chat that is trusted now", list, err)
	}
}

func TestLastUsesAreStored(t *testing.T) {
	s := openTest(t)
	for _, uses := range []map[string]int64{{"a": 1, "b": 2}, {"b": 3}} {
		if err := s.Uses.Put(t.Context(), uses); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := s.Uses.All(t.Context()); err != nil || !maps.Equal(all, map[string]int64{"a": 1, "b": 3}) {
		t.Errorf("got %v, %v; want the latest times", all, err)
	}
}
