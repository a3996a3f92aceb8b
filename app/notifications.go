package app

import (
	"fmt"
	"strings"
	"time"

	"fairlead/app/bind"
	"fairlead/app/notify"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// notifications shows notifications of the system for pending approvals and finished transfers
// while no window of Fairlead has the focus.
type notifications struct {
	ui    *ui
	n     notifier
	front bool // a window of this program has the focus
	// announced approvals, in a notification or a window, with the text
	told  map[string]string
	up    map[string]bool               // notifications on the screen
	ended map[protocol.TransferID]int64 // announced transfers, and when they ended
	news  []string                      // notifications of transfers on the screen
}

// maxNotes is the largest number of approvals with a notification each; more share one.
const maxNotes = 3

// manyNote is the name of the notification for several approvals.
const manyNote = "many"

// notifier shows notifications (notify.Notifier).
type notifier interface {
	Show(notify.Message)
	Remove(id string)
}

// start starts notifying the person; stop stops it.
func (ns *notifications) start() (stop func()) {
	n := notify.New(notify.Actions{
		Review: func(id string) { bind.Do(ns.ui.ctx, func() { ns.review(id) }) },
		Deny:   func(id string) { bind.Do(ns.ui.ctx, func() { ns.deny(id) }) },
		Shown: func(id string) {
			if id != manyNote && !strings.HasPrefix(id, transferNote) {
				ns.ui.b.state.Approvals.MarkShown(protocol.ApprovalID(id), protocol.SurfaceNotification)
			}
		},
		Off: func(why string) { bind.Do(ns.ui.ctx, func() { ns.ui.messages.show(why) }) },
	}, ns.ui.b.log)
	ns.n = n
	return n.Close
}

func (ns *notifications) review(id string) {
	ns.ui.main.show()
	if ns.reviewTransfers(id) {
		return
	}
	if id == manyNote {
		ns.ui.approvals.openInbox()
		return
	}
	ns.ui.approvals.review(protocol.ApprovalID(id))
}

// deny denies an approval in its current form: a denial does not require the person to see the
// latest change.
func (ns *notifications) deny(id string) {
	for _, q := range ns.ui.view.Approvals {
		if string(q.ID) == id {
			ns.ui.b.state.Approvals.Answer([]protocol.Approval{q}, state.Reply{Decision: protocol.DecisionDeny})
			return
		}
	}
}

// update announces pending approvals and withdraws the notifications of the others.
func (ns *notifications) update(v state.View) {
	if ns.n == nil {
		return
	}
	want := make(map[string]notify.Message)
	if waiting := v.Waiting(); len(waiting) > maxNotes {
		text := fmt.Sprintf("%d approvals need you", len(waiting))
		want[manyNote] = notify.Message{ID: manyNote, Title: text, Body: v.QuestionLine(waiting[len(waiting)-1])}
	} else {
		for _, q := range waiting {
			want[string(q.ID)] = notify.Message{ID: string(q.ID), Title: state.QuestionTitle(q), Body: v.QuestionLine(q) + " · " + q.Why, Deny: true}
		}
	}
	if ns.told == nil {
		ns.told, ns.up = make(map[string]string), make(map[string]bool)
	}
	for id := range ns.told {
		_, waits := want[id]
		if ns.up[id] && (!waits || ns.front) {
			ns.n.Remove(id)
			delete(ns.up, id)
		}
		if !waits {
			delete(ns.told, id)
		}
	}
	for id, m := range want {
		text := m.Title + "\n" + m.Body
		if ns.told[id] == text {
			continue
		}
		ns.told[id] = text // also when a window is in front: the dialog is visible there
		if !ns.front {
			ns.n.Show(m)
			ns.up[id] = true
		}
	}
}

// transferNote is the prefix of the names of transfer notifications.
const transferNote = "transfer-"

// updateTransfers announces finished transfers: in the window if it has the focus, otherwise by a
// system notification.
func (ns *notifications) updateTransfers(v state.View) {
	if ns.ended == nil {
		ns.ended = make(map[protocol.TransferID]int64)
	}
	ended := make(map[protocol.TransferID]int64)
	var fresh []protocol.Transfer
	for _, t := range state.TransferNews(v) {
		if ended[t.ID] = t.EndedAt; ns.ended[t.ID] != t.EndedAt {
			fresh = append(fresh, t)
		}
	}
	ns.ended = ended
	if len(fresh) == 0 {
		return
	}
	now := time.Now()
	if ns.front {
		title, text := state.TransferEnds(fresh)
		if len(fresh) == 1 {
			title, text = state.TransferEnd(v, fresh[0], now)
		}
		if ns.ui.nav.title != transfersTitle { // the transfers page already shows it
			ns.ui.messages.show(title + ": " + text)
		}
		return
	}
	if ns.n == nil {
		return
	}
	if len(fresh) > maxNotes {
		title, text := state.TransferEnds(fresh)
		ns.showTransfer(notify.Message{ID: transferNote + manyNote, Title: title, Body: text, News: true})
		return
	}
	for _, t := range fresh {
		title, text := state.TransferEnd(v, t, now)
		ns.showTransfer(notify.Message{ID: transferNote + string(t.ID), Title: title, Body: text, News: true})
	}
}

func (ns *notifications) showTransfer(m notify.Message) {
	ns.n.Show(m)
	ns.news = append(ns.news, m.ID)
}

// removeTransfers withdraws the notifications of transfers.
func (ns *notifications) removeTransfers() {
	for _, id := range ns.news {
		ns.n.Remove(id)
	}
	ns.news = nil
}

// reviewTransfers opens the transfers page after a click on a notification.
func (ns *notifications) reviewTransfers(id string) bool {
	if !strings.HasPrefix(id, transferNote) {
		return false
	}
	ns.ui.nav.openTitled(transfersTitle)
	return true
}
