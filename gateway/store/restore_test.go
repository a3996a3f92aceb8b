package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func texts(t *testing.T, s *DB) (list []string) {
	t.Helper()
	for _, m := range must(s.Messages.List(t.Context(), key, 0, 0))(t) {
		list = append(list, m.Content.Text())
	}
	return list
}

func TestRestoredArchiveContinues(t *testing.T) {
	s := openTest(t)
	for i := range 4 {
		must(s.Messages.Append(t.Context(), key, user(fmt.Sprint("a", i))))(t)
	}
	if _, _, err := s.Archives.Compact(t.Context(), key, 2, 10, protocol.Message{Role: protocol.RoleUser, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text("short")}}); err != nil {
		t.Fatal(err)
	}
	first := must(s.Sessions.Get(t.Context(), key))(t)
	if _, _, err := s.Archives.Reset(t.Context(), key, "s2", 20); err != nil {
		t.Fatal(err)
	}
	must(s.Messages.Append(t.Context(), key, user("b0")))(t)

	back, old, err := s.Archives.Restore(t.Context(), key, protocol.ArchiveID(first.ID), 30)
	if err != nil || back.Messages != 5 || old.ID != "s2" || old.Messages != 1 {
		t.Fatalf("got %+v, archived %+v, error %v, want 5 messages back, 1 archived", back, old, err)
	}
	ses := must(s.Sessions.Get(t.Context(), key))(t)
	if ses.ID != first.ID || ses.FirstText != "a0" || ses.MessageCount != first.MessageCount || ses.CompactedThrough != 2 || !slices.Equal(ses.Previous, []protocol.SessionID{"s2"}) {
		t.Errorf("got %+v, want the session %+v", ses, first)
	}
	if got := texts(t, s); !slices.Equal(got, []string{"a2", "a3", "short"}) {
		t.Errorf("got %q for the model, want a2, a3, short", got)
	}
	must(s.Messages.Append(t.Context(), key, user("a4")))(t)
	if got := texts(t, s); !slices.Equal(got, []string{"a2", "a3", "short", "a4"}) {
		t.Errorf("after a further message: got %q for the model, want a2, a3, short, a4", got)
	}

	// And back again: the current messages are archived under their old ID, with those that were
	// added since.
	if _, old, err = s.Archives.Restore(t.Context(), key, "s2", 40); err != nil || old.ID != protocol.ArchiveID(first.ID) || old.Messages != 6 || old.CompactedThrough != 2 {
		t.Fatalf("got %+v, error %v, want 6 archived messages", old, err)
	}
	if got := texts(t, s); !slices.Equal(got, []string{"b0"}) {
		t.Errorf("got %q, want b0", got)
	}
	hits, _, err := s.Search.Messages(t.Context(), "a4", "", 0, 0, 0, 5)
	if err != nil || len(hits) != 1 || hits[0].Current {
		t.Errorf("got %+v, error %v, want one match in the archive", hits, err)
	}
}

func TestEmptyConversationLeavesNoArchiveBehind(t *testing.T) {
	s := openTest(t)
	must(s.Messages.Append(t.Context(), key, user("a")))(t)
	id := must(s.Sessions.Get(t.Context(), key))(t).ID
	if _, _, err := s.Archives.Reset(t.Context(), key, "s2", 20); err != nil {
		t.Fatal(err)
	}
	_, old, err := s.Archives.Restore(t.Context(), key, protocol.ArchiveID(id), 30)
	if err != nil || old.ID != "" {
		t.Errorf("got %+v, error %v, want nothing archived", old, err)
	}
	if list := must(s.Archives.List(t.Context(), key))(t); len(list) != 0 {
		t.Errorf("got archives %+v, want none", list)
	}
}

func TestIncompleteArchiveIsNotRestored(t *testing.T) {
	for what, damage := range map[string]string{
		"cannot be read":            `UPDATE messages SET json = '{"role":' WHERE seq = 2`,
		"2 of its 3 messages exist": `DELETE FROM messages WHERE seq = 2`,
		"session.uncompact":         `UPDATE archives SET kind = 'compact'`,
		"The chat has no archive ":  `DELETE FROM archives`,
	} {
		t.Run(what, func(t *testing.T) {
			s := openTest(t)
			must(s.Messages.Append(t.Context(), key, user("a"), user("b"), user("c")))(t)
			id := must(s.Sessions.Get(t.Context(), key))(t).ID
			if _, _, err := s.Archives.Reset(t.Context(), key, "s2", 20); err != nil {
				t.Fatal(err)
			}
			if err := s.writer.db.Exec(damage).Error; err != nil {
				t.Fatal(err)
			}
			_, _, err := s.Archives.Restore(t.Context(), key, protocol.ArchiveID(id), 30)
			if err == nil || !strings.Contains(err.Error(), what) || !errors.Is(err, protocol.ErrConflict) && !errors.Is(err, protocol.ErrNotFound) {
				t.Errorf("%s: got %v; want an error with %v and either error ErrConflict or error ErrNotFound", what, err, what)
			}
			if ses := must(s.Sessions.Get(t.Context(), key))(t); ses.ID != "s2" || ses.MessageCount != 0 {
				t.Errorf("%s: got %+v, want the empty session s2", what, ses)
			}
		})
	}
}
