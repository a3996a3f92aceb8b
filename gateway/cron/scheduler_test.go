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

func TestIntervalsStayOnTheirGridHoweverLongARunTakes(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.agent.Takes = 7 * time.Second
		time.Sleep(5 * time.Second)
		r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: task("x")})
		time.Sleep(4*time.Minute + time.Second)
		if got := fmt.Sprint(r.times()); got != "[65 125 185 245]" {
			t.Errorf("ran at %s", got)
		}
	})
}

func TestARunEndsWithTheAgentsEnd(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.agent.Takes = 3 * time.Second
		good := r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(10 * time.Second)}, Spec: task("say fine")})
		bad := r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(10 * time.Second)}, Spec: task("fail the model is away")})
		time.Sleep(11 * time.Second)
		if j := r.job(good.ID); j.State.RunningAtMs == 0 || j.State.LastStatus != "" || j.State.NextRunAtMs != 0 {
			t.Errorf("while it runs: %+v", j.State)
		}
		time.Sleep(5 * time.Second)
		g, b := r.job(good.ID), r.job(bad.ID)
		if g.State.LastStatus != protocol.CronOK || *g.State.LastDurationMs != 3000 || g.State.RunningAtMs != 0 || g.Enabled {
			t.Errorf("good: %+v", g)
		}
		if b.State.LastStatus != protocol.CronError || b.State.LastError != "the model is away" {
			t.Errorf("bad: %+v", b)
		}
	})
}

func TestAllRunsOfATaskShareOneChatWithTheJobsSettings(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		spec := task("/reset")
		spec.Model, spec.Thinking = "Ollama/tiny", "high"
		j := r.add(protocol.CronAddParams{Name: "Tidy", Schedule: every(time.Minute), Spec: spec})
		time.Sleep(2*time.Minute + time.Second)
		sent := r.agent.Sent()
		if len(sent) != 2 || sent[0].In.SessionKey != sent[1].In.SessionKey {
			t.Fatalf("sent %v", sent)
		}
		for _, s := range sent {
			if s.In.SessionKey != protocol.ScheduleChat("main", j.ID) || s.From != "schedule Tidy" {
				t.Errorf("%s from %s", s.In.SessionKey, s.From)
			}
			if !strings.HasPrefix(s.In.Message, `[Scheduled job "Tidy", Saturday, 1 January 2000 00:0`) || !strings.HasSuffix(s.In.Message, "]\n/reset") {
				t.Errorf("a message must not be a command: %q", s.In.Message)
			}
			if *s.Prefs.Model.Provider != "Ollama" || *s.Prefs.Model.ID != "tiny" || *s.Prefs.ThinkingLevel != "high" {
				t.Errorf("settings %+v", s.Prefs)
			}
			if msgs, err := r.agent.Store.Messages.List(t.Context(), s.In.SessionKey, 0, 0); err != nil || len(msgs) != 4 {
				t.Errorf("the chat has %d messages, %v", len(msgs), err)
			}
		}
	})
}

func TestASystemEventGoesToTheMainChatOfItsAgent(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.add(protocol.CronAddParams{AgentID: "helper", Schedule: every(time.Minute), Spec: &protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "look"}})
		time.Sleep(61 * time.Second)
		if sent := r.agent.Sent(); len(sent) != 1 || sent[0].In.SessionKey != "agent:helper:main" {
			t.Errorf("sent %v", sent)
		}
		r.set(func(c *config.Config) { c.Session.MainKey = " Primary" })
		time.Sleep(time.Minute)
		if sent := r.agent.Sent(); len(sent) != 2 || sent[1].In.SessionKey != "agent:helper:primary" {
			t.Errorf("under another main key: %v", sent)
		}
	})
}

func TestDisabledSchedulesRunOnlyWhatIsForced(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.set(func(c *config.Config) { c.Cron.Enabled = false })
		j := r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: task("x")})
		time.Sleep(90 * time.Second)
		due, err := r.sched.RunNow(t.Context(), protocol.CronRunParams{})
		if err != nil || due.Ran != 0 || len(r.agent.Sent()) != 0 {
			t.Errorf("%+v %v", due, err)
		}
		forced, err := r.sched.RunNow(t.Context(), protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce})
		if err != nil || forced.Ran != 1 || forced.Results[0].Status != protocol.CronOK {
			t.Errorf("%+v %v", forced, err)
		}
		r.set(func(c *config.Config) { c.Cron.Enabled = true })
		r.sched.Wake()
		synctest.Wait()
		if n := len(r.agent.Sent()); n != 2 {
			t.Errorf("%d runs after schedules were enabled", n)
		}
	})
}

// TestForceJoinsARunOfAPastTime: a job whose only time has passed begins to run as soon as it is
// added, so a request to run it is for that run.
func TestForceJoinsARunOfAPastTime(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
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
	bubble(t, func(t *testing.T, r *rig) {
		waits := r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: task("ask")})
		works := r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: task("hang")})
		time.Sleep(61 * time.Second)
		if !r.job(waits.ID).State.NeedsApproval || r.job(works.ID).State.NeedsApproval {
			t.Errorf("needs approval: got %v and %v, want true for the run that waits only", r.job(waits.ID).State.NeedsApproval, r.job(works.ID).State.NeedsApproval)
		}
	})
}

func TestARunningJobIsNotStartedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.agent.Takes = 150 * time.Second
		j := r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: task("x")})
		time.Sleep(70 * time.Second)
		res, err := r.sched.RunNow(t.Context(), protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce})
		if err != nil || res.Ran != 0 || res.Results[0].Status != protocol.CronSkipped {
			t.Errorf("%+v %v", res, err)
		}
		time.Sleep(200 * time.Second)
		if got := fmt.Sprint(r.times()); got != "[60 210]" { // missed times run once
			t.Errorf("ran at %s", got)
		}
		if _, err := r.sched.Remove(t.Context(), protocol.CronJobParams{ID: j.ID}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if gone := r.agent.Deleted(); !slices.Equal(gone, []protocol.SessionKey{protocol.ScheduleChat("main", j.ID)}) {
			t.Errorf("the job was removed with the chats %v", gone)
		}
		time.Sleep(10 * time.Minute)
		if st, _ := r.sched.Status(t.Context(), protocol.CronStatusParams{}); st.Count != 0 || len(r.agent.Sent()) != 2 {
			t.Errorf("a removed job came back: %+v", st)
		}
		r.off(0)
		if st, _ := r.sched.Status(t.Context(), protocol.CronStatusParams{}); st.Count != 0 {
			t.Errorf("a removed job came back with a restart: %+v", st)
		}
	})
}

func TestAJobForOnceRunsOnce(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		past := r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(-time.Hour)}, Spec: task("x")})
		late := r.add(protocol.CronAddParams{Missed: protocol.MissedSkip, Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(-time.Hour)}, Spec: task("x")})
		gone := r.add(protocol.CronAddParams{DeleteAfterRun: true, Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(time.Minute)}, Spec: task("x")})
		failed := r.add(protocol.CronAddParams{DeleteAfterRun: true, Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(61 * time.Second)}, Spec: task("fail x")})
		time.Sleep(2 * time.Minute)
		if got := fmt.Sprint(r.runs()); got != "[ok skipped Fairlead was not running at that time. ok error x]" {
			t.Errorf("history %s", got)
		}
		for _, id := range []protocol.CronJobID{past.ID, late.ID, failed.ID} {
			if j := r.job(id); j.Enabled || j.State.NextRunAtMs != 0 {
				t.Errorf("still to come: %+v", j)
			}
		}
		list, _ := r.sched.List(t.Context(), protocol.CronListParams{})
		if slices.ContainsFunc(list.Jobs, func(j protocol.CronJob) bool { return j.ID == gone.ID }) {
			t.Error("the job did not remove itself")
		}
		if key := r.agent.Sent()[1].In.SessionKey; key.Schedule() != "" {
			t.Errorf("the job that removed itself ran in %s, which is shown with a schedule", key)
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
			t.Errorf("%d runs", n)
		}
	})
}

func TestARunBeforeItsTimeLeavesTheTime(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.agent.Takes = 10 * time.Second
		j := r.add(protocol.CronAddParams{DeleteAfterRun: true, Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(time.Hour)}, Spec: task("x")})
		if _, err := r.sched.RunNow(t.Context(), protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce}); err != nil {
			t.Fatal(err)
		}
		if now := r.job(j.ID); !now.Enabled || now.State.NextRunAtMs != j.State.NextRunAtMs || now.State.LastStatus != protocol.CronOK {
			t.Errorf("after it was tried out: %+v", now)
		}
		time.Sleep(time.Hour - 5*time.Second) // in the middle of its run
		later := protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(time.Hour)}
		if _, err := r.sched.Update(t.Context(), protocol.CronUpdateParams{ID: j.ID, Patch: &protocol.CronJobPatch{Schedule: &later}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if now := r.job(j.ID); !now.Enabled || now.State.NextRunAtMs != *later.AtMs {
			t.Errorf("after it got another time while it ran: %+v", now)
		}
		time.Sleep(time.Hour)
		if list, _ := r.sched.List(t.Context(), protocol.CronListParams{}); list.Count != 0 || len(r.agent.Sent()) != 3 {
			t.Errorf("%d jobs, %d runs", list.Count, len(r.agent.Sent()))
		}
	})
}

func TestARenameMovesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		j := r.add(protocol.CronAddParams{Schedule: every(time.Hour), Spec: task("x")})
		time.Sleep(20 * time.Minute)
		name := "other"
		res, err := r.sched.Update(t.Context(), protocol.CronUpdateParams{ID: j.ID, Patch: &protocol.CronJobPatch{Name: &name}})
		if err != nil || res.Job.State.NextRunAtMs != j.State.NextRunAtMs || res.Job.Name != "other" {
			t.Errorf("%+v %v", res, err)
		}
		res, err = r.sched.Update(t.Context(), protocol.CronUpdateParams{ID: j.ID, Patch: &protocol.CronJobPatch{Schedule: every(time.Hour)}})
		if err != nil || res.Job.State.NextRunAtMs != j.State.NextRunAtMs+20*60_000 {
			t.Errorf("a new schedule counts from now: %+v %v", res.Job.State, err)
		}
	})
}
