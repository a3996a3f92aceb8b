package rpc

import (
	"context"
	"os"
	"testing"

	"fairlead/gateway/cron"
	"fairlead/gateway/cron/crontest"
)

// realSchedules returns schedules with their own store, for the conversations about them.
func realSchedules(t *testing.T) (s *cron.Scheduler, stop func()) {
	dir, err := os.MkdirTemp("", "schedules") // not t.TempDir, which outlives the bubble
	if err != nil {
		t.Fatal(err)
	}
	agent := crontest.New(t, dir)
	sched := cron.New(agent.Options())
	ctx, cancel := context.WithCancel(context.Background())
	if err := sched.Load(ctx); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	close(ready)
	go func() {
		defer close(ended)
		sched.Run(ctx, ready)
	}()
	return sched, func() {
		cancel()
		<-ended
		agent.Close()
		os.RemoveAll(dir)
	}
}
