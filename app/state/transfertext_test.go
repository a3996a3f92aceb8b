package state

import (
	"fmt"
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestTheEndOfATransferIsNewsOnce(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) {
		f.Snapshot.Transfers = []protocol.Transfer{{ID: "a", State: protocol.TransferRunning}, {ID: "b", State: protocol.TransferPaused}, {ID: "c", State: protocol.TransferWaiting}}
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		change := func(x protocol.Transfer) {
			f.Change(protocol.Change{Kind: protocol.ChangeTransfer, Transfer: &x})
		}
		news := func(want string) {
			t.Helper()
			got := ""
			for _, x := range TransferNews(a.View()) {
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
			t.Errorf("%d are remembered", n)
		}
	})
}

func TestEndsOfTransfersAreSaidInWords(t *testing.T) {
	done := protocol.Transfer{Sources: []string{"nas:/photos"}, From: "nas", To: "box", State: protocol.TransferDone, BytesDone: 2_000_000, StartedAt: 1000, EndedAt: 4000}
	if title, text := TransferEnd(feed.View{}, done, time.UnixMilli(5000)); title != "photos to box" || text != "Done · 2.0 MB · from nas · in 3.0 s" {
		t.Errorf("%q, %q", title, text)
	}
	failed := protocol.Transfer{Sources: []string{"nas:/photos"}, To: "box", State: protocol.TransferFailed, Error: "the disk is full"}
	if title, text := TransferEnd(feed.View{}, failed, time.UnixMilli(5000)); title != "photos to box" || text != "Failed · the disk is full" {
		t.Errorf("%q, %q", title, text)
	}
	if title, text := TransferEnds([]protocol.Transfer{done, failed, done}); title != "3 transfers finished" || text != "2 done · 1 failed" {
		t.Errorf("%q, %q", title, text)
	}
}

func TestStartedTransferNamesTheOfflineMachine(t *testing.T) {
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas"}, {ID: "box", Online: true}}}
	tr := protocol.Transfer{From: protocol.Here, To: "nas", Sources: []string{"@here:/home/a/f1.dat"}, State: protocol.TransferWaiting}
	if got, want := TransferStartText(v, "Sending ", tr), "nas is offline. f1.dat will be sent when it is back."; got != want {
		t.Errorf("offline: got %q, want %q", got, want)
	}
	tr.To, tr.State = "box", protocol.TransferQueued
	if got, want := TransferStartText(v, "Sending ", tr), "Sending f1.dat to box"; got != want {
		t.Errorf("online: got %q, want %q", got, want)
	}
}
