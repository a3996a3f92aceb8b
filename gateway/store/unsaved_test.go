package store

import (
	"fmt"
	"testing"

	"fairlead/gateway/protocol"
)

func TestSessionIsCreatedWithItsReadID(t *testing.T) {
	s := openTest(t)
	first := must(s.Sessions.Peek(t.Context(), key, 5))(t)
	again := must(s.Sessions.Peek(t.Context(), key, 6))(t)
	if first.ID == "" || first.CreatedAt != 5 || again.ID != first.ID || again.CreatedAt != 5 {
		t.Errorf("got %+v, then %+v, want the same session", first, again)
	}
	if keys := must(s.Sessions.Keys(t.Context()))(t); len(keys) != 0 {
		t.Errorf("got stored sessions %v, want none", keys)
	}
	if made := must(s.Sessions.Ensure(t.Context(), key, 7))(t); made.ID != first.ID || made.CreatedAt != 5 || made.LastActiveAt != 7 {
		t.Errorf("got %+v, want the session %s, active at 7", made, first.ID)
	}
	must(s.Sessions.Update(t.Context(), key, func(s *Session) { s.DeletedAt = 8 }))(t)
	must(s.Sessions.PurgeDeleted(t.Context(), 9))(t)
	if made := must(s.Sessions.Ensure(t.Context(), key, 10))(t); made.ID == first.ID {
		t.Error("the id of a deleted session is given again")
	}
}

func TestReadsOfManyKeysDoNotAccumulateMemory(t *testing.T) {
	var p unsavedSessions
	for i := range 3 * maxUnsaved {
		p.get(protocol.SessionKey(fmt.Sprint(i)), 1)
	}
	if len(p.byKey) > maxUnsaved {
		t.Errorf("got %d sessions in memory, want at most %d", len(p.byKey), maxUnsaved)
	}
}
