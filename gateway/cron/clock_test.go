package cron

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// TestWrongClockDelaysNothing simulates a machine whose clock was years ahead when a job
// was planned.
func TestWrongClockDelaysNothing(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(t.Context(), dir+"/x.db")
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		inZone := func(name string) *config.Config {
			c := config.Default()
			c.UserTimezone, c.Agents.DefaultHeartbeat.Every = name, "0"
			return &c
		}
		var cfg atomic.Pointer[config.Config]
		cfg.Store(inZone("UTC"))
		s := New(Options{Stores: Stores{Jobs: st.Jobs, Heartbeats: st.Heartbeats, Runs: st.Runs, Messages: st.Messages, Questions: st.Questions, Calls: st.Calls}, Bus: new(event.Bus), Config: func() config.Config { return *cfg.Load() }})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		ready := make(chan struct{})
		close(ready)
		go func() { defer close(ended); s.Run(ctx, ready) }()
		defer func() { cancel(); <-ended }()
		add := func(schedule protocol.CronSchedule) protocol.CronJobID {
			res, err := s.Add(ctx, protocol.CronAddParams{Name: "x", Schedule: &schedule, Spec: &protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "x"}})
			if err != nil {
				t.Fatal(err)
			}
			return res.Job.ID
		}
		hourly := add(protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 * * * *"})
		often := add(protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 600_000})
		next := func(id protocol.CronJobID) (at int64) {
			if err := s.do(ctx, func() error { at = s.planner.jobs[id].State.NextRunAtMs; return nil }); err != nil {
				t.Fatal(err)
			}
			return at
		}
		wantHourly, wantOften := next(hourly), next(often)
		years := int64(10 * 365 * 24 * time.Hour / time.Millisecond)
		if err := s.do(ctx, func() error {
			s.planner.last = now() + years // the loop has read the wrong clock
			s.planner.jobs[hourly].State.NextRunAtMs += years
			s.planner.jobs[often].State.NextRunAtMs += years
			s.planner.jobs[often].Base += years
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if h, o := next(hourly), next(often); h != wantHourly || o <= now() || o > wantOften {
			t.Errorf("next runs %d and %d, want %d and at most %d", h, o, wantHourly, wantOften)
		}
		cfg.Store(inZone("Asia/Kathmandu")) // 5:45 ahead
		s.ConfigChanged("")
		synctest.Wait()
		if h := next(hourly); h != wantHourly-45*60_000 {
			t.Errorf("in Kathmandu: got the next hour at %d, want %d", h, wantHourly-45*60_000)
		}
	})
}
