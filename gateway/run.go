package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/skills"
)

// Run serves until ctx ends. It resumes the work of an earlier start after this process's node has
// had a moment to connect.
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
	wg.Go(func() {
		g.network.Run(ctx, func(ctx context.Context, l net.Listener) error { return g.server.Serve(ctx, l, false) })
	})
	wg.Go(func() { g.calls.ReviewPending(ctx) })
	wg.Go(func() { g.awaitOwnNode(ctx) })
	wg.Go(func() { g.followMachines(ctx) })
	var head sync.WaitGroup
	headCtx, headEnd := context.WithCancel(context.WithoutCancel(ctx))
	head.Go(func() { g.audit().SaveHead(headCtx) })
	defer head.Wait() // after the last call has been logged
	defer headEnd()
	resumed := make(chan struct{})
	wg.Go(func() { g.schedules.Run(ctx, resumed) })
	wg.Go(func() { skills.Watch(ctx, g.files, g.bus) })
	wg.Go(func() { g.transfers.Run(ctx) })
	wg.Go(func() { g.channels.Run(ctx) })
	wg.Go(func() { g.apps.Run(ctx) })
	wg.Go(func() { g.mcp.Run(ctx) })
	var servers sync.WaitGroup
	servers.Go(func() { g.servers.Run(ctx) })
	wg.Go(func() {
		defer close(resumed)
		g.awaitNode(ctx)
		g.sessions.Resume()
		// An approval from this start always has a caller that waits for it, such as a schedule or
		// a client, even without a run.
		asked := func(a protocol.Approval) bool {
			return a.CreatedAt >= g.startedAt.UnixMilli() || g.sessions.OpenRun(a.RunID)
		}
		if err := g.gate.CancelOrphans(ctx, asked); err != nil && ctx.Err() == nil {
			g.log.Error("Closing the approvals of an earlier start failed", "err", err)
		}
	})
	<-ctx.Done()
	g.StopRuns(context.WithoutCancel(ctx))
	g.catalog.Close()
	g.transfers.Close()
	servers.Wait() // their commands are stopped through their machines
	g.server.Close()
	wg.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// resumeWait is the time that runs of an earlier start wait for a node to connect before they
// continue without it.
const resumeWait = 3 * time.Second

// awaitNode waits a short time until some node is online.
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
	if open, err := g.store.Runs.Unfinished(ctx); err == nil && len(open) == 0 {
		return
	}
	for c := range sub.All(ctx) {
		if c.Kind == protocol.ChangeNode && c.Node.Online {
			return
		}
	}
}

// awaitOwnNode waits until the gateway's own node is online, and reports the gateway as ready.
func (g *Gateway) awaitOwnNode(ctx context.Context) {
	sub := g.bus.SubscribeOnly(func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeNode && c.Node.ID == g.node && c.Node.Online
	})
	defer sub.Close()
	if n, ok := g.hub.Node(g.node); g.node == "" || ok && n.Online {
		close(g.ready)
		return
	}
	for range sub.All(ctx) {
		close(g.ready)
		return
	}
}

// StopRuns stops the agent's work so that the next start can resume it. The node must still be
// connected: its commands are stopped through it.
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
