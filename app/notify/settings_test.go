package notify

import (
	"encoding/json"
	"testing"
	"time"
)

func TestQuietHoursLimitNotifications(t *testing.T) {
	t.Parallel()
	const night = `{"questions":true,"transfers":false,"quietHours":{"enabled":true,"from":"22:00","to":"07:00","days":["fri"],"allow":"questions"}}`
	var s Settings
	if err := json.Unmarshal([]byte(night), &s); err != nil {
		t.Fatal(err)
	}
	friday := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		kind     Kind
		at       time.Duration
		off, all bool // quiet hours off; allow nothing during them
		want     bool
	}{
		{name: "before", kind: Finished, at: 21*time.Hour + 59*time.Minute, want: true},
		{name: "at the start", kind: Finished, at: 22 * time.Hour},
		{name: "after midnight", kind: Finished, at: 30 * time.Hour},
		{name: "a question", kind: Questions, at: 23 * time.Hour, want: true},
		{name: "a pairing request", kind: Pairing, at: 23 * time.Hour, want: true},
		{name: "a question while nothing is allowed", kind: Questions, at: 23 * time.Hour, all: true},
		{name: "at the end", kind: Finished, at: 31 * time.Hour, want: true},
		{name: "the night before", kind: Finished, at: 3 * time.Hour, want: true},
		{name: "the next evening", kind: Finished, at: 47 * time.Hour, want: true},
		{name: "turned off", kind: Finished, at: 23 * time.Hour, off: true, want: true},
		{name: "a kind that is off", kind: Transfers, at: 12 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s
			s.Quiet.Enabled = !c.off
			if c.all {
				s.Quiet.Allow = QuietNothing
			}
			if got := s.Allows(c.kind, friday.Add(c.at)); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	day := QuietHours{Enabled: true, From: "09:00", To: "17:00"}
	if !day.Includes(friday.Add(9*time.Hour)) || day.Includes(friday.Add(17*time.Hour)) || day.Includes(friday.Add(8*time.Hour)) {
		t.Error("quiet hours within a day")
	}
	if (QuietHours{Enabled: true, From: "x", To: "07:00"}).Includes(friday) {
		t.Error("unreadable quiet hours silence everything")
	}
}
