package cron_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func TestMissedTimesFollowThePolicy(t *testing.T) {
	for _, c := range []struct {
		missed string
		off    time.Duration
		times  string
		runs   string
	}{
		{"", 35 * time.Minute, "[600 2700 3000]", "[ok ok ok]"},
		{protocol.MissedLatest, 35 * time.Minute, "[600 2700 3000]", "[ok ok ok]"},
		{protocol.MissedSkip, 35 * time.Minute, "[600 3000]", "[ok skipped Fairlead was not running at that time. ok]"},
		{protocol.MissedSkip, 30 * time.Minute, "[600 2400 3000]", "[ok skipped Fairlead was not running at that time. ok ok]"},
		{protocol.MissedAll, 35 * time.Minute, "[600 2700 2700 2700 3000]", "[ok ok ok ok ok]"},
	} {
		t.Run(fmt.Sprint(c.missed, c.off), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *testScheduler) {
				r.add(protocol.CronAddParams{Missed: c.missed, Schedule: every(10 * time.Minute), Spec: task("x")})
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				r.powerOff(c.off)
				time.Sleep(51*time.Minute - 10*time.Minute - c.off)
				if got := fmt.Sprint(r.times()); got[1:] != c.times[5:] { // the restart replaced the agent
					t.Errorf("ran at %s, want %s", got, c.times)
				}
				if got := fmt.Sprint(r.runs()); got != c.runs {
					t.Errorf("history %s, want %s", got, c.runs)
				}
			})
		})
	}
}

func TestCatchingUpIsLimited(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.add(protocol.CronAddParams{Missed: protocol.MissedAll, Schedule: every(time.Minute), Spec: task("x")})
		r.powerOff(24 * time.Hour)
		if n := len(r.agent.Sent()); n != 1 {
			t.Errorf("after a day of every minute: got %d runs, want 1", n)
		}
		if got := fmt.Sprint(r.runs()); got != "[skipped Fairlead was not running at that time. ok]" {
			t.Errorf("got history %s, want a skipped run and one that is ok", got)
		}
	})
}

func TestPersonDecidesAboutMissedTimes(t *testing.T) {
	for answer, want := range map[string]string{protocol.QuestionAllowed: "[ok]", protocol.QuestionDenied: "[skipped Fairlead was not running at that time.]"} {
		t.Run(answer, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *testScheduler) {
				var asked []protocol.Question
				answers := make(chan string)
				r.opts = func(o *cron.Options) {
					o.Ask = func(ctx context.Context, q protocol.Question, _ time.Duration, _ func()) (protocol.Question, error) {
						asked = append(asked, q)
						select {
						case q.State = <-answers:
							return q, nil
						case <-ctx.Done():
							return q, ctx.Err()
						}
					}
				}
				r.add(protocol.CronAddParams{Name: "Backup", Missed: protocol.MissedAsk, Schedule: every(time.Hour), Spec: task("x")})
				r.powerOff(150 * time.Minute)
				r.powerOff(time.Minute) // a restart asks again
				if len(asked) != 2 || !strings.Contains(asked[1].Why, `"Backup" missed its run on 1 January 2000 at 02:00 (UTC)`) || asked[1].AskedBy.Kind != "schedule" {
					t.Fatalf("got questions %+v, want a second one by the schedule", asked)
				}
				if n := len(r.agent.Sent()); n != 0 {
					t.Fatalf("before the answer: got %d runs, want none", n)
				}
				answers <- answer
				synctest.Wait()
				if got := fmt.Sprint(r.runs()); got != want {
					t.Errorf("got history %s, want %s", got, want)
				}
				time.Sleep(30 * time.Minute)
				if got := fmt.Sprint(r.runs()); got != want[:len(want)-1]+" ok]" {
					t.Errorf("an hour later: got history %s, want one more ok than %s", got, want)
				}
			})
		})
	}
}

func TestAChangeTakesTheQuestionBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		var open atomic.Int64
		r.opts = func(o *cron.Options) {
			o.Ask = func(ctx context.Context, q protocol.Question, _ time.Duration, _ func()) (protocol.Question, error) {
				open.Add(1)
				<-ctx.Done()
				open.Add(-1)
				return q, ctx.Err()
			}
		}
		ids := []protocol.CronJobID{}
		for range 3 {
			ids = append(ids, r.add(protocol.CronAddParams{Missed: protocol.MissedAsk, Schedule: every(time.Hour), Spec: task("x")}).ID)
		}
		r.powerOff(90 * time.Minute)
		if n := open.Load(); n != 3 {
			t.Fatalf("got %d questions, want 3", n)
		}
		if _, err := r.sched.Remove(t.Context(), protocol.CronJobParams{ID: ids[0]}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.sched.Update(t.Context(), protocol.CronUpdateParams{ID: ids[1], Patch: &protocol.CronJobPatch{Schedule: every(2 * time.Hour)}}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.sched.RunNow(t.Context(), protocol.CronRunParams{ID: ids[2], Mode: protocol.CronRunForce}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		// The forced run does not replace the missed one, which is asked about again.
		if n := len(r.agent.Sent()); n != 1 || open.Load() != 1 {
			t.Errorf("got %d runs, %d questions, want 1, 1", n, open.Load())
		}
	})
}

func TestCrashRunsNothingTwice(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		j := r.add(protocol.CronAddParams{Schedule: every(time.Hour), Spec: task("hang")})
		time.Sleep(time.Hour + time.Second)
		before := r.agent.Sent()
		if len(before) != 1 || r.job(j.ID).State.RunningAtMs == 0 {
			t.Fatalf("got sent %v, want one that runs", before)
		}
		r.powerOff(5 * time.Second)
		if n := len(r.agent.Sent()); n != 0 {
			t.Errorf("got sent %v a second time, want nothing", r.agent.Sent())
		}
		if got := fmt.Sprint(r.runs()); got != "[ok]" {
			t.Errorf("got history %s, want [ok]", got)
		}
		st := r.job(j.ID).State
		if st.RunningAtMs != 0 || st.LastStatus != protocol.CronOK || *st.LastDurationMs != 6000 {
			t.Errorf("got state %+v, want OK after 6 s", st)
		}
	})
}

func TestStoredRunIsStartedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		j := r.add(protocol.CronAddParams{Schedule: every(time.Hour), Spec: task("x")})
		r.stop()
		st, err := store.Open(t.Context(), r.dir+"/fairlead.db")
		if err != nil {
			t.Fatal(err)
		}
		due := j.State.NextRunAtMs
		j.State.NextRunAtMs += time.Hour.Milliseconds()
		run := store.JobRun{Job: j.ID, Due: due, Session: "agent:main:cron:x:y", Run: "r1", StartedAt: due}
		if _, err := st.Jobs.StartRun(t.Context(), store.Job{CronJob: j, Base: j.CreatedAtMs, LastDue: due}, run); err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		r.open()
		if sent := r.agent.Sent(); len(sent) != 1 || sent[0].In.RunID != "r1" {
			t.Errorf("got sent %v, want r1", sent)
		}
		r.powerOff(2 * time.Minute)
		time.Sleep(70 * time.Minute) // past its due time, which has run already
		if n := len(r.agent.Sent()); n != 0 {
			t.Errorf("before the next due time: got %d more runs, want none", n)
		}
	})
}

func TestNothingWakesUpWithoutJobs(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		var looks atomic.Int64
		r.opts = func(o *cron.Options) {
			o.Config = func() config.Config { looks.Add(1); return r.config() }
		}
		r.powerOff(0)
		looks.Store(0)
		time.Sleep(7 * 24 * time.Hour)
		if n := looks.Load(); n != 0 {
			t.Errorf("got %d checks in a week without jobs, want none", n)
		}
		r.add(protocol.CronAddParams{Schedule: every(24 * time.Hour), Spec: task("x")})
		looks.Store(0)
		time.Sleep(23 * time.Hour)
		if n := looks.Load(); n < 23*60 {
			t.Errorf("got %d checks in a day with a job, want at least %d to notice a sleep of the machine", n, 23*60)
		}
	})
}
