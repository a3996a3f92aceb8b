// Package gatewaytest runs whole gateways in tests.
package gatewaytest

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"fairlead/gateway"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// Start runs a gateway on a data folder until stop or the end of the test. It listens on the address
// listen, or nowhere for "none".
func Start(t testing.TB, home, listen string) (g *gateway.Gateway, stop func()) {
	t.Helper()
	g, err := gateway.Open(t.Context(), gateway.Options{Home: home, Listen: listen, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return g, run(t, func(ctx context.Context) { g.Run(ctx) }, func() {
		if err := g.Close(); err != nil {
			t.Errorf("closing the gateway: got %v, want no error", err)
		}
	})
}

// Owner connects the owner's window over memory until stop or the end of the test. changed, which
// may be nil, gets the changes of the feed.
func Owner(t testing.TB, g *gateway.Gateway, changed func(protocol.Change)) (c *client.Client, stop func()) {
	t.Helper()
	c = client.New(client.Options{URL: "ws://memory/ws", Dial: g.Dial, Connect: func() protocol.ConnectParams { return gateway.ClientParams("window") }})
	stop = run(t, func(ctx context.Context) {
		if changed == nil {
			c.Run(ctx)
			return
		}
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() { c.Feed(ctx, func(protocol.FeedSnapshot) {}, changed) })
		c.Run(ctx)
	}, func() {})
	polltest.Until(t, "the owner is connected", c.Connected)
	return c, stop
}

// run runs f until stop or the end of the test, and then calls closed.
func run(t testing.TB, f func(context.Context), closed func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { f(ctx) })
	stop = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
		closed()
	})
	t.Cleanup(stop)
	return stop
}
