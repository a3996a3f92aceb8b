package notifications

import (
	"fmt"
	"maps"
	"time"

	"fairlead/app/feed"
	"fairlead/app/notify"
	"fairlead/app/transfer"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// announce shows a notification that needs no answer, unless a window is in front.
func (ns *Notifications) announce(kind notify.Kind, m notify.Message, chat protocol.SessionKey) (shown bool) {
	if ns.Notifier == nil || ns.windows.IsInFront() || !ns.Settings.Allows(kind, time.Now()) {
		return false
	}
	if ns.news == nil {
		ns.news = make(map[string]protocol.SessionKey)
	}
	m.News, m.Sound = true, ns.Settings.Sound
	ns.Notifier.Show(m)
	ns.news[m.ID] = chat
	return true
}

// ShowTest shows a notification for the person who sets them up.
func (ns *Notifications) ShowTest() {
	if ns.Notifier != nil {
		const body = "Questions and news from Fairlead look like this."
		ns.Notifier.Show(notify.Message{ID: testID, Title: "Notifications work", Body: body, News: true, Sound: ns.Settings.Sound})
	}
}

// runPrefix is the prefix of the names of notifications about runs; the chat's key follows.
const runPrefix = "run-"

// UpdateRuns announces the runs that ended while no window is in front.
func (ns *Notifications) UpdateRuns(v feed.View) {
	if len(v.Runs.Ended) == 0 {
		return
	}
	announced := make(map[protocol.RunID]bool)
	for _, r := range runNews(v) {
		announced[r.ID] = true
		if !ns.announcedRuns[r.ID] {
			ns.announceRun(r)
		}
	}
	ns.announcedRuns = announced
}

// announceRun announces a run that ended. From the fourth answer on that nobody has looked at, one
// notification stands for all of them.
func (ns *Notifications) announceRun(r endedRun) {
	m := notify.Message{ID: runPrefix + string(r.Session), Title: r.Title, Body: r.Body}
	if r.Kind != notify.Finished {
		ns.announce(r.Kind, m, r.Session)
		return
	}
	answers := maps.Clone(ns.answers)
	if answers == nil {
		answers = make(map[protocol.SessionKey]bool)
	}
	answers[r.Session] = true
	if len(answers) > maxSeparate {
		m = notify.Message{ID: runPrefix + summaryID, Title: fmt.Sprintf("%d answers are ready", len(answers)), Body: r.Title + ": " + r.Body}
	}
	if !ns.announce(r.Kind, m, r.Session) {
		return
	}
	ns.answers = answers
	for key := range answers {
		if id := runPrefix + string(key); len(answers) > maxSeparate && ns.news[id] != "" {
			ns.Notifier.Remove(id)
			delete(ns.news, id)
		}
	}
}

// schedulePrefix is the prefix of the names of notifications about schedules; the chat's key follows.
const schedulePrefix = "schedule-"

// AnnounceSchedule announces what a run of a schedule has to say.
func (ns *Notifications) AnnounceSchedule(n protocol.Notice) {
	if n.SessionKey != "" {
		id := schedulePrefix + string(n.SessionKey)
		ns.announce(notify.Schedules, notify.Message{ID: id, Title: n.Title, Body: n.Text}, n.SessionKey)
	}
}

// transferPrefix is the prefix of the names of transfer notifications.
const transferPrefix = "transfer-"

// UpdateTransfers announces finished transfers: in the focused window, or by a notification.
func (ns *Notifications) UpdateTransfers(v feed.View) {
	if ns.announcedTransfers == nil {
		ns.announcedTransfers = make(map[protocol.TransferID]int64)
	}
	ended := make(map[protocol.TransferID]int64)
	var fresh []protocol.Transfer
	for _, t := range transfer.News(v) {
		ended[t.ID] = t.EndedAt
		if ns.announcedTransfers[t.ID] != t.EndedAt {
			fresh = append(fresh, t)
		}
	}
	ns.announcedTransfers = ended
	if len(fresh) == 0 {
		return
	}
	front := ns.windows.IsInFront()
	separate := widgets.Choose(front, 1, maxSeparate)
	var list []notify.Message
	if len(fresh) > separate {
		title, text := transfer.Outcomes(fresh)
		list = append(list, notify.Message{ID: transferPrefix + summaryID, Title: title, Body: text})
	} else {
		for _, t := range fresh {
			title, text := transfer.Outcome(v, t, time.Now())
			list = append(list, notify.Message{ID: transferPrefix + string(t.ID), Title: title, Body: text})
		}
	}
	for _, m := range list {
		switch {
		case !front:
			ns.announce(notify.Transfers, m, "")
		case !ns.windows.ShowsTransfers(): // which show it already
			ns.windows.Say(m.Title + ": " + m.Body)
		}
	}
}
