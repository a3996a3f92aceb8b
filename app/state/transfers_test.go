package state

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

func TestRemainingTimesAreShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "", 3 * time.Second: "a few seconds", 42 * time.Second: "about 40 s", 2 * time.Minute: "about 2 min", 3 * time.Hour: "about 3 h",
		72 * time.Hour: "about 3 days",
	} {
		if got := wording.ETAText(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

func TestTransferSaysHowItIs(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas", Name: "The box"}}}
	x := protocol.Transfer{Sources: []string{"@here:/home/me/photos/", "@here:/b"}, From: protocol.Here, To: "nas"}
	if got, want := TransferTitle(v, x), "photos and 1 more to The box"; got != want {
		t.Errorf("TransferTitle: got %q, want %q", got, want)
	}
	if got, want := TransferTitle(v, protocol.Transfer{Sources: []string{`win:C:\Users\me\a.txt`}, To: "gsv"}), "a.txt to the agent's files"; got != want {
		t.Errorf("TransferTitle: got %q, want %q", got, want)
	}
	if got, want := TransferTitle(feed.View{Status: feed.Status{Device: "desk"}}, protocol.Transfer{Sources: []string{"nas:a"}, From: "nas", To: protocol.Here, Device: "phone"}), "a to another computer"; got != want {
		t.Errorf("TransferTitle: got %q, want %q", got, want)
	}
	for want, x := range map[string]protocol.Transfer{
		"1.2 GB of 3.4 GB · 86 MB/s · about 2 min":  {State: protocol.TransferRunning, Files: 1, BytesDone: 1_200_000_000, Bytes: 3_400_000_000, Speed: 86_000_000, ETA: 120_000},
		"3 of 9 files, 1.0 kB of 2.0 kB":            {State: protocol.TransferRunning, Files: 9, FilesDone: 3, BytesDone: 1000, Bytes: 2000, Current: "a.jpg"},
		"1.0 kB of 2.0 kB · direct":                 {State: protocol.TransferRunning, BytesDone: 1000, Bytes: 2000, Current: "a.jpg", Route: protocol.RouteDirect},
		"Checking what is there already…":           {State: protocol.TransferRunning, Bytes: 2000},
		"2.0 kB · from The box · in 2.0 s · relay":  {State: protocol.TransferDone, From: "nas", BytesDone: 2000, StartedAt: 1000, EndedAt: 3000, Route: protocol.RouteRelay},
		"Counting files…":                           {State: protocol.TransferRunning},
		"Waiting for nas (until 13:00)":             {State: protocol.TransferWaiting, Error: "Waiting for nas", ExpiresAt: now.Add(time.Hour).UnixMilli()},
		"Waiting · nas is offline (until 13:00)":    {State: protocol.TransferWaiting, Error: "nas is offline", ExpiresAt: now.Add(time.Hour).UnixMilli()},
		"Waiting for The box (until 13:00)":         {State: protocol.TransferWaiting, From: protocol.Here, To: "nas", Error: "Node disconnected: nas", ExpiresAt: now.Add(time.Hour).UnixMilli()},
		"Failed · the disk is full · 1 file failed": {State: protocol.TransferFailed, Error: "the disk is full", Failed: 1},
		"2.0 kB · from this computer · in 2.0 s":    {State: protocol.TransferDone, From: protocol.Here, BytesDone: 2000, StartedAt: 1000, EndedAt: 3000},
		"Paused · 1.0 kB of 2.0 kB":                 {State: protocol.TransferPaused, BytesDone: 1000, Bytes: 2000},
	} {
		if got := TransferLine(v, x, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if Progress(protocol.Transfer{Bytes: 4, BytesDone: 1}) != 0.25 || Progress(protocol.Transfer{BytesDone: 5}) != 0 || Progress(protocol.Transfer{State: protocol.TransferDone}) != 1 {
		t.Error("progress")
	}
}

func TestFilesOfThisComputerAreSentAndGoOnAfterABreak(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *App, f *feedtest.Gateway) {
		if _, err := a.Transfers.Send(t.Context(), protocol.Here, []string{"/a b", "/c"}, "nas", "inbox"); err != nil {
			t.Fatal(err)
		}
		list := f.Called(protocol.TransferStart.Name)
		if len(list) != 1 || !strings.Contains(string(list[0]), `"sources":["@here:/a b","@here:/c"],"destination":"nas:inbox","into":true`) {
			t.Errorf("started %s", list)
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
			t.Errorf("resumed %s", resumed)
		}
	})
}

func TestTrayShowsWhatIsBeingMoved(t *testing.T) {
	v := feed.View{Status: feed.Status{Connected: true, Loaded: true}, Transfers: feed.Transfers{List: []protocol.Transfer{{ID: "t", Sources: []string{"@here:/photos"}, To: "nas", State: protocol.TransferRunning, Bytes: 100, BytesDone: 40}}}}
	for _, i := range TrayOf(v).Items {
		if i.Label == "Transfers (1)" {
			if len(i.Items) != 1 || i.Items[0].Label != "photos to nas · 40 %" || i.Items[0].Do != TrayTransfers {
				t.Errorf("%+v", i.Items)
			}
			return
		}
	}
	t.Error("no entry")
}
