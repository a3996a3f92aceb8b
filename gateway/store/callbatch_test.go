package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func look(id string) Call {
	return Call{
		Info:      protocol.CallInfo{CallID: protocol.CallID(id), Node: "n", Tool: "Read", Effect: protocol.EffectRead, State: protocol.CallRunning},
		CreatedAt: time.Now().UnixMilli(),
	}
}

func (c Call) over(result string) Call {
	c.Info.State, c.Info.EndedAt, c.ResultJSON = protocol.CallDone, c.CreatedAt+1, json.RawMessage(result)
	return c
}

// stored returns the number of calls in the database, without writing the delayed ones.
func stored(t testing.TB, s *DB) (n int) {
	t.Helper()
	if err := s.reader.Raw("SELECT count(*) FROM calls").Scan(&n).Error; err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWhatACallReadIsSeenAtOnceAndStoredSoon(t *testing.T) {
	s := openTest(t)
	release := hold(t, s)
	for i := range 5 { // while nobody can write
		c := look(fmt.Sprint("c", i))
		if err := s.Calls.Put(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if i < 4 {
			if won, err := s.Calls.Finish(t.Context(), c.over(`"found"`)); !won || err != nil {
				t.Fatal(won, err)
			}
		}
	}
	release()
	list, more, err := s.Calls.List(t.Context(), protocol.JournalListParams{Limit: 10})
	if err != nil || more || len(list) != 5 {
		t.Fatalf("%d calls, %v, %v", len(list), more, err)
	}
	if c := list[4]; c.Seq != 1 || string(c.ResultJSON) != `"found"` || c.Info.State != protocol.CallDone || list[0].Seq != 5 {
		t.Errorf("%+v", c)
	}
	if open := must(s.Calls.Open(t.Context()))(t); len(open) != 1 || open[0].Info.CallID != "c4" {
		t.Errorf("open: %+v", open)
	}
	if won, err := s.Calls.Finish(t.Context(), look("c4").over(`"late"`)); !won || err != nil {
		t.Error(won, err)
	}
	if c := must(s.Calls.Get(t.Context(), "c4"))(t); string(c.ResultJSON) != `"late"` || c.Seq != 5 {
		t.Errorf("%+v", c)
	}
	if err := s.Calls.Put(t.Context(), look("c5")); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(3 * time.Minute); stored(t, s) < 6; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it was never written")
		}
	}
}

