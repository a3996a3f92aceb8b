package config

import (
	"slices"
	"strings"
	"time"
)

// Notifications selects what the windows announce by notifications of the system.
type Notifications struct {
	Questions bool       `json:"questions"`
	Finished  bool       `json:"finishedRuns"`
	Failed    bool       `json:"failedRuns"`
	Transfers bool       `json:"transfers"`
	Schedules bool       `json:"schedules"`
	Pairing   bool       `json:"pairing"`
	Messages  bool       `json:"messages"` // of other people on channels
	Sound     bool       `json:"sound"`
	Quiet     QuietHours `json:"quietHours"`
}

// QuietHours limit notifications to questions, or to nothing. From is later than To if they include
// midnight; equal times are a whole day.
type QuietHours struct {
	Enabled bool   `json:"enabled"`
	From    string `json:"from"` // HH:MM, on the clock of the computer that shows the notification
	To      string `json:"to"`
	// Days are those on which they begin, such as "mon"; empty is every day.
	Days  []string `json:"days"`
	Allow string   `json:"allow" oneof:"questions,nothing"`
}

// DefaultNotifications announces everything, at any time.
func DefaultNotifications() Notifications {
	return Notifications{
		Questions: true, Finished: true, Failed: true, Transfers: true, Schedules: true, Pairing: true, Messages: true,
		Quiet: QuietHours{From: "22:00", To: "07:00", Days: []string{}, Allow: "questions"},
	}
}

// weekdays are the names of days in settings, from Monday.
var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func (q QuietHours) check(path string) error {
	for _, t := range []struct{ name, text string }{{"from", q.From}, {"to", q.To}} {
		if _, err := time.Parse("15:04", t.text); err != nil {
			return bad("%s.%s must be a time of day such as 22:00, not %q", path, t.name, t.text)
		}
	}
	for _, day := range q.Days {
		if !slices.Contains(weekdays, day) {
			return bad("%s.days must be some of %s, not %q", path, strings.Join(weekdays, ", "), day)
		}
	}
	return nil
}
