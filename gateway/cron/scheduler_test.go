package cron_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/cron/crontest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// rig is a scheduler with its agent, in a bubble whose clock begins on Saturday, 1 January 2000, midnight UTC.
type rig struct {
	t     *testing.T
	dir   string
	agent *crontest.Agent
	mu    sync.Mutex // guards cfg
	cfg   config.Config
	opts  func(*cron.Options)
	sched *cron.Scheduler
	stop  func()
}

func bubble(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, dir: dir}
		r.open()
		f(t, r)
		r.stop()
	})
}

// open starts a scheduler on what is in dir.
func (r *rig) open() {
	r.agent = crontest.New(r.t, r.dir)
	o := r.agent.Options()
	if r.cfg.UserTimezone == "" {
		r.cfg = o.Config()
	}
	o.Config = r.config
	if r.opts != nil {
		r.opts(&o)
	}
	r.sched = cron.New(o)
	r.sched.Serve(r.agent)
	ctx, cancel := context.WithCancel(context.Background())
	if err := r.sched.Load(ctx); err != nil {
		r.t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	r.agent.Resume(r.t)
	go func() {
		defer close(ended)
		r.sched.Run(ctx, ready)
	}()
	synctest.Wait() // served before it is ready
	if _, err := r.sched.Status(ctx, protocol.CronStatusParams{}); err != nil {
		r.t.Fatal(err)
	}
	close(ready)
	r.stop = func() {
		cancel()
		<-ended
		r.agent.Close()
	}
	synctest.Wait()
}

func (r *rig) config() config.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cfg
}

func (r *rig) set(f func(*config.Config)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.cfg)
}

// off stops everything for a while, as a power cut does, and starts it again.
func (r *rig) off(d time.Duration) {
	r.stop()
	time.Sleep(d)
	r.open()
	synctest.Wait()
}

func at(d time.Duration) *int64 {
	ms := time.Now().Add(d).UnixMilli()
	return &ms
}

func every(d time.Duration) *protocol.CronSchedule {
	return &protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: d.Milliseconds()}
}

func task(text string) *protocol.CronMode {
	no := false
	return &protocol.CronMode{Mode: protocol.CronTask, Message: text, Deliver: &no}
}

func (r *rig) add(p protocol.CronAddParams) protocol.CronJob {
	r.t.Helper()
	if p.Name == "" {
		p.Name = "job"
	}
	res, err := r.sched.Add(r.t.Context(), p)
	if err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
	return res.Job
}

func (r *rig) job(id protocol.CronJobID) protocol.CronJob {
	r.t.Helper()
	list, err := r.sched.List(r.t.Context(), protocol.CronListParams{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, j := range list.Jobs {
		if j.ID == id {
			return j
		}
	}
	r.t.Fatalf("job %s is gone", id)
	return protocol.CronJob{}
}

// runs lists the history, oldest first, as "status error".
func (r *rig) runs() (list []string) {
	r.t.Helper()
	res, err := r.sched.Runs(r.t.Context(), protocol.CronRunsParams{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range res.Runs {
		list = append(list, strings.TrimSpace(e.Status+" "+e.Error))
	}
	slices.Reverse(list)
	return list
}

// times lists when messages were sent, in seconds since the beginning.
func (r *rig) times() (list []int64) {
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	for _, s := range r.agent.Sent() {
		list = append(list, (s.At-begin)/1000)
	}
	return list
}

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

func TestEachTaskRunHasAFreshChatWithTheJobsSettings(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		spec := task("/reset")
		spec.Model, spec.Thinking = "Ollama/tiny", "high"
		j := r.add(protocol.CronAddParams{Name: "Tidy", Schedule: every(time.Minute), Spec: spec})
		time.Sleep(2*time.Minute + time.Second)
		sent := r.agent.Sent()
		if len(sent) != 2 || sent[0].In.SessionKey == sent[1].In.SessionKey {
			t.Fatalf("sent %v", sent)
		}
		for _, s := range sent {
			if !strings.HasPrefix(string(s.In.SessionKey), "agent:main:cron:"+string(j.ID)+":") || s.From != "schedule Tidy" {
				t.Errorf("%s from %s", s.In.SessionKey, s.From)
			}
			if !strings.HasPrefix(s.In.Message, `[Scheduled job "Tidy", Saturday, 1 January 2000 00:0`) || !strings.HasSuffix(s.In.Message, "]\n/reset") {
				t.Errorf("a message must not be a command: %q", s.In.Message)
			}
			if *s.Prefs.Model.Provider != "Ollama" || *s.Prefs.Model.ID != "tiny" || *s.Prefs.ThinkingLevel != "high" {
				t.Errorf("settings %+v", s.Prefs)
			}
			if msgs, err := r.agent.Store.Messages(t.Context(), s.In.SessionKey, 0, 0); err != nil || len(msgs) != 2 {
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
	})
}

func TestTheTimeLimitCountsWorkAndNotTheWaitForThePerson(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		slow := task("hang")
		slow.TimeoutSeconds = 20
		r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(0)}, Spec: slow})
		asks := task("ask")
		asks.TimeoutSeconds = 20
		asking := r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(0)}, Spec: asks})
		time.Sleep(time.Hour)
		if got := r.runs(); len(got) != 1 || got[0] != "error it took longer than 20s and was stopped" {
			t.Errorf("history %q", got)
		}
		if r.job(asking.ID).State.RunningAtMs == 0 {
			t.Error("the run that waits for the person was stopped")
		}
	})
}

