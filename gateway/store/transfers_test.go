package store

import (
	"errors"
	"testing"

	"fairlead/gateway/protocol"
)

func TestTransfersAreAQueueAndAHistory(t *testing.T) {
	s := openTest(t)
	put := func(id string, created, ended int64, from, to protocol.NodeID) {
		t.Helper()
		tr := Transfer{Transfer: protocol.Transfer{
			ID: protocol.TransferID(id), State: protocol.TransferDone, From: from, To: to, Sources: []string{string(from) + ":a"},
			CreatedAt: created, EndedAt: ended,
		}, Agent: "main", Policy: "p"}
		if err := s.Transfers.Put(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	put("a", 1, 0, "x", "y")
	put("b", 2, 10, "x", "y")
	put("c", 3, 20, "y", "gsv")
	put("d", 4, 0, "gsv", "x")
	put("a", 1, 30, "x", "y") // ends
	open, _, err := s.Transfers.List(t.Context(), TransferFilter{Limit: -1})
	if err != nil || len(open) != 1 || open[0].ID != "d" || open[0].Policy != "p" || open[0].Agent != "main" {
		t.Errorf("open ones: got %+v, error %v, want d", open, err)
	}
	ended, n, err := s.Transfers.List(t.Context(), TransferFilter{Finished: true, Limit: 2})
	if err != nil || n != 3 || len(ended) != 2 || ended[0].ID != "a" || ended[1].ID != "c" {
		t.Errorf("ended ones: got %+v of %d, error %v, want a, c of 3", ended, n, err)
	}
	if ended, n, err := s.Transfers.List(t.Context(), TransferFilter{Finished: true, Node: "gsv", Limit: 9}); err != nil || n != 1 || ended[0].ID != "c" {
		t.Errorf("of the workspace: got %+v of %d, error %v, want c", ended, n, err)
	}
	if gone, err := s.Transfers.Delete(t.Context(), []protocol.TransferID{"b", "d", "z"}); err != nil || len(gone) != 1 || gone[0] != "b" {
		t.Errorf("got deleted %v, error %v, want b, and that an open one stays", gone, err)
	}
	if gone, err := s.Transfers.Delete(t.Context(), nil); err != nil || len(gone) != 2 {
		t.Errorf("got deleted %v, error %v, want 2", gone, err)
	}
	if _, err := s.Transfers.Get(t.Context(), "d"); err != nil {
		t.Error(err)
	}
	if _, err := s.Transfers.Get(t.Context(), "a"); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("a forgotten transfer: got error %v, want ErrNotFound", err)
	}
}
