package cron_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/cron"
	"fairlead/gateway/protocol"
)

func TestEachChangeIsPublished(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		sub := r.agent.Bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeSchedules })
		defer sub.Close()
		publishedCount := func() (n int) {
			synctest.Wait()
			for {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				_, err := sub.Next(ctx)
				cancel()
				if err != nil {
					return n
				}
				n++
			}
		}
		if n := publishedCount(); n != 0 {
			t.Errorf("without a change: got %d notices, want none", n)
		}
		job := r.add(protocol.CronAddParams{
			Name: "j", Schedule: &protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 3_600_000},
			Spec: &protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "hi"},
		})
		if n := publishedCount(); n != 1 {
			t.Errorf("a new job: got %d notices, want 1", n)
		}
		if _, err := r.sched.List(t.Context(), protocol.CronListParams{}); err != nil {
			t.Fatal(err)
		}
		if n := publishedCount(); n != 0 {
			t.Errorf("a look: got %d notices, want none", n)
		}
		time.Sleep(time.Hour + time.Minute)
		if n := publishedCount(); n < 1 || n > 4 {
			t.Errorf("a run: got %d notices, want 1 to 4", n)
		}
		if _, err := r.sched.Remove(t.Context(), protocol.CronJobParams{ID: job.ID}); err != nil {
			t.Fatal(err)
		}
		if n := publishedCount(); n != 1 {
			t.Errorf("a removed job: got %d notices, want 1", n)
		}
	})
}

func TestReadingSchedulesChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		of := cron.Tool(r.sched).Spec.EffectOf
		for args, want := range map[string]protocol.Effect{
			`{}`: protocol.EffectWrite, `{"action":"status"}`: protocol.EffectRead, `{"action":"list"}`: protocol.EffectRead,
			`{"action":"runs"}`: protocol.EffectRead, `{"action":"add"}`: protocol.EffectWrite, `{"action":"run"}`: protocol.EffectWrite,
			`{"action":"remove"}`: protocol.EffectWrite, `{"action":"update"}`: protocol.EffectWrite, `{"action":"Status"}`: protocol.EffectWrite,
			`{"action":1}`: protocol.EffectWrite, `[]`: protocol.EffectWrite,
		} {
			if got := of(json.RawMessage(args)); got != want {
				t.Errorf("%s: got %s, want %s", args, got, want)
			}
		}
	})
}
