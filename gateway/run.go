package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

// Run serves until ctx ends. What an earlier start left is taken up once the node of this process has had a moment to connect.
func (g *Gateway) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	serve := func(l net.Listener, owner bool) {
		wg.Go(func() {
			if err := g.server.Serve(ctx, l, owner); err != nil {
				cancel(fmt.Errorf("serve: %w", err))
			}
		})
	}
	serve(g.memory, true)
	if g.listener != nil {
		serve(g.listener, false)
	}
	wg.Go(func() { g.network.run(ctx) })
	wg.Go(func() { g.calls.Watch(ctx) })
	var head sync.WaitGroup
	headCtx, headEnd := context.WithCancel(context.WithoutCancel(ctx))
	head.Go(func() { g.keepHead(headCtx) })
	defer head.Wait() // after the last call is in the log
	defer headEnd()
	resumed := make(chan struct{})
	wg.Go(func() { g.schedules.Run(ctx, resumed) })
	wg.Go(func() { g.watchFiles(ctx) })
	wg.Go(func() { g.transfers.Run(ctx) })
	wg.Go(func() { g.channels.Run(ctx) })
	wg.Go(func() {
		defer close(resumed)
		g.awaitNode(ctx)
		if err := g.sessions.Resume(ctx); err != nil && ctx.Err() == nil {
			g.log.Error("Runs of an earlier start could not be taken up", "err", err)
		}
		// Whatever was asked since this start has somebody who waits for it, a schedule or a client, also without a run.
		asked := func(a protocol.Approval) bool {
			return a.CreatedAt >= g.startedAt.UnixMilli() || g.sessions.OpenRun(a.RunID)
		}
		if err := g.gate.CancelOrphans(ctx, asked); err != nil && ctx.Err() == nil {
			g.log.Error("Questions of an earlier start could not be closed", "err", err)
		}
	})
	<-ctx.Done()
	g.StopRuns(context.WithoutCancel(ctx))
	g.transfers.Close()
	g.server.Close()
	wg.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// resumeWait is how long runs of an earlier start wait for a machine to come online before they go on without it.
const resumeWait = 3 * time.Second

// awaitNode waits until some machine is online, but not long.
func (g *Gateway) awaitNode(ctx context.Context) {
	sub := g.bus.Subscribe()
	defer sub.Close()
	ctx, cancel := context.WithTimeout(ctx, resumeWait)
	defer cancel()
	for _, n := range g.hub.Nodes() {
		if n.Online {
			return
		}
	}
	if open, err := g.store.OpenRuns(ctx); err == nil && len(open) == 0 {
		return
	}
	for c := range sub.All(ctx) {
		if c.Kind == protocol.ChangeNode && c.Node.Online {
			return
		}
	}
}

// StopRuns stops what the agent does, so that the next start can take it up. The node must still be there: its commands are ended
// through it.
func (g *Gateway) StopRuns(ctx context.Context) {
	g.stopOnce.Do(func() {
		done := make(chan struct{})
		go func() {
			g.sessions.Close()
			close(done)
		}()
		select {
		case <-done:
		case <-ctx.Done():
			g.log.Warn("Runs did not stop in time")
		}
	})
}
