package app

import (
	"fmt"
	"strings"
	"time"

	"fairlead/app/bind"
	"fairlead/app/notify"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// notifications are those of the system, shown while no window of Fairlead has the focus.
type notifications struct {
	ui       *ui
	notifier notifier
	hasFocus bool // a window of this program has the focus
	// announced approvals, in a notification or a window, with the text
	announced          map[string]string
	onScreen           map[string]bool               // notifications on the screen
	announcedTransfers map[protocol.TransferID]int64 // announced transfers, and when they ended
	transferIDs        []string                      // notifications of transfers on the screen
}

// maxSeparate is the largest number of approvals with a notification each; more share one.
const maxSeparate = 3

// summaryID is the name of the notification for several approvals.
const summaryID = "many"

// notifier shows notifications (notify.Notifier).
type notifier interface {
	Show(notify.Message)
	Remove(id string)
}

func (ns *notifications) start() (stop func()) {
	n := notify.New(notify.Actions{
		Review: func(id string) { bind.Do(ns.ui.ctx, func() { ns.review(id) }) },
		Deny:   func(id string) { bind.Do(ns.ui.ctx, func() { ns.deny(id) }) },
		Shown: func(id string) {
			if id != summaryID && !strings.HasPrefix(id, transferPrefix) && !strings.HasPrefix(id, pairingPrefix) && !strings.HasPrefix(id, chatPrefix) {
				ns.ui.backend.state.Approvals.MarkShown(protocol.ApprovalID(id), protocol.SurfaceNotification)
			}
		},
		Disabled: func(why string) { bind.Do(ns.ui.ctx, func() { ns.ui.messages.show(why) }) },
	}, ns.ui.backend.log)
	ns.notifier = n
	return n.Close
}

func (ns *notifications) review(id string) {
	ns.ui.main.show()
	switch {
	case strings.HasPrefix(id, chatPrefix):
		ns.ui.main.open(protocol.SessionKey(strings.TrimPrefix(id, chatPrefix)))
	case strings.HasPrefix(id, transferPrefix):
		ns.ui.nav.openTitled(transfersTitle)
	case strings.HasPrefix(id, pairingPrefix):
		ns.ui.pairing.review(strings.TrimPrefix(id, pairingPrefix))
	case id == summaryID:
		ns.ui.approvals.openInbox()
	default:
		ns.ui.approvals.review(protocol.ApprovalID(id))
	}
}

// deny denies an approval in its current form, even if the person has not seen the latest change.
func (ns *notifications) deny(id string) {
	for _, q := range ns.ui.view.Approvals {
		if string(q.ID) == id {
			ns.ui.backend.state.Approvals.Answer([]protocol.Approval{q}, state.Reply{Decision: protocol.DecisionDeny})
			return
		}
	}
}

// update announces pending approvals and withdraws the notifications of the others.
func (ns *notifications) update(v state.View) {
	if ns.notifier == nil {
		return
	}
	want := make(map[string]notify.Message)
	if waiting := v.UnsnoozedApprovals(); len(waiting) > maxSeparate {
		text := fmt.Sprintf("%d approvals need you", len(waiting))
		want[summaryID] = notify.Message{ID: summaryID, Title: text, Body: v.QuestionLine(waiting[len(waiting)-1])}
	} else {
		for _, q := range waiting {
			want[string(q.ID)] = notify.Message{ID: string(q.ID), Title: state.QuestionTitle(q), Body: v.QuestionLine(q) + " · " + q.Why, Deny: true}
		}
	}
	for _, r := range v.PairRequests() {
		m := notify.Message{ID: pairingPrefix + r.ID, Title: state.RequestTitle(r), Body: state.RequestText(r, time.Now())}
		want[m.ID] = m
	}
	if ns.announced == nil {
		ns.announced, ns.onScreen = make(map[string]string), make(map[string]bool)
	}
	for id := range ns.announced {
		_, waits := want[id]
		if ns.onScreen[id] && (!waits || ns.hasFocus) {
			ns.notifier.Remove(id)
			delete(ns.onScreen, id)
		}
		if !waits {
			delete(ns.announced, id)
		}
	}
	for id, m := range want {
		text := m.Title + "\n" + m.Body
		if ns.announced[id] == text {
			continue
		}
		ns.announced[id] = text // also when a window is in front: the dialog is visible there
		if !ns.hasFocus {
			ns.notifier.Show(m)
			ns.onScreen[id] = true
		}
	}
}

// pairingPrefix is the prefix of the names of notifications of pairing requests.
const pairingPrefix = "pairing-"

// chatPrefix is the prefix of the names of notifications that open a chat.
const chatPrefix = "chat-"

// announce shows a notice that leads to a chat, such as the result of a schedule.
func (ns *notifications) announce(n protocol.Notice) {
	if ns.notifier != nil && !ns.hasFocus && n.SessionKey != "" {
		ns.notifier.Show(notify.Message{ID: chatPrefix + string(n.SessionKey), Title: n.Title, Body: n.Text, News: true})
	}
}

// transferPrefix is the prefix of the names of transfer notifications.
const transferPrefix = "transfer-"

// updateTransfers announces finished transfers: in the focused window, or by a notification.
func (ns *notifications) updateTransfers(v state.View) {
	if ns.announcedTransfers == nil {
		ns.announcedTransfers = make(map[protocol.TransferID]int64)
	}
	ended := make(map[protocol.TransferID]int64)
	var fresh []protocol.Transfer
	for _, t := range state.TransferNews(v) {
		ended[t.ID] = t.EndedAt
		if ns.announcedTransfers[t.ID] != t.EndedAt {
			fresh = append(fresh, t)
		}
	}
	ns.announcedTransfers = ended
	if len(fresh) == 0 {
		return
	}
	separate := widgets.Choose(ns.hasFocus, 1, maxSeparate)
	var list []notify.Message
	if len(fresh) > separate {
		title, text := state.TransferEnds(fresh)
		list = append(list, notify.Message{ID: transferPrefix + summaryID, Title: title, Body: text, News: true})
	} else {
		for _, t := range fresh {
			title, text := state.TransferEnd(v, t, time.Now())
			list = append(list, notify.Message{ID: transferPrefix + string(t.ID), Title: title, Body: text, News: true})
		}
	}
	for _, m := range list {
		switch {
		case !ns.hasFocus && ns.notifier != nil:
			ns.notifier.Show(m)
			ns.transferIDs = append(ns.transferIDs, m.ID)
		case ns.hasFocus && ns.ui.nav.title != transfersTitle: // that page shows it already
			ns.ui.messages.show(m.Title + ": " + m.Body)
		}
	}
}

func (ns *notifications) removeTransfers() {
	for _, id := range ns.transferIDs {
		ns.notifier.Remove(id)
	}
	ns.transferIDs = nil
}
