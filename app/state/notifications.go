package state

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Notification is a kind of notification, by the name of its setting.
type Notification string

// The kinds of notifications.
const (
	NotifyQuestions Notification = "questions"
	NotifyFinished  Notification = "finishedRuns"
	NotifyFailed    Notification = "failedRuns"
	NotifyTransfers Notification = "transfers"
	NotifySchedules Notification = "schedules"
	NotifyPairing   Notification = "pairing"
	NotifyMessages  Notification = "messages" // of other people on channels
)

// NotificationSettings select the notifications of the system.
type NotificationSettings struct {
	Off   map[Notification]bool
	Sound bool
	Quiet QuietHours
}

// QuietHours limit notifications. They begin on Days, or every day if that is empty, and include
// midnight if From is later than To. Both are HH:MM.
type QuietHours struct {
	Enabled bool     `json:"enabled"`
	From    string   `json:"from"`
	To      string   `json:"to"`
	Days    []string `json:"days"`
	Allow   string   `json:"allow"`
}

// Values of QuietHours.Allow.
const (
	QuietQuestions = "questions"
	QuietNothing   = "nothing"
)

// QuietAllow are the values of QuietHours.Allow with their names.
var QuietAllow = [][2]string{{"Only questions", QuietQuestions}, {"Nothing", QuietNothing}}

// Weekdays are the days of QuietHours, from Monday, with their names.
var Weekdays = [][2]string{
	{"Mon", "mon"}, {"Tue", "tue"}, {"Wed", "wed"}, {"Thu", "thu"}, {"Fri", "fri"}, {"Sat", "sat"}, {"Sun", "sun"},
}

// UnmarshalJSON reads the configuration. A kind that the gateway does not know is on.
func (s *NotificationSettings) UnmarshalJSON(data []byte) error {
	var all struct {
		Sound bool       `json:"sound"`
		Quiet QuietHours `json:"quietHours"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	var values map[Notification]any
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	*s = NotificationSettings{Off: make(map[Notification]bool), Sound: all.Sound, Quiet: all.Quiet}
	for kind, on := range values {
		if on == false {
			s.Off[kind] = true
		}
	}
	return nil
}

// Allows reports whether a notification may be shown at a time on the clock of this computer.
func (s NotificationSettings) Allows(kind Notification, now time.Time) bool {
	if s.Off[kind] {
		return false
	}
	isQuestion := kind == NotifyQuestions || kind == NotifyPairing
	return !s.Quiet.Includes(now) || s.Quiet.Allow == QuietQuestions && isQuestion
}

// Includes reports whether a time is within the quiet hours.
func (q QuietHours) Includes(now time.Time) bool {
	from, err1 := time.Parse("15:04", q.From)
	to, err2 := time.Parse("15:04", q.To)
	if !q.Enabled || err1 != nil || err2 != nil {
		return false
	}
	begins := func(day time.Weekday) bool {
		return len(q.Days) == 0 || slices.Contains(q.Days, strings.ToLower(day.String()[:3]))
	}
	minute := func(t time.Time) int { return 60*t.Hour() + t.Minute() }
	at, start, end := minute(now), minute(from), minute(to)
	if start < end {
		return at >= start && at < end && begins(now.Weekday())
	}
	return at >= start && begins(now.Weekday()) || at < end && begins(now.AddDate(0, 0, -1).Weekday())
}

// ReadNotifications loads the settings. It blocks.
func ReadNotifications(ctx context.Context, a feed.Gateway) (NotificationSettings, error) {
	return feed.ConfigAt[NotificationSettings](ctx, a, "notifications")
}

// EndedRun is a run that ended while this window was open, for a notification.
type EndedRun struct {
	ID          protocol.RunID
	Session     protocol.SessionKey
	Kind        Notification
	Title, Body string
}

// RunNews returns the ended runs that are worth a notification, oldest first: not those that the
// person stopped, and not successful heartbeats.
func RunNews(v feed.View) (list []EndedRun) {
	for _, r := range v.Runs.Ended {
		if ShownElsewhere(v, r) {
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
			e.Kind, e.Title, e.Body = NotifySchedules, "Schedule: "+e.Title, "Finished"
		case part == "heartbeat":
			e.Kind = NotifySchedules
		case IsChannelChat(r.SessionKey):
			e.Kind, e.Body = NotifyMessages, "New message. The agent has answered."
		default:
			e.Kind, e.Body = NotifyFinished, cmp.Or(r.Answer, "The answer is ready.")
		}
		if failed {
			e.Body = why
			if e.Kind == NotifyFinished {
				e.Kind = NotifyFailed
			}
		}
		list = append(list, e)
	}
	return list
}

// ShownElsewhere reports whether another client shows the answer of a run, because its person sent
// the message there: a terminal, the window of another program or another computer.
func ShownElsewhere(v feed.View, r protocol.RunInfo) bool {
	name, isOwner := strings.CutPrefix(r.By, "owner ")
	if !isOwner || name == "this computer" {
		return false
	}
	isTerminal := strings.HasPrefix(name, "cli-") || name == "(command line)"
	return isTerminal || !v.Status.Remote // a window does not know by which name another gateway calls it
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

// ToggleDay returns the days of quiet hours with or without one day; the last one stays. No days
// are all of them.
func ToggleDay(days []string, day string) []string {
	all := lists.Map(Weekdays, func(d [2]string) string { return d[1] })
	if len(days) == 0 {
		days = all
	}
	toggled := lists.Without(all, func(d string) bool { return slices.Contains(days, d) == (d == day) })
	switch len(toggled) {
	case 0:
		return days
	case len(all):
		return []string{}
	}
	return toggled
}
