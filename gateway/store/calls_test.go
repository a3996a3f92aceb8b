package store

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

// readCall returns a running call that only reads.
func readCall(id string) Call {
	return Call{
		Info:      protocol.CallInfo{CallID: protocol.CallID(id), Node: "n", Tool: "Read", Effect: protocol.EffectRead, State: protocol.CallRunning},
		CreatedAt: time.Now().UnixMilli(),
	}
}

// ended returns the call after its end.
func (c Call) ended(result string) Call {
	c.Info.State, c.Info.EndedAt, c.ResultJSON = protocol.CallDone, c.CreatedAt+1, json.RawMessage(result)
	return c
}

func TestReadsAreStoredBeforeTheyAreAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fairlead.db")
	s := must(Open(t.Context(), path))(t)
	for i := range 100 {
		c := readCall(fmt.Sprint(i))
		if err := s.Calls.Put(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if won, err := s.Calls.Finish(t.Context(), c.ended(`{"n":"\u0000 'x' €"}`)); !won || err != nil {
			t.Fatalf("got %v, %v, want the first end to win", won, err)
		}
	}
	if got := must(s.Calls.Get(t.Context(), "99"))(t); got.Seq != 100 || string(got.ResultJSON) != `{"n":"\u0000 'x' €"}` {
		t.Errorf("got %+v, want number 100 with its result", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Calls.Put(t.Context(), readCall("after")); err == nil {
		t.Error("got no error from a closed store")
	}
	s = must(Open(t.Context(), path))(t)
	defer s.Close()
	if list, _, err := s.Calls.List(t.Context(), protocol.JournalListParams{Limit: 200}); err != nil || len(list) != 100 {
		t.Errorf("got %d calls, %v, want 100", len(list), err)
	}
}

func TestCallThatCannotBeStoredIsRefused(t *testing.T) {
	s := openTest(t)
	refuse := func(pragma string) {
		t.Helper()
		if err := s.writer.db.Exec("PRAGMA query_only = " + pragma).Error; err != nil {
			t.Fatal(err)
		}
	}
	refuse("1")
	if err := s.Calls.Put(t.Context(), readCall("c")); err == nil {
		t.Error("got no error from a disk that refuses")
	}
	refuse("0")
	if err := s.Calls.Put(t.Context(), readCall("c")); err != nil {
		t.Error(err)
	}
}

func TestManyReadersAndWritersLoseNoCall(t *testing.T) {
	s := openTest(t)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				c := readCall(fmt.Sprint(w, "-", i))
				if i%17 == 0 {
					c.Info.Effect = protocol.EffectExec
				}
				if err := s.Calls.Put(t.Context(), c); err != nil {
					t.Error(err)
				}
				if i%5 == 0 {
					if got, err := s.Calls.Get(t.Context(), c.Info.CallID); err != nil || got.Info.State != protocol.CallRunning {
						t.Errorf("got %+v, %v, want a running call", got.Info, err)
					}
				}
				if won, err := s.Calls.Finish(t.Context(), c.ended(`1`)); !won || err != nil {
					t.Errorf("got %v, %v, want the end to win", won, err)
				}
			}
		})
	}
	wg.Wait()
	list, _, err := s.Calls.List(t.Context(), protocol.JournalListParams{Limit: 2000, State: protocol.CallDone})
	seen := map[int64]bool{}
	for _, c := range list {
		seen[c.Seq] = true
	}
	if err != nil || len(list) != 1600 || len(seen) != 1600 {
		t.Errorf("got %d calls with %d numbers, %v, want 1600 of each", len(list), len(seen), err)
	}
}
