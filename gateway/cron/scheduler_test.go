package cron_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

func TestLongRunsDoNotShiftIntervals(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.agent.Takes = 7 * time.Second
		time.Sleep(5 * time.Second)
		r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: task("x")})
		time.Sleep(4*time.Minute + time.Second)
		if got := fmt.Sprint(r.times()); got != "[65 125 185 245]" {
			t.Errorf("got runs at %s, want [65 125 185 245]", got)
		}
	})
}

func TestARunEndsWithTheAgentsEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.agent.Takes = 3 * time.Second
		good := r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(10 * time.Second)}, Spec: task("say fine")})
		bad := r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(10 * time.Second)}, Spec: task("fail the model is away")})
		time.Sleep(11 * time.Second)
		if j := r.job(good.ID); j.State.RunningAtMs == 0 || j.State.LastStatus != "" || j.State.NextRunAtMs != 0 {
			t.Errorf("while it runs: got %+v, want no result yet", j.State)
		}
		time.Sleep(5 * time.Second)
		g, b := r.job(good.ID), r.job(bad.ID)
		if g.State.LastStatus != protocol.CronOK || *g.State.LastDurationMs != 3000 || g.State.RunningAtMs != 0 || g.Enabled {
			t.Errorf("got the good job %+v, want OK after 3 s", g)
		}
		if b.State.LastStatus != protocol.CronError || b.State.LastError != "the model is away" {
			t.Errorf("got the bad job %+v, want its error", b)
		}
	})
}

func TestAllRunsOfATaskShareOneChatWithTheJobsSettings(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		spec := task("/reset")
		spec.Model, spec.Thinking = "Ollama/tiny", "high"
		j := r.add(protocol.CronAddParams{Name: "Tidy", Schedule: every(time.Minute), Spec: spec})
		time.Sleep(2*time.Minute + time.Second)
		sent := r.agent.Sent()
		if len(sent) != 2 || sent[0].In.SessionKey != sent[1].In.SessionKey {
			t.Fatalf("got sent %v, want 2 in one chat", sent)
		}
		for _, s := range sent {
			if s.In.SessionKey != protocol.ScheduleChat("main", j.ID) || s.From != "schedule Tidy" {
				t.Errorf("got %s from %s, want the chat of the schedule", s.In.SessionKey, s.From)
			}
			if !strings.HasPrefix(s.In.Message, `[Scheduled job "Tidy", Saturday, 1 January 2000 00:0`) || !strings.HasSuffix(s.In.Message, "]\n/reset") {
				t.Errorf("got %q, want a message that is not a command", s.In.Message)
			}
			if *s.Prefs.Model.Provider != "Ollama" || *s.Prefs.Model.ID != "tiny" || *s.Prefs.ThinkingLevel != "high" {
				t.Errorf("got settings %+v, want tiny, high", s.Prefs)
			}
			if msgs, err := r.agent.Store.Messages.List(t.Context(), s.In.SessionKey, 0, 0); err != nil || len(msgs) != 4 {
				t.Errorf("got %d messages, error %v, want 4", len(msgs), err)
			}
		}
	})
}

func TestASystemEventGoesToTheMainChatOfItsAgent(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.add(protocol.CronAddParams{AgentID: "helper", Schedule: every(time.Minute), Spec: &protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "look"}})
		time.Sleep(61 * time.Second)
		if sent := r.agent.Sent(); len(sent) != 1 || sent[0].In.SessionKey != "agent:helper:main" {
			t.Errorf("got sent %v, want one in the main chat of helper", sent)
		}
		r.set(func(c *config.Config) { c.Session.MainKey = " Primary" })
		time.Sleep(time.Minute)
		if sent := r.agent.Sent(); len(sent) != 2 || sent[1].In.SessionKey != "agent:helper:primary" {
			t.Errorf("under another main key: got sent %v, want agent:helper:primary", sent)
		}
	})
}

func TestDisabledSchedulesRunForcedJobsOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.set(func(c *config.Config) { c.Cron.Enabled = false })
		j := r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: task("x")})
		time.Sleep(90 * time.Second)
		due, err := r.sched.RunNow(t.Context(), protocol.CronRunParams{})
		if err != nil || due.Ran != 0 || len(r.agent.Sent()) != 0 {
			t.Errorf("got %+v, error %v, want no run", due, err)
		}
		forced, err := r.sched.RunNow(t.Context(), protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce})
		if err != nil || forced.Ran != 1 || forced.Results[0].Status != protocol.CronOK {
			t.Errorf("got %+v, error %v, want one run", forced, err)
		}
		r.set(func(c *config.Config) { c.Cron.Enabled = true })
		r.sched.ConfigChanged("")
		synctest.Wait()
		if n := len(r.agent.Sent()); n != 2 {
			t.Errorf("after schedules were enabled: got %d runs, want 2", n)
		}
	})
}

// TestForceJoinsARunOfAPastTime: a job whose only time has passed begins to run as soon as it is
// added, so a request to run it is for that run.
func TestForceJoinsARunOfAPastTime(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.agent.Takes = time.Second
		j := r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(-time.Second)}, Spec: task("x"), DeleteAfterRun: true})
		res, err := r.sched.RunNow(t.Context(), protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce})
		if err != nil || res.Ran != 1 || res.Results[0].Status != protocol.CronOK {
			t.Errorf("RunNow: got %+v, %v, want one run that ended well", res, err)
		}
		if n := len(r.agent.Sent()); n != 1 {
			t.Errorf("got %d runs, want 1", n)
		}
	})
}

func TestJobsNeedApprovalWhileTheirRunWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		waits := r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: task("ask")})
		works := r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: task("hang")})
		time.Sleep(61 * time.Second)
		if !r.job(waits.ID).State.NeedsApproval || r.job(works.ID).State.NeedsApproval {
			t.Errorf("needs approval: got %v and %v, want true for the run that waits only", r.job(waits.ID).State.NeedsApproval, r.job(works.ID).State.NeedsApproval)
		}
	})
}

func TestARunningJobIsNotStartedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.agent.Takes = 150 * time.Second
		j := r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: task("x")})
		time.Sleep(70 * time.Second)
		res, err := r.sched.RunNow(t.Context(), protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce})
		if err != nil || res.Ran != 0 || res.Results[0].Status != protocol.CronSkipped {
			t.Errorf("got %+v, error %v, want it skipped", res, err)
		}
		time.Sleep(200 * time.Second)
		if got := fmt.Sprint(r.times()); got != "[60 210]" { // missed times run once
			t.Errorf("got runs at %s, want [60 210]", got)
		}
		if _, err := r.sched.Remove(t.Context(), protocol.CronJobParams{ID: j.ID}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if gone := r.agent.Deleted(); !slices.Equal(gone, []protocol.SessionKey{protocol.ScheduleChat("main", j.ID)}) {
			t.Errorf("got deleted chats %v, want that of the removed job", gone)
		}
		time.Sleep(10 * time.Minute)
		if st, _ := r.sched.Status(t.Context(), protocol.CronStatusParams{}); st.Count != 0 || len(r.agent.Sent()) != 2 {
			t.Errorf("a removed job: got %+v, want none", st)
		}
		r.powerOff(0)
		if st, _ := r.sched.Status(t.Context(), protocol.CronStatusParams{}); st.Count != 0 {
			t.Errorf("a removed job after a restart: got %+v, want none", st)
		}
	})
}

func TestOneTimeJobRunsOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		past := r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(-time.Hour)}, Spec: task("x")})
		late := r.add(protocol.CronAddParams{Missed: protocol.MissedSkip, Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(-time.Hour)}, Spec: task("x")})
		gone := r.add(protocol.CronAddParams{DeleteAfterRun: true, Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(time.Minute)}, Spec: task("x")})
		failed := r.add(protocol.CronAddParams{DeleteAfterRun: true, Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(61 * time.Second)}, Spec: task("fail x")})
		time.Sleep(2 * time.Minute)
		if got := fmt.Sprint(r.runs()); got != "[ok skipped Fairlead was not running at that time. ok error x]" {
			t.Errorf("got history %s, want two that are ok, a skipped and a failed one", got)
		}
		for _, id := range []protocol.CronJobID{past.ID, late.ID, failed.ID} {
			if j := r.job(id); j.Enabled || j.State.NextRunAtMs != 0 {
				t.Errorf("got %+v, want no next run", j)
			}
		}
		list, _ := r.sched.List(t.Context(), protocol.CronListParams{})
		if slices.ContainsFunc(list.Jobs, func(j protocol.CronJob) bool { return j.ID == gone.ID }) {
			t.Error("the job did not remove itself")
		}
		if key := r.agent.Sent()[1].In.SessionKey; key.Schedule() != "" {
			t.Errorf("a job that removed itself: got chat %s, want one without a schedule", key)
		}
		yes := true
		_, err := r.sched.Update(t.Context(), protocol.CronUpdateParams{ID: past.ID, Patch: &protocol.CronJobPatch{Enabled: &yes}})
		if !errors.Is(err, protocol.ErrBadRequest) || !strings.Contains(err.Error(), "set a new time") {
			t.Errorf("enabled again: %v", err)
		}
		again := protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(time.Minute)}
		if _, err := r.sched.Update(t.Context(), protocol.CronUpdateParams{ID: past.ID, Patch: &protocol.CronJobPatch{Enabled: &yes, Schedule: &again}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if n := len(r.agent.Sent()); n != 4 {
			t.Errorf("got %d runs, want 4", n)
		}
	})
}

func TestEarlyRunKeepsTheScheduledTime(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.agent.Takes = 10 * time.Second
		j := r.add(protocol.CronAddParams{DeleteAfterRun: true, Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(time.Hour)}, Spec: task("x")})
		if _, err := r.sched.RunNow(t.Context(), protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce}); err != nil {
			t.Fatal(err)
		}
		if now := r.job(j.ID); !now.Enabled || now.State.NextRunAtMs != j.State.NextRunAtMs || now.State.LastStatus != protocol.CronOK {
			t.Errorf("after a trial: got %+v, want the next run as before", now)
		}
		time.Sleep(time.Hour - 5*time.Second) // in the middle of its run
		later := protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(time.Hour)}
		if _, err := r.sched.Update(t.Context(), protocol.CronUpdateParams{ID: j.ID, Patch: &protocol.CronJobPatch{Schedule: &later}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if now := r.job(j.ID); !now.Enabled || now.State.NextRunAtMs != *later.AtMs {
			t.Errorf("with another time while it ran: got %+v, want it at %d", now, *later.AtMs)
		}
		time.Sleep(time.Hour)
		if list, _ := r.sched.List(t.Context(), protocol.CronListParams{}); list.Count != 0 || len(r.agent.Sent()) != 3 {
			t.Errorf("got %d jobs, %d runs, want 0, 3", list.Count, len(r.agent.Sent()))
		}
	})
}

func TestRenameChangesNoTimes(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		j := r.add(protocol.CronAddParams{Schedule: every(time.Hour), Spec: task("x")})
		time.Sleep(20 * time.Minute)
		name := "other"
		res, err := r.sched.Update(t.Context(), protocol.CronUpdateParams{ID: j.ID, Patch: &protocol.CronJobPatch{Name: &name}})
		if err != nil || res.Job.State.NextRunAtMs != j.State.NextRunAtMs || res.Job.Name != "other" {
			t.Errorf("got %+v, error %v, want the next run as before", res, err)
		}
		res, err = r.sched.Update(t.Context(), protocol.CronUpdateParams{ID: j.ID, Patch: &protocol.CronJobPatch{Schedule: every(time.Hour)}})
		if err != nil || res.Job.State.NextRunAtMs != j.State.NextRunAtMs+20*60_000 {
			t.Errorf("with a new schedule: got %+v, error %v, want it counted from now", res.Job.State, err)
		}
	})
}
