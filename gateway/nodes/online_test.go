package nodes

import (
	"context"
	"testing"
	"testing/synctest"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
)

func TestGatewayIsReadyOnceItsOwnNodeIsConnected(t *testing.T) {
	for _, own := range []protocol.NodeID{"", "here"} {
		synctest.Test(t, func(t *testing.T) {
			h, called := New(new(event.Bus), nil), 0
			r := NewReadiness(h, own, func() { called++ })
			go r.Run(t.Context())
			synctest.Wait()
			if got, want := r.IsReady(), own == ""; got != want {
				t.Errorf("own node %q: ready before any node: got %v, want %v", own, got, want)
			}
			attach(t, h, "other")
			synctest.Wait()
			if got, want := r.IsReady(), own == ""; got != want {
				t.Errorf("own node %q: ready after another node: got %v, want %v", own, got, want)
			}
			_, detach := attach(t, h, "here")
			synctest.Wait()
			detach()
			if !r.IsReady() || called != 1 {
				t.Errorf("own node %q: got ready %v, %d calls, want it ready and one call", own, r.IsReady(), called)
			}
		})
	}
}

func TestGatewayThatStopsBeforeItsNodeConnectsIsNotReady(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := NewReadiness(New(new(event.Bus), nil), "here", func() { t.Error("it was called ready") })
	if r.Run(ctx); r.IsReady() {
		t.Error("got ready, want not")
	}
}
