package notify

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Kind is a kind of notification, by the name of its setting.
type Kind string

// The kinds of notifications.
const (
	Questions Kind = "questions"
	Finished  Kind = "finishedRuns"
	Failed    Kind = "failedRuns"
	Transfers Kind = "transfers"
	Schedules Kind = "schedules"
	Pairing   Kind = "pairing"
	Messages  Kind = "messages" // of other people on channels
)

// Settings select the notifications of the system.
type Settings struct {
	Off   map[Kind]bool
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

// UnmarshalJSON reads the configuration. A kind that the gateway does not know is on.
func (s *Settings) UnmarshalJSON(data []byte) error {
	var all struct {
		Sound bool       `json:"sound"`
		Quiet QuietHours `json:"quietHours"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	var values map[Kind]any
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	*s = Settings{Off: make(map[Kind]bool), Sound: all.Sound, Quiet: all.Quiet}
	for kind, on := range values {
		if on == false {
			s.Off[kind] = true
		}
	}
	return nil
}

// Allows reports whether a notification may be shown at a time on the clock of this computer.
func (s Settings) Allows(kind Kind, now time.Time) bool {
	if s.Off[kind] {
		return false
	}
	isQuestion := kind == Questions || kind == Pairing
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
