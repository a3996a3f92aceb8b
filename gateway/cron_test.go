//go:build unix

package gateway_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func call[P, R any](t *testing.T, c *client.Client, m protocol.Method[P, R], p P) R {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	res, err := client.Call(ctx, c, m, p)
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	return res
}

// TestAJobThatWaitsForThePersonOutlivesAKill tests the whole flow: a scheduled task calls a tool,
// the call needs an approval, the gateway is killed, the approval is pending again, the answer ends
// the run, and the run counts once.
func TestAJobThatWaitsForThePersonOutlivesAKill(t *testing.T) {
	home := t.TempDir()
	c := startChild(t, home)
	conn, stop := dial(t, c.url)
	soon := time.Now().Add(time.Second).UnixMilli()
	job := call(t, conn, protocol.CronAdd, protocol.CronAddParams{
		Name: "Stamp", Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: &soon},
		Spec: &protocol.CronMode{Mode: protocol.CronTask, Message: "run echo stamped >> stamp.txt"},
	}).Job
	pending := func(conn *client.Client) (open []protocol.Question) {
		return call(t, conn, protocol.QuestionList, protocol.Empty{}).Questions
	}
	polltest.Until(t, "a question", func() bool { return len(pending(conn)) == 1 })
	if q := pending(conn)[0]; !strings.HasPrefix(string(q.SessionKey), "agent:main:cron:"+string(job.ID)) {
		t.Errorf("asked in %s, want the chat of the schedule", q.SessionKey)
	}
	if st := call(t, conn, protocol.CronStatusGet, protocol.CronStatusParams{}); st.RunningCount != 1 {
		t.Errorf("while it waits: got %+v, want one running", st)
	}
	stop()
	c.kill()

	c = startChild(t, home)
	defer c.kill()
	conn, stop = dial(t, c.url)
	defer stop()
	polltest.Until(t, "the question again", func() bool { return len(pending(conn)) == 1 })
	polltest.Until(t, "the job to run on", func() bool {
		return call(t, conn, protocol.CronStatusGet, protocol.CronStatusParams{}).RunningCount == 1
	})
	q := pending(conn)[0]
	call(t, conn, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow})
	var runs protocol.CronRunsResult
	polltest.Until(t, "the end of the run", func() bool {
		runs = call(t, conn, protocol.CronRuns, protocol.CronRunsParams{JobID: job.ID})
		return runs.Count > 0
	})
	if r := runs.Runs[0]; runs.Count != 1 || r.Status != protocol.CronOK || r.DueAtMs != soon {
		t.Errorf("history: got %+v; want runs.Count 1, r.Status CronOK and r.DueAtMs %v", runs, soon)
	}
	if main := call(t, conn, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: protocol.MainSession}); len(main.Messages) != 0 {
		t.Errorf("main chat: got %+v, want no messages", main.Messages)
	}
	own := call(t, conn, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: runs.Runs[0].SessionKey})
	calls := 0
	for _, m := range own.Messages {
		if m.Role == protocol.RoleToolResult {
			calls++
		}
	}
	if calls != 1 {
		t.Errorf("the command ran %d times, want 1: %+v", calls, own.Messages)
	}
	if got := call(t, conn, protocol.ToolsList, protocol.Empty{}); len(got.Tools) == 0 || !hasTool(got.Tools, "gsv__Cron") {
		t.Error("gsv__Cron is not among the tools")
	}
}

func hasTool(list []protocol.ToolSpec, name string) bool {
	for _, t := range list {
		if t.Name == name {
			return true
		}
	}
	return false
}

// TestKillsLeaveNoJobStuckAndRunNoJobTwice kills the gateway at random moments around the times
// of a job that runs every second.
func TestKillsLeaveNoJobStuckAndRunNoJobTwice(t *testing.T) {
	home := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	var job protocol.CronJob
	for i := range 5 {
		c := startChild(t, home)
		conn, stop := dial(t, c.url)
		if i == 0 {
			job = call(t, conn, protocol.CronAdd, protocol.CronAddParams{
				Name: "Tick", Missed: protocol.MissedAll,
				Schedule: &protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 1000}, Spec: &protocol.CronMode{Mode: protocol.CronTask, Message: "what can you do"},
			}).Job
		}
		before := call(t, conn, protocol.CronRuns, protocol.CronRunsParams{}).Count
		polltest.Until(t, "a run", func() bool { return call(t, conn, protocol.CronRuns, protocol.CronRunsParams{}).Count > before })
		// the moment of the kill is random
		time.Sleep(time.Duration(rng.IntN(700)) * time.Millisecond)
		stop()
		c.kill()
	}
	c := startChild(t, home)
	defer c.kill()
	conn, stop := dial(t, c.url)
	defer stop()
	off := false
	call(t, conn, protocol.CronUpdate, protocol.CronUpdateParams{ID: job.ID, Patch: &protocol.CronJobPatch{Enabled: &off}})
	polltest.Until(t, "the last run's end", func() bool {
		return call(t, conn, protocol.CronStatusGet, protocol.CronStatusParams{}).RunningCount == 0
	})
	runs := call(t, conn, protocol.CronRuns, protocol.CronRunsParams{}).Runs
	served := make(map[int64]int)
	for _, r := range runs {
		served[r.DueAtMs]++
		if r.Status != protocol.CronOK {
			t.Errorf("got %+v; want Status CronOK", r)
		}
		chat := call(t, conn, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: r.SessionKey})
		if len(chat.Messages) != 2 {
			t.Errorf("%s has %d messages, want 2", r.SessionKey, len(chat.Messages))
		}
	}
	first := job.CreatedAtMs + 1000
	for due := first; due < runs[0].DueAtMs; due += 1000 {
		if served[due] != 1 {
			t.Errorf("the time %d was served %d times, want 1", due-first, served[due])
		}
	}
	t.Logf("5 kills, %d times served", len(runs))
}
