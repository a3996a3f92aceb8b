package app

import (
	"time"

	"fairlead/app/notify"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// announce shows a notification that needs no answer, unless a window is in front.
func (ns *notifications) announce(kind state.Notification, m notify.Message, chat protocol.SessionKey) {
	if ns.notifier == nil || ns.isInFront() || !ns.settings.Allows(kind, time.Now()) {
		return
	}
	if ns.news == nil {
		ns.news = make(map[string]protocol.SessionKey)
	}
	m.News, m.Sound = true, ns.settings.Sound
	ns.notifier.Show(m)
	ns.news[m.ID] = chat
}

// showTest shows a notification for the person who sets them up.
func (ns *notifications) showTest() {
	if ns.notifier != nil {
		const body = "Questions and news from Fairlead look like this."
		ns.notifier.Show(notify.Message{ID: testID, Title: "Notifications work", Body: body, News: true, Sound: ns.settings.Sound})
	}
}

// runPrefix is the prefix of the names of notifications about runs; the chat's key follows.
const runPrefix = "run-"

// updateRuns announces the runs that ended while no window is in front.
func (ns *notifications) updateRuns(v state.View) {
	if len(v.EndedRuns) == 0 {
		return
	}
	announced := make(map[protocol.RunID]bool)
	for _, r := range state.RunNews(v) {
		announced[r.ID] = true
		if !ns.announcedRuns[r.ID] {
			ns.announce(r.Kind, notify.Message{ID: runPrefix + string(r.Session), Title: r.Title, Body: r.Body}, r.Session)
		}
	}
	ns.announcedRuns = announced
}

// schedulePrefix is the prefix of the names of notifications about schedules; the chat's key follows.
const schedulePrefix = "schedule-"

// announceSchedule announces what a run of a schedule has to say.
func (ns *notifications) announceSchedule(n protocol.Notice) {
	if n.SessionKey != "" {
		id := schedulePrefix + string(n.SessionKey)
		ns.announce(state.NotifySchedules, notify.Message{ID: id, Title: n.Title, Body: n.Text}, n.SessionKey)
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
	front := ns.isInFront()
	separate := widgets.Choose(front, 1, maxSeparate)
	var list []notify.Message
	if len(fresh) > separate {
		title, text := state.TransferEnds(fresh)
		list = append(list, notify.Message{ID: transferPrefix + summaryID, Title: title, Body: text})
	} else {
		for _, t := range fresh {
			title, text := state.TransferEnd(v, t, time.Now())
			list = append(list, notify.Message{ID: transferPrefix + string(t.ID), Title: title, Body: text})
		}
	}
	for _, m := range list {
		switch {
		case !front:
			ns.announce(state.NotifyTransfers, m, "")
		case ns.ui.nav.title != transfersTitle: // that page shows it already
			ns.ui.messages.show(m.Title + ": " + m.Body)
		}
	}
}
