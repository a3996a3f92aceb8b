package state

import (
	"cmp"
	"slices"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/notify"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// EndedRun is a run that ended while this window was open, for a notification.
type EndedRun struct {
	ID          protocol.RunID
	Session     protocol.SessionKey
	Kind        notify.Kind
	Title, Body string
}

// RunNews returns the ended runs that are worth a notification, oldest first: not those that the
// person stopped, and not successful heartbeats.
func RunNews(v feed.View) (list []EndedRun) {
	for _, r := range v.Runs.Ended {
		if feed.ShownElsewhere(v, r) {
			continue
		}
		chat, _ := v.Session(r.SessionKey)
		e := EndedRun{ID: r.RunID, Session: r.SessionKey, Title: feed.TitleOf(chat)}
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
		case IsChannelChat(r.SessionKey):
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

// IsChannelChat reports whether other people take part in a chat, over a channel.
func IsChannelChat(key protocol.SessionKey) bool {
	kinds := []string{protocol.PeerDM, protocol.PeerGroup, protocol.PeerChannel, protocol.PeerThread}
	p := strings.Split(string(key), ":")
	if len(p) < 4 || p[0] != "agent" {
		return false
	}
	return p[2] == protocol.PeerDM || len(p) > 4 && (p[4] == protocol.PeerDM || slices.Contains(kinds, p[3]))
}
