package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"

	"fairlead/gateway/network"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/skills"
)

// Run serves until ctx ends.
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
		serve(g.uses.Listen(g.listener, network.OwnID), false)
	}
	wg.Go(func() {
		g.network.Run(ctx, func(ctx context.Context, l net.Listener) error {
			return g.server.Serve(ctx, g.uses.Listen(l, network.NetworkID), false)
		})
	})
	for _, run := range []func(context.Context){g.addresses.Run, g.commands.Run, g.tunnels.Run, g.site.Run, g.shown.Run, g.local.Run, g.rented.Run} {
		wg.Go(func() { crash.Forever(ctx, func() { run(ctx) }) })
	}
	wg.Go(func() { g.calls.ReviewPending(ctx) })
	wg.Go(func() { g.ready.Run(ctx) })
	var head crash.Group
	headCtx, headEnd := context.WithCancel(context.WithoutCancel(ctx))
	head.Go(func() { crash.Forever(headCtx, func() { g.audit.SaveHead(headCtx) }) })
	defer head.Wait() // after the last call has been logged
	defer headEnd()
	resumed := make(chan struct{})
	wg.Go(func() { g.schedules.Run(ctx, resumed) })
	wg.Go(func() { crash.Forever(ctx, func() { skills.Watch(ctx, g.files, g.bus) }) })
	wg.Go(func() { g.transfers.Run(ctx) })
	wg.Go(func() { g.channels.Run(ctx) })
	wg.Go(func() { g.apps.Run(ctx) })
	wg.Go(func() { g.uses.Run(ctx) })
	wg.Go(func() { g.mcp.Run(ctx) })
	var servers crash.Group
	servers.Go(func() { g.servers.Run(ctx, g.calls) })
	wg.Go(func() {
		defer close(resumed)
		g.sessions.Resume(ctx)
		if err := g.questions.CancelOrphans(ctx, g.startedAt, g.sessions.Runs.IsActive); err != nil && ctx.Err() == nil {
			g.log.Error("Closing the questions of an earlier start failed", "err", err)
		}
	})
	<-ctx.Done()
	g.StopRuns(context.WithoutCancel(ctx))
	g.site.Close(context.WithoutCancel(ctx))
	g.signIn.Close()
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
