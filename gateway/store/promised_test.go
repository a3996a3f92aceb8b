package store

import (
	"fmt"
	"testing"

	"fairlead/gateway/protocol"
)

func TestASessionIsMadeWithTheIDThatWasRead(t *testing.T) {
	s := openTest(t)
	told := must(s.Sessions.Peek(t.Context(), key, 5))(t)
	again := must(s.Sessions.Peek(t.Context(), key, 6))(t)
	if told.ID == "" || told.CreatedAt != 5 || again.ID != told.ID || again.CreatedAt != 5 {
		t.Errorf("%+v, then %+v", told, again)
	}
	if keys := must(s.Sessions.Keys(t.Context()))(t); len(keys) != 0 {
		t.Errorf("stored: %v", keys)
	}
	if made := must(s.Sessions.Ensure(t.Context(), key, 7))(t); made.ID != told.ID || made.CreatedAt != 5 || made.LastActiveAt != 7 {
		t.Errorf("%+v", made)
	}
	must(s.Sessions.Update(t.Context(), key, func(s *Session) { s.DeletedAt = 8 }))(t)
	must(s.Sessions.PurgeDeleted(t.Context(), 9))(t)
	if made := must(s.Sessions.Ensure(t.Context(), key, 10))(t); made.ID == told.ID {
		t.Error("the id of a deleted session is given again")
	}
}

func TestReadsOfManyKeysTakeNoMemoryForEver(t *testing.T) {
	var p promises
	for i := range 3 * maxPromises {
		p.give(protocol.SessionKey(fmt.Sprint(i)), 1)
	}
	if len(p.of) > maxPromises {
		t.Errorf("%d are remembered", len(p.of))
	}
}