func TestNoMoreRunsAtOnceThanAllowed(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.set(func(c *config.Config) { c.Cron.MaxConcurrent = 1 })
		r.agent.Takes = 10 * time.Second
		for range 3 {
			r.add(protocol.CronAddParams{Missed: protocol.MissedSkip, Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(time.Minute)}, Spec: task("x")})
		}
		r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(55 * time.Second)}, Spec: task("ask")})
		time.Sleep(75 * time.Second)
		st, err := r.sched.Status(t.Context(), protocol.CronStatusParams{})
		if err != nil || st.RunningCount != 2 || st.DueCount != 1 {
			t.Errorf("%+v %v", st, err)
		}
		time.Sleep(3 * time.Minute)
		// The one that asks takes no place while it waits; those that had to wait for a place are not missed.
		if got := fmt.Sprint(r.times()); got != "[55 60 70 80]" {
			t.Errorf("ran at %s", got)
		}
	})
}

func TestWhatBecomesOfMissedTimes(t *testing.T) {
	for _, c := range []struct {
		missed string
		off    time.Duration
		times  string
		runs   string
	}{
		{"", 35 * time.Minute, "[600 2700 3000]", "[ok ok ok]"},
		{protocol.MissedLatest, 35 * time.Minute, "[600 2700 3000]", "[ok ok ok]"},
		{protocol.MissedSkip, 35 * time.Minute, "[600 3000]", "[ok skipped Its time passed while it could not run. ok]"},
		{protocol.MissedSkip, 30 * time.Minute, "[600 2400 3000]", "[ok skipped Its time passed while it could not run. ok ok]"},
		{protocol.MissedAll, 35 * time.Minute, "[600 2700 2700 2700 3000]", "[ok ok ok ok ok]"},
	} {
		t.Run(fmt.Sprint(c.missed, c.off), func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				r.add(protocol.CronAddParams{Missed: c.missed, Schedule: every(10 * time.Minute), Spec: task("x")})
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				r.off(c.off)
				time.Sleep(51*time.Minute - 10*time.Minute - c.off)
				if got := fmt.Sprint(r.times()); got[1:] != c.times[5:] { // the agent is another one since the restart
					t.Errorf("ran at %s, want %s", got, c.times)
				}
				if got := fmt.Sprint(r.runs()); got != c.runs {
					t.Errorf("history %s, want %s", got, c.runs)
				}
			})
		})
	}
}

func TestMakingUpForEverythingHasAnEnd(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.add(protocol.CronAddParams{Missed: protocol.MissedAll, Schedule: every(time.Minute), Spec: task("x")})
		r.off(24 * time.Hour)
		if n := len(r.agent.Sent()); n != 1 {
			t.Errorf("%d runs after a day of every minute", n)
		}
		if got := fmt.Sprint(r.runs()); got != "[skipped Its time passed while it could not run. ok]" {
			t.Errorf("history %s", got)
		}
	})
}

