package state

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

func TestQuietHoursLimitNotifications(t *testing.T) {
	t.Parallel()
	const night = `{"questions":true,"transfers":false,"quietHours":{"enabled":true,"from":"22:00","to":"07:00","days":["fri"],"allow":"questions"}}`
	var s NotificationSettings
	if err := json.Unmarshal([]byte(night), &s); err != nil {
		t.Fatal(err)
	}
	friday := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		kind     Notification
		at       time.Duration
		off, all bool // quiet hours off; allow nothing during them
		want     bool
	}{
		{name: "before", kind: NotifyFinished, at: 21*time.Hour + 59*time.Minute, want: true},
		{name: "at the start", kind: NotifyFinished, at: 22 * time.Hour},
		{name: "after midnight", kind: NotifyFinished, at: 30 * time.Hour},
		{name: "a question", kind: NotifyQuestions, at: 23 * time.Hour, want: true},
		{name: "a pairing request", kind: NotifyPairing, at: 23 * time.Hour, want: true},
		{name: "a question while nothing is allowed", kind: NotifyQuestions, at: 23 * time.Hour, all: true},
		{name: "at the end", kind: NotifyFinished, at: 31 * time.Hour, want: true},
		{name: "the night before", kind: NotifyFinished, at: 3 * time.Hour, want: true},
		{name: "the next evening", kind: NotifyFinished, at: 47 * time.Hour, want: true},
		{name: "switched off", kind: NotifyFinished, at: 23 * time.Hour, off: true, want: true},
		{name: "a kind that is off", kind: NotifyTransfers, at: 12 * time.Hour},
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

func TestEndedRunsAreNews(t *testing.T) {
	t.Parallel()
	f := feed.New()
	f.Sessions.Update(func(s *feed.Sessions) {
		s.List = []protocol.SessionEntry{{SessionKey: "agent:main:main", Main: true}, {SessionKey: "agent:main:cron:j:r", Title: "Backup"}, {SessionKey: "agent:main:xmpp:dm:anna", Title: "Anna"}}
	})
	end := func(id, key, state string, err error) {
		r := protocol.RunInfo{RunID: protocol.RunID(id), SessionKey: protocol.SessionKey(key), State: protocol.RunStreaming}
		f.Apply(protocol.Change{Kind: protocol.ChangeRun, Run: &r})
		r.State = state
		if err != nil {
			e := protocol.ErrTimeout.With(err.Error())
			r.Error = e
		}
		for range 2 { // a change may be repeated
			f.Apply(protocol.Change{Kind: protocol.ChangeRun, Run: &r})
		}
	}
	end("1", "agent:main:main", protocol.RunDone, nil)
	end("2", "agent:main:main", protocol.RunCancelled, nil)
	end("3", "agent:main:main", protocol.RunFailed, errStub("the model is overloaded"))
	end("4", "agent:main:cron:j:r", protocol.RunDone, nil)
	end("5", "agent:main:heartbeat:system:internal", protocol.RunDone, nil)
	end("6", "agent:main:xmpp:dm:anna", protocol.RunDone, nil)
	want := []EndedRun{
		{"1", "agent:main:main", NotifyFinished, "Main chat", "The answer is ready."},
		{"3", "agent:main:main", NotifyFailed, "Main chat", "The model is overloaded"},
		{"4", "agent:main:cron:j:r", NotifySchedules, "Schedule: Backup", "Finished"},
		{"6", "agent:main:xmpp:dm:anna", NotifyMessages, "Anna", "New message. The agent has answered."},
	}
	got := RunNews(f.View())
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}

type errStub string

func (e errStub) Error() string { return string(e) }

func TestDaysOfQuietHoursAreToggled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ days, day, want string }{
		{"", "mon", "tue wed thu fri sat sun"},
		{"sat sun", "fri", "fri sat sun"},
		{"sat sun", "sat", "sun"},
		{"sun", "sun", "sun"},
		{"mon tue wed thu fri sat", "sun", ""},
	} {
		t.Run(c.days+"/"+c.day, func(t *testing.T) {
			if got := strings.Join(ToggleDay(strings.Fields(c.days), c.day), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAnswerIsAnnouncedOnceByWhoAsked(t *testing.T) {
	t.Parallel()
	for by, want := range map[string]string{
		"":                    "Built.",
		"owner this computer": "Built.",
		"agent agent:main:1":  "Built.",
		"owner cli-8d3f":      "",
		"owner desktop-1":     "",
		"owner phone":         "",
	} {
		r := protocol.RunInfo{RunID: "1", SessionKey: "agent:main:main", State: protocol.RunDone, By: by, Answer: "Built."}
		got := ""
		for _, n := range RunNews(feed.View{Runs: feed.Runs{Ended: []protocol.RunInfo{r}}}) {
			got += n.Body
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", by, got, want)
		}
	}
}
