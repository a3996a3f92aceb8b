package cron_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

func TestTimeLimitExcludesWaitingForThePerson(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		slow := task("hang")
		slow.TimeoutSeconds = 20
		r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(0)}, Spec: slow})
		asks := task("ask")
		asks.TimeoutSeconds = 20
		asking := r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(0)}, Spec: asks})
		time.Sleep(time.Hour)
		if got := r.runs(); len(got) != 1 || got[0] != "error it took longer than 20 s and was stopped" {
			t.Errorf("got history %q, want one stopped run", got)
		}
		if r.job(asking.ID).State.RunningAtMs == 0 {
			t.Error("the run that waits for the person was stopped")
		}
	})
}

func TestNoMoreRunsAtOnceThanAllowed(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.set(func(c *config.Config) { c.Cron.MaxConcurrent = 1 })
		r.agent.Takes = 10 * time.Second
		for range 3 {
			r.add(protocol.CronAddParams{Missed: protocol.MissedSkip, Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(time.Minute)}, Spec: task("x")})
		}
		r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(55 * time.Second)}, Spec: task("ask")})
		time.Sleep(75 * time.Second)
		st, err := r.sched.Status(t.Context(), protocol.CronStatusParams{})
		if err != nil || st.RunningCount != 2 || st.DueCount != 1 {
			t.Errorf("got %+v, error %v, want 2 running, 1 due", st, err)
		}
		time.Sleep(3 * time.Minute)
		// A run that waits for an approval occupies no slot. Runs that waited for a slot do not
		// count as missed.
		if got := fmt.Sprint(r.times()); got != "[55 60 70 80]" {
			t.Errorf("got runs at %s, want [55 60 70 80]", got)
		}
	})
}

func TestTheNumberOfJobsIsLimited(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.set(func(c *config.Config) { c.Cron.MaxJobs = 1 })
		r.add(protocol.CronAddParams{Schedule: every(time.Hour), Spec: task("x")})
		_, err := r.sched.Add(t.Context(), protocol.CronAddParams{Name: "y", Schedule: every(time.Hour), Spec: task("x")})
		if !errors.Is(err, protocol.ErrConflict) || err.Error() != "Cron job limit reached (1)" {
			t.Errorf("got error %v, want that the limit is reached", err)
		}
	})
}

func TestTheHistoryHasTheNewestRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.set(func(c *config.Config) { c.Cron.MaxRuns = 2 })
		r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: task("x")})
		r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: &protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "x"}})
		time.Sleep(2*time.Minute + time.Second)
		// The former main chat is still the person's.
		r.set(func(c *config.Config) { c.Session.MainKey = "primary" })
		time.Sleep(3 * time.Minute)
		if n := len(r.runs()); n != 4 {
			t.Errorf("got %d runs of two jobs, want 4", n)
		}
		if gone := r.agent.Deleted(); len(gone) != 0 {
			t.Errorf("got deleted %v, want none", gone)
		}
	})
}
