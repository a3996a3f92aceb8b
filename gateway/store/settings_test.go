package store

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestOwnerIDIsStable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	var ids []string
	for range 2 {
		s := must(Open(t.Context(), path))(t)
		ids = append(ids, must(s.Settings.OwnerID(t.Context()))(t), must(s.Settings.OwnerID(t.Context()))(t))
		if all := must(s.Settings.All(t.Context()))(t); len(all) > 0 {
			t.Errorf("got the settings %s, want none", all)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Sort(ids); len(ids[0]) != 36 || len(slices.Compact(ids)) != 1 {
		t.Errorf("got %v, want one UUID", ids)
	}
	if other := must(openTest(t).Settings.OwnerID(t.Context()))(t); other == ids[0] {
		t.Errorf("got %s for another gateway, want another ID", other)
	}
}
