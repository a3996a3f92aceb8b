package app

import (
	"fmt"
	"slices"
	"testing"

	"fairlead/app/feed"
	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

func TestTheEndOfATransferIsNotifiedWhileNobodyLooks(t *testing.T) {
	f := &fakeNotifier{}
	u := notifiedUI(f)
	want := f.wants(t)
	var v feed.View
	end := func(id string, at int64) {
		v.Transfers.Finished = append(slices.Clone(v.Transfers.Finished), protocol.Transfer{ID: protocol.TransferID(id), Sources: []string{"nas:/" + id}, To: "box", State: protocol.TransferDone, EndedAt: at})
	}
	u.notes.updateTransfers(v)
	want()
	end("a", 1)
	u.notes.updateTransfers(v)
	u.notes.updateTransfers(v)
	want(`show transfer-a "a to box" allow false deny false`)
	for i := range 5 {
		end(fmt.Sprint(i), 2)
	}
	u.notes.updateTransfers(v)
	want(`show transfer-many "5 transfers finished" allow false deny false`)
	u.setFocused(true)
	want("remove transfer-a", "remove transfer-many")
	u.setFocused(true)
	want()
	u.setFocused(false)
	end("a", 3) // it was retried
	v.Transfers.Finished = v.Transfers.Finished[1:]
	u.notes.updateTransfers(v)
	want(`show transfer-a "a to box" allow false deny false`)
}

func TestNoticesOfSchedulesAreNotifiedWhileNobodyLooks(t *testing.T) {
	f := &fakeNotifier{}
	u := notifiedUI(f)
	want := f.wants(t)
	n := protocol.Notice{Title: "Backups", Text: "Two failed", SessionKey: protocol.ScheduleChat("main", "j")}
	u.notes.announceSchedule(n)
	want(`show schedule-agent:main:cron:j "Backups" allow false deny false`)
	u.notes.announceSchedule(protocol.Notice{Text: "A notice without a chat"})
	u.setFocused(true)
	u.notes.announceSchedule(n)
	want("remove schedule-agent:main:cron:j") // by the window, without another one
}

func TestTheEndOfATransferIsSaidInTheWindow(t *testing.T) {
	u := newTestUI(t)
	u.setFocused(true)
	v := sample()
	end := func(id string) {
		v.Transfers.Finished = append(slices.Clone(v.Transfers.Finished), protocol.Transfer{ID: protocol.TransferID(id), Sources: []string{"nas:/" + id}, To: "box", State: protocol.TransferDone, EndedAt: 1})
		u.update(v)
	}
	end("a")
	pagetest.Shows(t, u.main.conversation.window.Content(), "a to box: Done")
	u.messages.toast.Close()
	u.nav.openTitled(transfersTitle)
	end("c")
	if u.messages.toast.Visible() {
		t.Error("it is said beside the page that shows it")
	}
}
