package transfer

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestLocalFilesAreSentAndResumed(t *testing.T) {
	feedtest.Run(t, feed.New, nil, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		if _, err := Send(t.Context(), a, protocol.Here, []string{"/a b", "/c"}, "nas", "inbox"); err != nil {
			t.Fatal(err)
		}
		list := f.Called(protocol.TransferStart.Name)
		if len(list) != 1 || !strings.Contains(string(list[0]), `"sources":["@here:/a b","@here:/c"],"destination":"nas:inbox","into":true`) {
			t.Errorf("started: got %s; want length 1 and `\"sources\":[\"@here:/a b\",\"@here:/c\"],\"destination\":\"nas:inbox\",\"into\":true` in list[0]", list)
		}
		f.Mu.Lock()
		f.Snapshot.Transfers = []protocol.Transfer{
			{ID: "mine", From: protocol.Here, State: protocol.TransferWaiting},
			{ID: "next", To: protocol.Here, From: "nas", State: protocol.TransferQueued},
			{ID: "theirs", From: "nas", To: "box", State: protocol.TransferWaiting},
			{ID: "paused", From: protocol.Here, State: protocol.TransferPaused},
		}
		f.Mu.Unlock()
		f.Cut()
		time.Sleep(time.Minute)
		synctest.Wait()
		resumed := f.Called(protocol.TransferResume.Name)
		all := fmt.Sprintf("%s", resumed)
		if len(resumed) != 2 || !strings.Contains(all, "mine") || !strings.Contains(all, "next") {
			t.Errorf(`resumed: got %s; want length 2, "mine" in it and "next" in it`, resumed)
		}
	})
}
