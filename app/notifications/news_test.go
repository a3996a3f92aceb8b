package notifications

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead/app/feed"
	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

func TestTheEndOfATransferIsNotifiedWhileNobodyLooks(t *testing.T) {
	f := &pagetest.Notifier{}
	n, w := newNotifications(f)
	want := f.Wants(t)
	var v feed.View
	end := func(id string, at int64) {
		v.Transfers.Finished = append(slices.Clone(v.Transfers.Finished), protocol.Transfer{ID: protocol.TransferID(id), Sources: []string{"nas:/" + id}, To: "box", State: protocol.TransferDone, EndedAt: at})
	}
	n.UpdateTransfers(v)
	want()
	end("a", 1)
	n.UpdateTransfers(v)
	n.UpdateTransfers(v)
	want(`show transfer-a "a to box" allow false deny false`)
	for i := range 5 {
		end(fmt.Sprint(i), 2)
	}
	n.UpdateTransfers(v)
	want(`show transfer-many "5 transfers finished" allow false deny false`)
	w.isInFront = true
	n.WithdrawAll()
	want("remove transfer-a", "remove transfer-many")
	w.isInFront = true
	n.WithdrawAll()
	want()
	w.isInFront = false
	end("a", 3) // it was retried
	v.Transfers.Finished = v.Transfers.Finished[1:]
	n.UpdateTransfers(v)
	want(`show transfer-a "a to box" allow false deny false`)
}

func TestNoticesOfSchedulesAreNotifiedWhileNobodyLooks(t *testing.T) {
	f := &pagetest.Notifier{}
	n, w := newNotifications(f)
	want := f.Wants(t)
	notice := protocol.Notice{Title: "Backups", Text: "Two failed", SessionKey: protocol.ScheduleChat("main", "j")}
	n.AnnounceSchedule(notice)
	want(`show schedule-agent:main:cron:j "Backups" allow false deny false`)
	n.AnnounceSchedule(protocol.Notice{Text: "A notice without a chat"})
	w.isInFront = true
	n.WithdrawAll()
	n.AnnounceSchedule(notice)
	want("remove schedule-agent:main:cron:j") // by the window, without another one
}

func TestEndOfATransferIsShownInTheWindow(t *testing.T) {
	n, w := newNotifications(&pagetest.Notifier{})
	w.isInFront = true
	var v feed.View
	end := func(id string) {
		v.Transfers.Finished = append(slices.Clone(v.Transfers.Finished), protocol.Transfer{ID: protocol.TransferID(id), Sources: []string{"nas:/" + id}, To: "box", State: protocol.TransferDone, EndedAt: 1})
		n.UpdateTransfers(v)
	}
	end("a")
	w.showsTransfers = true
	end("c") // not beside the page that shows it
	if len(w.Did) != 1 || !strings.HasPrefix(w.Did[0], "say a to box: Done") {
		t.Errorf("got %q, want the end of the first transfer only", w.Did)
	}
}
