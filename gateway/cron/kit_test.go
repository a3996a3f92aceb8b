package cron_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
)

// testScheduler is a scheduler with its agent, in a bubble whose clock starts on Saturday, 1
// January 2000, midnight UTC.
type testScheduler struct {
	t         *testing.T
	dir       string
	agent     *fakeAgent
	mu        sync.Mutex // guards cfg
	cfg       config.Config
	opts      func(*cron.Options)
	sched     *cron.Scheduler
	noticeSub *event.Subscription // to notices
	stop      func()
}

func inBubble(t *testing.T, f func(t *testing.T, r *testScheduler)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := &testScheduler{t: t, dir: dir}
		r.open()
		f(t, r)
		r.stop()
	})
}

// open starts a scheduler on the data in dir.
func (r *testScheduler) open() {
	r.agent = newFakeAgent(r.t, r.dir)
	o := r.agent.Options()
	if r.cfg.UserTimezone == "" {
		r.cfg = o.Config()
	}
	o.Config = r.config
	if r.opts != nil {
		r.opts(&o)
	}
	r.noticeSub = r.agent.Bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeNotice })
	r.sched = cron.New(o)
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
	synctest.Wait() // requests are served before it is ready
	if _, err := r.sched.Status(ctx, protocol.CronStatusParams{}); err != nil {
		r.t.Fatal(err)
	}
	close(ready)
	r.stop = func() {
		cancel()
		<-ended
		r.noticeSub.Close()
		r.agent.Close()
	}
	synctest.Wait()
}

func (r *testScheduler) config() config.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cfg
}

func (r *testScheduler) set(f func(*config.Config)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.cfg)
}

// powerOff stops everything for a while, as a power failure does, and starts it again.
func (r *testScheduler) powerOff(d time.Duration) {
	r.stop()
	time.Sleep(d)
	r.open()
	synctest.Wait()
}

// notices lists the new notices, as "title: text".
func (r *testScheduler) notices() (list []string) {
	synctest.Wait()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Millisecond)
	defer cancel()
	for c := range r.noticeSub.All(ctx) {
		list = append(list, c.Notice.Title+": "+c.Notice.Text)
	}
	return list
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

func (r *testScheduler) add(p protocol.CronAddParams) protocol.CronJob {
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

func (r *testScheduler) job(id protocol.CronJobID) protocol.CronJob {
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
	r.t.Fatalf("got no job %s, want one", id)
	return protocol.CronJob{}
}

// runs lists the history, oldest first, as "status error".
func (r *testScheduler) runs() (list []string) {
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

// times lists the sending times of messages, in seconds since the start.
func (r *testScheduler) times() (list []int64) {
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	for _, s := range r.agent.Sent() {
		list = append(list, (s.At-begin)/1000)
	}
	return list
}

func TestMain(m *testing.M) {
	os.Setenv("TZ", "Asia/Kathmandu") // the machine's zone must not matter
	os.Exit(m.Run())
}