func TestAWriteTakesEarlierReadsAlong(t *testing.T) {
	s := openTest(t)
	for i := range 3 {
		if err := s.Calls.Put(t.Context(), look(fmt.Sprint("r", i))); err != nil {
			t.Fatal(err)
		}
	}
	w := look("w")
	w.Info.Effect = protocol.EffectWrite
	if err := s.Calls.Put(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if n := stored(t, s); n != 4 {
		t.Errorf("%d rows", n)
	}
	if c := must(s.Calls.Get(t.Context(), "w"))(t); c.Seq != 4 {
		t.Errorf("the write has number %d, the reads came before it", c.Seq)
	}
}

func TestClosingStoresTheLastReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fairlead.db")
	s := must(Open(t.Context(), path))(t)
	for i := range 1000 {
		c := look(fmt.Sprint(i))
		if err := s.Calls.Put(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if won, err := s.Calls.Finish(t.Context(), c.over(`{"n":"\u0000 'x' €"}`)); !won || err != nil {
			t.Fatal(won, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Calls.Put(t.Context(), look("after")); err == nil {
		t.Error("a closed store took a call")
	}
	s = must(Open(t.Context(), path))(t)
	defer s.Close()
	if n := stored(t, s); n != 1000 {
		t.Errorf("%d of 1000 rows", n)
	}
	if c := must(s.Calls.Get(t.Context(), "999"))(t); string(c.ResultJSON) != `{"n":"\u0000 'x' €"}` || c.Info.Node != "n" || c.Seq != 1000 {
		t.Errorf("%+v", c)
	}
}

func TestReadThatIsAskedAboutIsWrittenAtOnce(t *testing.T) {
	s := openTest(t)
	c := look("c")
	c.Info.State = protocol.CallWaiting
	if err := s.Calls.Put(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c.Info.ApprovalID = "a"
	if err := s.Calls.Put(t.Context(), c); err != nil || stored(t, s) != 1 {
		t.Fatal(err, stored(t, s))
	}
	c.Info.State = protocol.CallRunning
	if err := s.Calls.Put(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if won, err := s.Calls.Finish(t.Context(), c.over(`1`)); !won || err != nil {
		t.Error(won, err)
	}
	if won, _ := s.Calls.Finish(t.Context(), c.over(`2`)); won {
		t.Error("it ended twice")
	}
	large := look("large")
	if err := s.Calls.Put(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	result := `"` + strings.Repeat("x", maxBatchResult) + `"`
	if won, err := s.Calls.Finish(t.Context(), large.over(result)); !won || err != nil {
		t.Fatal(won, err)
	}
	var got string
	if err := s.reader.Raw("SELECT result FROM calls WHERE id = 'large'").Scan(&got).Error; err != nil || got != result {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestADiskThatRefusesIsNoticedAndNothingIsLostWhenItRecovers(t *testing.T) {
	s := openTest(t)
	refuse := func(yes bool) {
		t.Helper()
		q := "PRAGMA query_only = 0"
		if yes {
			q = "PRAGMA query_only = 1"
		}
		if err := s.writer.db.Exec(q).Error; err != nil {
			t.Fatal(err)
		}
	}
	refuse(true)
	c := look("c")
	if err := s.Calls.Put(t.Context(), c); err != nil { // it is written later
		t.Fatal(err)
	}
	if _, err := s.Calls.Get(t.Context(), "c"); err == nil {
		t.Error("reading did not tell of a call that could not be written")
	}
	if err := s.Calls.Put(t.Context(), look("d")); err == nil {
		t.Error("a call was taken that cannot be written")
	}
	refuse(false)
	if won, err := s.Calls.Finish(t.Context(), c.over(`1`)); !won || err != nil {
		t.Error(won, err)
	}
	if got := must(s.Calls.Get(t.Context(), "c"))(t); got.Info.State != protocol.CallDone {
		t.Errorf("%+v", got)
	}
	if err := s.Calls.Put(t.Context(), look("e")); err != nil {
		t.Error(err)
	}
}

func TestManyReadersAndWritersLoseNoCall(t *testing.T) {
	s := openTest(t)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				c := look(fmt.Sprint(w, "-", i))
				if i%17 == 0 {
					c.Info.Effect = protocol.EffectExec
				}
				if err := s.Calls.Put(t.Context(), c); err != nil {
					t.Error(err)
				}
				if i%5 == 0 {
					if got, err := s.Calls.Get(t.Context(), c.Info.CallID); err != nil || got.Info.State != protocol.CallRunning {
						t.Errorf("%+v, %v", got.Info, err)
					}
				}
				if won, err := s.Calls.Finish(t.Context(), c.over(`1`)); !won || err != nil {
					t.Error(won, err)
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
		t.Errorf("%d calls, %d numbers, %v", len(list), len(seen), err)
	}
	if !s.writer.late.empty() {
		t.Error("calls are left in memory")
	}
}

// during runs f during the write of the delayed calls, unless they have been written.
func during(s *DB, f func()) {
	<-s.writer.lock
	late := s.writer.late.nextWrite()
	f()
	if late != nil {
		s.writer.commit([]*pendingWrite{late})
	}
	s.writer.lock <- struct{}{}
}

func TestACallThatChangesWhileItIsWrittenIsWrittenAgain(t *testing.T) {
	s := openTest(t)
	put := func(ids ...string) {
		t.Helper()
		for _, id := range ids {
			if err := s.Calls.Put(t.Context(), look(id)); err != nil {
				t.Error(id, err)
			}
		}
	}
	finish := func(id string) {
		t.Helper()
		if won, err := s.Calls.Finish(t.Context(), look(id).over(`"`+id+`"`)); !won || err != nil {
			t.Errorf("%s: %v, %v", id, won, err)
		}
	}
	put("over", "open", "ends")
	finish("over")
	during(s, func() {
		finish("ends")
		put("new")
	})
	finish("open")
	list, _, err := s.Calls.List(t.Context(), protocol.JournalListParams{Limit: 10})
	states := map[protocol.CallID]string{}
	for _, c := range list {
		states[c.Info.CallID] = c.Info.State + " " + string(c.ResultJSON)
	}
	want := map[protocol.CallID]string{"over": `done "over"`, "open": `done "open"`, "ends": `done "ends"`, "new": "running "}
	if err != nil || !maps.Equal(states, want) {
		t.Errorf("got %v, %v, want %v", states, err, want)
	}
}

func TestCallsThatCouldNotBeWrittenKeepTheirOrder(t *testing.T) {
	b := newCallBatch(func() {})
	for _, id := range []string{"a", "b", "c"} {
		b.add(look(id))
	}
	write := b.nextWrite()
	b.add(look("b").over(`"b"`))
	b.add(look("d"))
	write.onEnd(errors.New("the disk refuses"))
	if b.add(look("e")) {
		t.Error("a call was taken though the disk refuses")
	}
	var order []string
	for _, c := range b.calls {
		order = append(order, string(c.Info.CallID)+" "+c.Info.State)
	}
	if want := []string{"a running", "b done", "c running", "d running"}; !slices.Equal(order, want) || b.bytes != len(`"b"`) {
		t.Errorf("got %v, %d bytes, want %v", order, b.bytes, want)
	}
	b.nextWrite().onEnd(nil)
	if !b.empty() || !b.add(look("e")) {
		t.Error("the batch did not recover")
	}
}
