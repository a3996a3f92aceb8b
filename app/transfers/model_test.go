package transfers

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// answerHistory answers with a history of n transfers, t0 being the newest, without the removed
// ones.
func answerHistory(n int) func(*feedtest.Gateway) {
	return func(f *feedtest.Gateway) {
		var mu sync.Mutex
		var all []protocol.Transfer
		for i := range n {
			all = append(all, protocol.Transfer{ID: protocol.TransferID(fmt.Sprint("t", i)), State: protocol.TransferDone})
		}
		feedtest.On(f, protocol.TransferList, func(p protocol.TransferListParams) (protocol.TransferListResult, error) {
			mu.Lock()
			defer mu.Unlock()
			from := min(p.Offset, len(all))
			return protocol.TransferListResult{Transfers: all[from:min(from+p.Limit, len(all))], Count: len(all)}, nil
		})
		feedtest.On(f, protocol.TransferForget, func(p protocol.TransferForgetParams) (protocol.TransferForgetResult, error) {
			mu.Lock()
			defer mu.Unlock()
			all = lists.Without(all, func(t protocol.Transfer) bool { return slices.Contains(p.IDs, t.ID) })
			return protocol.TransferForgetResult{}, nil
		})
	}
}

func historyOf(t *testing.T, a *feed.Feed) (text string) {
	t.Helper()
	history, err := (Model{a}).History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range history.List[:min(3, len(history.List))] {
		text += string(x.ID) + " "
	}
	return fmt.Sprint(text, "of ", history.Total)
}

func TestRemovedTransferCanBeRestoredForAWhile(t *testing.T) {
	feedtest.Run(t, feed.New, answerHistory(3), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		shows := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := historyOf(t, a); got != want {
				t.Errorf("%q is shown, want %q", got, want)
			}
		}
		before := a.View().Changed.History
		undo := (Model{a}).Remove("t1")
		shows("t0 t2 of 2")
		undo()
		shows("t0 t1 t2 of 3")
		if n := a.View().Changed.History - before; n != 2 {
			t.Errorf("the page was told %d times, want 2", n)
		}
		undo = (Model{a}).Remove("t1")
		time.Sleep(feed.UndoTime - time.Second)
		if n := len(f.Called(protocol.TransferForget.Name)); n != 0 {
			t.Error("it is removed before the time to take that back is over")
		}
		time.Sleep(2 * time.Second)
		undo()
		shows("t0 t2 of 2")
		if got := fmt.Sprintf("%s", f.Called(protocol.TransferForget.Name)); !strings.Contains(got, `"t1"`) {
			t.Errorf("got %v; want `\"t1\"` in it", got)
		}
	})
}

func TestOnlyEndedTransfersAreCleared(t *testing.T) {
	feedtest.Run(t, feed.New, answerHistory(1200), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		undo, err := (Model{a}).ClearHistory(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := historyOf(t, a); got != "of 0" {
			t.Errorf(`%q is shown, want "of 0"`, got)
		}
		undo()
		synctest.Wait()
		if got := historyOf(t, a); got != "t0 t1 t2 of 1200" {
			t.Errorf("%q is shown again", got)
		}
		if _, err := (Model{a}).ClearHistory(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(feed.UndoTime + time.Second)
		synctest.Wait()
		if got := historyOf(t, a); got != "of 0" {
			t.Errorf("%q is left", got)
		}
		for _, p := range f.Called(protocol.TransferForget.Name) {
			if !strings.Contains(string(p), `"t`) {
				t.Errorf("%s: whatever ends meanwhile is removed too", p)
			}
		}
	})
}
