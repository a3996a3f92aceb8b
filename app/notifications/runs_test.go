package notifications

import (
	"testing"

	"fairlead/app/feed"
	"fairlead/app/notify"
	"fairlead/gateway/protocol"
)

func TestEndedRunsAreNotified(t *testing.T) {
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
	want := []endedRun{
		{"1", "agent:main:main", notify.Finished, "Main chat", "The answer is ready."},
		{"3", "agent:main:main", notify.Failed, "Main chat", "The model is overloaded"},
		{"4", "agent:main:cron:j:r", notify.Schedules, "Schedule: Backup", "Finished"},
		{"6", "agent:main:xmpp:dm:anna", notify.Messages, "Anna", "New message. The agent has answered."},
	}
	got := runNews(f.View())
	if len(got) != len(want) {
		t.Fatalf("got %+v, want length %v", got, len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}

type errStub string

func (e errStub) Error() string { return string(e) }

func TestAnswerIsAnnouncedOnlyByTheAsker(t *testing.T) {
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
		for _, n := range runNews(feed.View{Runs: feed.Runs{Ended: []protocol.RunInfo{r}}}) {
			got += n.Body
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", by, got, want)
		}
	}
}
