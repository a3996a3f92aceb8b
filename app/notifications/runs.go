package notifications

import (
	"cmp"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/notify"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// endedRun is a run that ended while this window was open, for a notification.
type endedRun struct {
	ID          protocol.RunID
	Session     protocol.SessionKey
	Kind        notify.Kind
	Title, Body string
}

// runNews returns the ended runs that are worth a notification, oldest first: not those that the
// person stopped, and not successful heartbeats.
func runNews(v feed.View) (list []endedRun) {
	for _, r := range v.Runs.Ended {
		if feed.ShownElsewhere(v, r) {
			continue
		}
		chat, _ := v.Session(r.SessionKey)
		e := endedRun{ID: r.RunID, Session: r.SessionKey, Title: feed.TitleOf(chat)}
		failed := r.State == protocol.RunFailed
		why := "The answer failed."
		if r.Error != nil {
			why = format.Clip(feed.Sentence(r.Error), 160)
		}
		place := strings.Split(string(r.SessionKey), ":")
		switch part := place[min(2, len(place)-1)]; {
		case r.State == protocol.RunCancelled, part == "heartbeat" && !failed:
			continue
		case part == "cron":
			e.Kind, e.Title, e.Body = notify.Schedules, "Schedule: "+e.Title, "Finished"
		case part == "heartbeat":
			e.Kind = notify.Schedules
		case r.SessionKey.IsShared():
			e.Kind, e.Body = notify.Messages, "New message. The agent has answered."
		default:
			e.Kind, e.Body = notify.Finished, cmp.Or(r.Answer, "The answer is ready.")
		}
		if failed {
			e.Body = why
			if e.Kind == notify.Finished {
				e.Kind = notify.Failed
			}
		}
		list = append(list, e)
	}
	return list
}
