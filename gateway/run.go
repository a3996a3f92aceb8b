package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/skills"
)

// Run serves until ctx ends. It resumes the work of an earlier start after this process's node has
// had a moment to connect.
func (g *Gateway) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg crash.Group
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
	wg.Go(func() { g.ready.await(ctx, g.bus, g.hub.Node) })
	wg.Go(func() { crash.Forever(ctx, func() { g.commands.Run(ctx) }) })
	var head crash.Group
	headCtx, headEnd := context.WithCancel(context.WithoutCancel(ctx))
	head.Go(func() { crash.Forever(headCtx, func() { g.audit().SaveHead(headCtx) }) })
	defer head.Wait() // after the last call has been logged
	defer headEnd()
	resumed := make(chan struct{})
	wg.Go(func() { g.schedules.Run(ctx, resumed) })
	wg.Go(func() { crash.Forever(ctx, func() { skills.Watch(ctx, g.files, g.bus) }) })
	wg.Go(func() { g.transfers.Run(ctx) })
	wg.Go(func() { g.channels.Run(ctx) })
	wg.Go(func() { g.apps.Run(ctx) })
	wg.Go(func() { crash.Forever(ctx, func() { g.local.Run(ctx) }) })
	wg.Go(func() { g.mcp.Run(ctx) })
	var servers crash.Group
	servers.Go(func() { g.servers.Run(ctx, g.calls) })
	wg.Go(func() {
		defer close(resumed)
		g.awaitNode(ctx)
		g.sessions.Resume()
		if err := g.questions.CancelOrphans(ctx, g.startedAt, g.sessions.Runs.IsActive); err != nil && ctx.Err() == nil {
			g.log.Error("Closing the questions of an earlier start failed", "err", err)
		}
	})
	<-ctx.Done()
	g.StopRuns(context.WithoutCancel(ctx))
	g.keeper.Close()
	g.jobs.Close()
	g.commands.Close()
	g.transfers.Close()
	servers.Wait() // their commands are stopped through their machines
	g.server.Close()
	wg.Wait()
	g.questions.Close()
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

// readiness is whether the gateway can do its work: when its own node has connected, if it has one.
type readiness struct {
	node   protocol.NodeID // empty: none exists
	called func()          // once the gateway is ready; may be nil
	is     atomic.Bool
}

// await waits until the gateway's own node is online, or ctx ends.
func (r *readiness) await(ctx context.Context, bus *event.Bus, machine func(protocol.NodeID) (protocol.NodeInfo, bool)) {
	sub := bus.SubscribeOnly(func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeNode && c.Node.ID == r.node && c.Node.Online
	})
	defer sub.Close()
	if n, ok := machine(r.node); r.node != "" && !(ok && n.Online) {
		for range sub.All(ctx) {
			break
		}
		if ctx.Err() != nil {
			return
		}
	}
	r.is.Store(true)
	if r.called != nil {
		r.called()
	}
}

// StopRuns stops the agent's work so that the next start can resume it. The node must still be
// connected: its commands are stopped through it.
func (g *Gateway) StopRuns(ctx context.Context) {
	g.stopOnce.Do(func() {
		done := make(chan struct{})
		crash.Go(func() {
			defer close(done)
			g.sessions.Close()
		})
		select {
		case <-done:
		case <-ctx.Done():
			g.log.Warn("Runs did not stop in time")
		}
	})
}
