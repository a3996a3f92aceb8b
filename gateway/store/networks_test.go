package store

import (
	"path/filepath"
	"slices"
	"testing"

	"fairlead/gateway/protocol"
)

func TestNetworksAreStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := must(Open(t.Context(), path))(t)
	put := func(n protocol.Network) protocol.Network {
		t.Helper()
		n, err := s.Networks.Put(t.Context(), n, protocol.AuditEntry{Kind: protocol.AuditNetwork, What: "created " + n.Name})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	home := put(protocol.Network{ID: "net_1", Name: "home", CreatedAt: 1})
	work := put(protocol.Network{ID: "net_2", Name: "work", CreatedAt: 2})
	if _, err := s.Networks.Put(t.Context(), protocol.Network{ID: "net_3", Name: "work"}); err == nil {
		t.Error("a second network with the name work: got no error, want one")
	}
	work.Name = "office"
	if got := put(work); got != work {
		t.Errorf("the renamed network: got %+v, want %+v", got, work)
	}
	test := put(protocol.Network{ID: "net_4", Name: "test"})
	if err := s.Networks.Delete(t.Context(), test.ID); err != nil {
		t.Fatal(err)
	}
	last := put(protocol.Network{ID: "net_5", Name: "test"})
	if last.Index <= test.Index {
		t.Errorf("the index after a deletion: got %d, want more than %d", last.Index, test.Index)
	}
	s.Close()
	s = must(Open(t.Context(), path))(t)
	defer s.Close()
	if got, want := must(s.Networks.List(t.Context()))(t), []protocol.Network{home, work, last}; !slices.Equal(got, want) {
		t.Errorf("after a restart: got %+v, want %+v", got, want)
	}
}