func TestThePersonSaysWhatBecomesOfMissedTimes(t *testing.T) {
	for answer, want := range map[string]string{protocol.ApprovalAllowed: "[ok]", protocol.ApprovalDenied: "[skipped Its time passed while it could not run.]"} {
		t.Run(answer, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				var asked []protocol.Approval
				answers := make(chan string)
				r.opts = func(o *cron.Options) {
					o.Ask = func(ctx context.Context, q protocol.Approval, _ time.Duration) (protocol.Approval, error) {
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
				r.off(150 * time.Minute)
				r.off(time.Minute) // a restart asks again
				if len(asked) != 2 || !strings.Contains(asked[1].Why, `"Backup" should have run on 1 January 2000 at 02:00 (UTC)`) || asked[1].AskedBy.Kind != "schedule" {
					t.Fatalf("asked %+v", asked)
				}
				if n := len(r.agent.Sent()); n != 0 {
					t.Fatalf("%d runs before the answer", n)
				}
				answers <- answer
				synctest.Wait()
				if got := fmt.Sprint(r.runs()); got != want {
					t.Errorf("history %s", got)
				}
				time.Sleep(30 * time.Minute)
				if got := fmt.Sprint(r.runs()); got != want[:len(want)-1]+" ok]" {
					t.Errorf("an hour later %s", got)
				}
			})
		})
	}
}

func TestAChangeTakesTheQuestionBack(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var open atomic.Int64
		r.opts = func(o *cron.Options) {
			o.Ask = func(ctx context.Context, q protocol.Approval, _ time.Duration) (protocol.Approval, error) {
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
		r.off(90 * time.Minute)
		if n := open.Load(); n != 3 {
			t.Fatalf("%d questions", n)
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
		if n := len(r.agent.Sent()); n != 1 || open.Load() != 1 { // the forced run is not the missed one: that is asked about again
			t.Errorf("%d runs, %d questions", n, open.Load())
		}
	})
}

func TestACrashInTheMiddleOfARunLeavesNothingStuckAndRunsNothingTwice(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		j := r.add(protocol.CronAddParams{Schedule: every(time.Hour), Spec: task("hang")})
		time.Sleep(time.Hour + time.Second)
		before := r.agent.Sent()
		if len(before) != 1 || r.job(j.ID).State.RunningAtMs == 0 {
			t.Fatalf("sent %v", before)
		}
		r.off(5 * time.Second)
		if n := len(r.agent.Sent()); n != 0 {
			t.Errorf("the message was sent again: %v", r.agent.Sent())
		}
		if got := fmt.Sprint(r.runs()); got != "[ok]" {
			t.Errorf("history %s", got)
		}
		st := r.job(j.ID).State
		if st.RunningAtMs != 0 || st.LastStatus != protocol.CronOK || *st.LastDurationMs != 6000 {
			t.Errorf("state %+v", st)
		}
	})
}

func TestARunThatWasWrittenDownButNotBegunIsBegunOnce(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		j := r.add(protocol.CronAddParams{Schedule: every(time.Hour), Spec: task("x")})
		r.stop()
		st, err := store.Open(t.Context(), r.dir+"/fairlead.db")
		if err != nil {
			t.Fatal(err)
		}
		due := j.State.NextRunAtMs
		j.State.NextRunAtMs += time.Hour.Milliseconds()
		run := store.CronRun{Job: j.ID, Due: due, Session: "agent:main:cron:x:y", Run: "r1", StartedAt: due}
		if _, err := st.StartCronRun(t.Context(), store.CronJob{CronJob: j, Base: j.CreatedAtMs, LastDue: due}, run); err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		r.open()
		if sent := r.agent.Sent(); len(sent) != 1 || sent[0].In.RunID != "r1" {
			t.Errorf("sent %v", sent)
		}
		r.off(2 * time.Minute)
		time.Sleep(70 * time.Minute) // over its due time, which is served already
		if n := len(r.agent.Sent()); n != 0 {
			t.Errorf("%d more runs before the next due time", n)
		}
	})
}

