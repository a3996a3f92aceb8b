package notifications

import (
	"cmp"
	"slices"
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
		case isChannelChat(r.SessionKey):
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

// isChannelChat reports whether other people take part in a chat, over a channel.
func isChannelChat(key protocol.SessionKey) bool {
	kinds := []string{protocol.PeerDM, protocol.PeerGroup, protocol.PeerChannel, protocol.PeerThread}
	p := strings.Split(string(key), ":")
	if len(p) < 4 || p[0] != "agent" {
		return false
	}
	return p[2] == protocol.PeerDM || len(p) > 4 && (p[4] == protocol.PeerDM || slices.Contains(kinds, p[3]))
}
