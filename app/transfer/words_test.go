package transfer

import (
	"fmt"
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestTransferShowsItsState(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas", Name: "The box"}}}
	x := protocol.Transfer{Sources: []string{"@here:/home/me/photos/", "@here:/b"}, From: protocol.Here, To: "nas"}
	if got, want := Title(v, x), "photos and 1 more to The box"; got != want {
		t.Errorf("TransferTitle: got %q, want %q", got, want)
	}
	if got, want := Title(v, protocol.Transfer{Sources: []string{`win:C:\Users\me\a.txt`}, To: "gsv"}), "a.txt to the agent's files"; got != want {
		t.Errorf("TransferTitle: got %q, want %q", got, want)
	}
	if got, want := Title(feed.View{Status: feed.Status{Device: "desk"}}, protocol.Transfer{Sources: []string{"nas:a"}, From: "nas", To: protocol.Here, Device: "phone"}), "a to another computer"; got != want {
		t.Errorf("TransferTitle: got %q, want %q", got, want)
	}
	for want, x := range map[string]protocol.Transfer{
		"1.2 GB of 3.4 GB · 86 MB/s · about 2 min":  {State: protocol.TransferRunning, Files: 1, BytesDone: 1_200_000_000, Bytes: 3_400_000_000, Speed: 86_000_000, ETA: 120_000},
		"3 of 9 files, 1.0 kB of 2.0 kB":            {State: protocol.TransferRunning, Files: 9, FilesDone: 3, BytesDone: 1000, Bytes: 2000, Current: "a.jpg"},
		"1.0 kB of 2.0 kB · direct":                 {State: protocol.TransferRunning, BytesDone: 1000, Bytes: 2000, Current: "a.jpg", Route: protocol.RouteDirect},
		"Checking what is there already…":           {State: protocol.TransferRunning, Bytes: 2000},
		"2.0 kB · from The box · in 2 s · relay":    {State: protocol.TransferDone, From: "nas", BytesDone: 2000, StartedAt: 1000, EndedAt: 3000, Route: protocol.RouteRelay},
		"Counting files…":                           {State: protocol.TransferRunning},
		"Waiting for nas (until 13:00)":             {State: protocol.TransferWaiting, Error: "Waiting for nas", ExpiresAt: now.Add(time.Hour).UnixMilli()},
		"Waiting · nas is offline (until 13:00)":    {State: protocol.TransferWaiting, Error: "nas is offline", ExpiresAt: now.Add(time.Hour).UnixMilli()},
		"Waiting for The box (until 13:00)":         {State: protocol.TransferWaiting, From: protocol.Here, To: "nas", Error: "Node disconnected: nas", ExpiresAt: now.Add(time.Hour).UnixMilli()},
		"Failed · the disk is full · 1 file failed": {State: protocol.TransferFailed, Error: "the disk is full", Failed: 1},
		"2.0 kB · from this computer · in 2 s":      {State: protocol.TransferDone, From: protocol.Here, BytesDone: 2000, StartedAt: 1000, EndedAt: 3000},
		"Paused · 1.0 kB of 2.0 kB":                 {State: protocol.TransferPaused, BytesDone: 1000, Bytes: 2000},
	} {
		if got := Line(v, x, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if Progress(protocol.Transfer{Bytes: 4, BytesDone: 1}) != 0.25 || Progress(protocol.Transfer{BytesDone: 5}) != 0 || Progress(protocol.Transfer{State: protocol.TransferDone}) != 1 {
		t.Error("progress")
	}
}

func TestTitlesOfTransfersHideNothing(t *testing.T) {
	tr := protocol.Transfer{Sources: []string{"@here:/a/in\nvoice.txt"}, To: "nas"}
	if got := Title(feed.View{}, tr); got != "in⟨U+000A⟩voice.txt to nas" {
		t.Errorf("got %q, want %q", got, "in⟨U+000A⟩voice.txt to nas")
	}
}

func TestTransferEndIsNotifiedOnce(t *testing.T) {
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		f.Snapshot.Transfers = []protocol.Transfer{{ID: "a", State: protocol.TransferRunning}, {ID: "b", State: protocol.TransferPaused}, {ID: "c", State: protocol.TransferWaiting}}
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		change := func(x protocol.Transfer) {
			f.Change(protocol.Change{Kind: protocol.ChangeTransfer, Transfer: &x})
		}
		news := func(want string) {
			t.Helper()
			got := ""
			for _, x := range News(a.View()) {
				got += fmt.Sprint(x.ID, " ", x.EndedAt, " ")
			}
			if got != want {
				t.Errorf("news are %q, want %q", got, want)
			}
		}
		change(protocol.Transfer{ID: "a", State: protocol.TransferDone, EndedAt: 1})
		// by the person, who knows
		change(protocol.Transfer{ID: "b", State: protocol.TransferCancelled, EndedAt: 2})
		news("a 1 ")
		// the replaced files are restored
		change(protocol.Transfer{ID: "a", State: protocol.TransferDone, EndedAt: 1, Undone: 1})
		change(protocol.Transfer{ID: "old", State: protocol.TransferDone, EndedAt: 1, Undone: 1})
		news("a 1 ")
		change(protocol.Transfer{ID: "c", State: protocol.TransferFailed, EndedAt: 3})
		change(protocol.Transfer{ID: "a", State: protocol.TransferRunning})
		change(protocol.Transfer{ID: "a", State: protocol.TransferDone, EndedAt: 4})
		news("c 3 a 4 ")
		for _, x := range []protocol.Transfer{{ID: "agent", CallID: "call"}, {ID: "theirs", From: protocol.Here, Device: "tablet"}} {
			x.State = protocol.TransferRunning
			change(x)
			x.State, x.EndedAt = protocol.TransferDone, 5
			change(x)
		}
		news("c 3 a 4 ")
		for i := range 2 * 32 {
			x := protocol.Transfer{ID: protocol.TransferID(fmt.Sprint(i)), State: protocol.TransferQueued}
			change(x)
			x.State = protocol.TransferDone
			change(x)
		}
		if n := len(a.View().Transfers.Finished); n != 32 {
			t.Errorf("%d are remembered, want 32", n)
		}
	})
}

func TestTransferResultsAreShownInWords(t *testing.T) {
	done := protocol.Transfer{Sources: []string{"nas:/photos"}, From: "nas", To: "box", State: protocol.TransferDone, BytesDone: 2_000_000, StartedAt: 1000, EndedAt: 4000}
	if title, text := Outcome(feed.View{}, done, time.UnixMilli(5000)); title != "photos to box" || text != "Done · 2.0 MB · from nas · in 3 s" {
		t.Errorf(`got %q, %q; want title "photos to box" and "Done · 2.0 MB · from nas · in 3 s"`, title, text)
	}
	failed := protocol.Transfer{Sources: []string{"nas:/photos"}, To: "box", State: protocol.TransferFailed, Error: "the disk is full"}
	if title, text := Outcome(feed.View{}, failed, time.UnixMilli(5000)); title != "photos to box" || text != "Failed · the disk is full" {
		t.Errorf(`got %q, %q; want title "photos to box" and "Failed · the disk is full"`, title, text)
	}
	if title, text := Outcomes([]protocol.Transfer{done, failed, done}); title != "3 transfers finished" || text != "2 done · 1 failed" {
		t.Errorf(`got %q, %q; want title "3 transfers finished" and "2 done · 1 failed"`, title, text)
	}
}

func TestStartedTransferNamesTheOfflineMachine(t *testing.T) {
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas"}, {ID: "box", Online: true}}}
	tr := protocol.Transfer{From: protocol.Here, To: "nas", Sources: []string{"@here:/home/a/f1.dat"}, State: protocol.TransferWaiting}
	if got, want := StartText(v, "Sending ", tr), "nas is offline. f1.dat will be sent when it is back."; got != want {
		t.Errorf("offline: got %q, want %q", got, want)
	}
	tr.To, tr.State = "box", protocol.TransferQueued
	if got, want := StartText(v, "Sending ", tr), "Sending f1.dat to box"; got != want {
		t.Errorf("online: got %q, want %q", got, want)
	}
}
