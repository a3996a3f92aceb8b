package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"fairlead/gateway/protocol"
)

func cronJob(id string) Job {
	at := int64(1_800_000_000_000)
	return Job{CronJob: protocol.CronJob{
		ID: protocol.CronJobID(id), AgentID: "main", Name: id, Enabled: true, CreatedAtMs: 1, UpdatedAtMs: 2,
		Schedule: protocol.CronSchedule{Kind: protocol.CronAt, AtMs: &at}, Spec: protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "hello"},
		State: protocol.CronJobState{NextRunAtMs: at},
	}, Base: 1, LastDue: 7}
}

func TestCronJobsSurviveAndADueTimeIsServedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	j := cronJob("a")
	if err := s.Jobs.Put(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	j.State.RunningAtMs = 5
	r, err := s.Jobs.StartRun(t.Context(), j, JobRun{Job: "a", Due: 100, Session: "agent:main:cron:a:1", Run: "r1", StartedAt: 101})
	if err != nil || r.ID == 0 {
		t.Fatalf("got run %+v, error %v, want an ID", r, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	jobs, err := s.Jobs.List(t.Context())
	if err != nil || len(jobs) != 1 || !reflect.DeepEqual(jobs[0], j) {
		t.Fatalf("got %+v, error %v, want %+v", jobs, err, j)
	}
	open, err := s.Jobs.UnfinishedRuns(t.Context())
	if err != nil || len(open) != 1 || open[0] != r {
		t.Fatalf("got %+v, error %v, want %+v", open, err, r)
	}
	changed := j
	changed.Name = "changed"
	if _, err := s.Jobs.StartRun(t.Context(), changed, JobRun{Job: "a", Due: 100, StartedAt: 102}); !errors.Is(err, protocol.ErrConflict) {
		t.Fatalf("starting a second run for the same due time: got error %v, want ErrConflict", err)
	}
	if jobs, _ := s.Jobs.List(t.Context()); jobs[0].Name != "a" {
		t.Error("the refused start changed the job")
	}
	if _, err := s.Jobs.StartRun(t.Context(), j, JobRun{Job: "a", StartedAt: 103, EndedAt: 103}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Jobs.StartRun(t.Context(), j, JobRun{Job: "a", StartedAt: 104, EndedAt: 104}); err != nil {
		t.Fatalf("a person may start a job as often as they want: %v", err)
	}
}

func TestCronHistoryRetainsTheNewestRuns(t *testing.T) {
	s := openTest(t)
	for _, id := range []string{"a", "b"} {
		for i := range 5 {
			run := protocol.RunID(fmt.Sprintf("%s%d", id, i))
			chat := protocol.ScheduleChat("main", protocol.CronJobID(id))
			if id == "b" {
				chat = protocol.MainSession
			}
			must(s.Messages.Append(t.Context(), chat, protocol.Message{RunID: run, Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("look")}}))(t)
			r := JobRun{Job: protocol.CronJobID(id), Due: int64(i + 1), Session: chat, Run: run, StartedAt: int64(i)}
			r = must(s.Jobs.StartRun(t.Context(), cronJob(id), r))(t)
			r.EndedAt, r.Status = 9, protocol.CronOK
			if err := s.Jobs.EndRun(t.Context(), cronJob(id), r, 3, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	for chat, want := range map[protocol.SessionKey]int{protocol.ScheduleChat("main", "a"): 3, protocol.MainSession: 5} {
		msgs := must(s.Messages.List(t.Context(), chat, 0, 0))(t)
		if entry := must(s.Sessions.Get(t.Context(), chat))(t); len(msgs) != want || entry.MessageCount != want {
			t.Errorf("%s has %d messages and counts %d, want %d", chat, len(msgs), entry.MessageCount, want)
		}
	}
	page, total, err := s.Jobs.FinishedRuns(t.Context(), "a", 1, 1)
	if err != nil || total != 3 || len(page) != 1 || page[0].Run != "a3" || page[0].Status != protocol.CronOK {
		t.Errorf("got %+v of %d, error %v, want a3 of 3", page, total, err)
	}
	if err := s.Jobs.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, total, _ := s.Jobs.FinishedRuns(t.Context(), "", 0, 10); total != 3 {
		t.Errorf("got %d runs of b, want 3", total)
	}
	last, err := s.Jobs.StartRun(t.Context(), cronJob("b"), JobRun{Job: "b", Due: 50, StartedAt: 50})
	if err != nil {
		t.Fatal(err)
	}
	last.EndedAt = 51
	if err := s.Jobs.EndRun(t.Context(), cronJob("b"), last, 3, true); err != nil {
		t.Fatal(err)
	}
	if jobs, _ := s.Jobs.List(t.Context()); len(jobs) != 0 {
		t.Errorf("got %d jobs, want none", len(jobs))
	}
	if _, total, _ := s.Jobs.FinishedRuns(t.Context(), "b", 0, 10); total != 3 {
		t.Errorf("got %d runs of a job that removed itself, want 3", total)
	}
}

func TestHeartbeatsSurvive(t *testing.T) {
	s := openTest(t)
	next := int64(5)
	for range 2 {
		next++
		if err := s.Heartbeats.Put(t.Context(), protocol.HeartbeatState{AgentID: "main", NextHeartbeatAt: &next}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Heartbeats.List(t.Context())
	if err != nil || len(list) != 1 || *list[0].NextHeartbeatAt != 7 || list[0].LastHeartbeatAt != nil {
		t.Errorf("got %+v, error %v, want the next heartbeat at 7", list, err)
	}
}