func TestNothingWakesUpWithoutJobs(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var looks atomic.Int64
		r.opts = func(o *cron.Options) {
			o.Config = func() config.Config { looks.Add(1); return r.config() }
		}
		r.off(0)
		looks.Store(0)
		time.Sleep(7 * 24 * time.Hour)
		if n := looks.Load(); n != 0 {
			t.Errorf("%d looks in a week without jobs", n)
		}
		r.add(protocol.CronAddParams{Schedule: every(24 * time.Hour), Spec: task("x")})
		looks.Store(0)
		time.Sleep(23 * time.Hour)
		if n := looks.Load(); n < 23*60 {
			t.Errorf("%d looks in a day with a job: a sleep of the machine would go unnoticed", n)
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
		if got := fmt.Sprint(r.times()); got != "[60 210]" { // what passed meanwhile is made up for once
			t.Errorf("ran at %s", got)
		}
		if _, err := r.sched.Remove(t.Context(), protocol.CronJobParams{ID: j.ID}); err != nil {
			t.Fatal(err)
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
		if got := fmt.Sprint(r.runs()); got != "[ok skipped Its time passed while it could not run. ok error x]" {
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
		yes := true
		_, err := r.sched.Update(t.Context(), protocol.CronUpdateParams{ID: past.ID, Patch: &protocol.CronJobPatch{Enabled: &yes}})
		if !errors.Is(err, protocol.ErrBadRequest) || !strings.Contains(err.Error(), "give it a new one") {
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

func TestTheNumberOfJobsIsLimited(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.set(func(c *config.Config) { c.Cron.MaxJobs = 1 })
		r.add(protocol.CronAddParams{Schedule: every(time.Hour), Spec: task("x")})
		_, err := r.sched.Add(t.Context(), protocol.CronAddParams{Name: "y", Schedule: every(time.Hour), Spec: task("x")})
		if !errors.Is(err, protocol.ErrConflict) || err.Error() != "Cron job limit reached (1)" {
			t.Errorf("%v", err)
		}
	})
}

func TestTheHistoryLetsTheOldestGoWithTheirChats(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.set(func(c *config.Config) { c.Cron.MaxRuns = 2 })
		r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: task("x")})
		r.add(protocol.CronAddParams{Schedule: every(time.Minute), Spec: &protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "x"}})
		time.Sleep(5*time.Minute + time.Second)
		if n := len(r.runs()); n != 4 {
			t.Errorf("%d runs are kept of two jobs", n)
		}
		gone := r.agent.Deleted()
		if len(gone) != 3 || slices.Contains(gone, protocol.MainSession) {
			t.Errorf("deleted %v", gone)
		}
	})
}

func TestAnswersAreDelivered(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		yes, no := true, false
		for _, c := range []struct {
			spec protocol.CronMode
			want string
		}{
			{protocol.CronMode{Message: "say hello"}, "ok [hello\n[Delivered to the main chat]]"},
			{protocol.CronMode{Message: "say quiet", Deliver: &no}, "ok [quiet]"},
			{protocol.CronMode{Message: "say a", Channel: "xmpp"}, "error The answer could not be delivered: no channel xmpp is connected [a]"},
			{protocol.CronMode{Message: "say b", To: "you@x", BestEffortDeliver: &yes}, "ok [b\n[Not delivered: no channel is connected that could reach you@x]]"},
		} {
			c.spec.Mode = protocol.CronTask
			j := r.add(protocol.CronAddParams{Name: "Mail", Schedule: every(time.Hour), Spec: &c.spec})
			res, err := r.sched.RunNow(t.Context(), protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce})
			if err != nil {
				t.Fatal(err)
			}
			got := res.Results[0]
			if text := strings.TrimSpace(got.Status+" "+got.Error) + " [" + got.Summary + "]"; text != c.want {
				t.Errorf("%s, want %s", text, c.want)
			}
		}
		msgs, err := r.agent.Store.Messages(t.Context(), protocol.MainSession, 0, 0)
		if err != nil || len(msgs) != 1 || msgs[0].Content.Text() != "**Mail**\n\nhello" || msgs[0].Role != protocol.RoleAssistant {
			t.Errorf("main chat: %+v %v", msgs, err)
		}
	})
}

func TestAWaitingCallerMayLeave(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.agent.Takes = time.Minute
		j := r.add(protocol.CronAddParams{Schedule: every(time.Hour), Spec: task("say later")})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.sched.RunNow(ctx, protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		time.Sleep(2 * time.Minute)
		if got := fmt.Sprint(r.runs()); got != "[ok]" {
			t.Errorf("history %s", got)
		}
		r.stop()
		if _, err := r.sched.Status(t.Context(), protocol.CronStatusParams{}); !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("after the end: %v", err)
		}
		r.open()
	})
}

func TestMain(m *testing.M) {
	os.Setenv("TZ", "Asia/Kathmandu") // the machine's zone must not matter
	os.Exit(m.Run())
}
