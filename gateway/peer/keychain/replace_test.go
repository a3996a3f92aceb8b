package keychain

import (
	"errors"
	"testing"
)

// refusingStore refuses to change one secret.
type refusingStore struct {
	Store
	refused string
}

var errRefused = errors.New("refused")

func (p refusingStore) Set(name string, value Secret) error {
	if name == p.refused {
		return errRefused
	}
	return p.Store.Set(name, value)
}

func (p refusingStore) Delete(name string) error {
	if name == p.refused {
		return errRefused
	}
	return p.Store.Delete(name)
}

func TestReplaceChangesAllSecretsOrNone(t *testing.T) {
	s := OpenFile(t.TempDir())
	for name, value := range map[string]Secret{"a": "old a", "b": "old b", "d": "old d"} {
		if err := s.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, want map[string]Secret) {
		t.Helper()
		for name, value := range want {
			got, err := s.Get(name)
			if got != value || errors.Is(err, ErrNotFound) != (value == "") {
				t.Errorf("%s: %s: got %q, %v, want %q", when, name, got.Reveal(), err, value.Reveal())
			}
		}
	}
	old := map[string]Secret{"a": "old a", "b": "old b", "c": "", "d": "old d"}
	next := map[string]Secret{"a": "new a", "b": "", "c": "new c", "d": "new d"}
	if _, err := Replace(refusingStore{s, "d"}, next); !errors.Is(err, errRefused) {
		t.Errorf("a refused secret: got %v, want its error", err)
	}
	check("after a refusal", old)
	undo, err := Replace(s, next)
	if err != nil {
		t.Fatal(err)
	}
	check("after the change", next)
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	check("after undo", old)
}
