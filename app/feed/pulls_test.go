package feed

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestCompleteDownloadCountsAsChangeOfLocalModels(t *testing.T) {
	f := New()
	apply := func(state string) {
		f.Apply(protocol.Change{Kind: protocol.ChangePull, Pull: &protocol.ModelPull{Model: "m", State: state}})
	}
	for state, want := range map[string]int{protocol.PullRunning: 0, protocol.PullStopped: 0, protocol.PullFailed: 0, protocol.PullDone: 1} {
		before := f.View().Changed.LocalModels
		apply(state)
		if got := f.View().Changed.LocalModels - before; got != want {
			t.Errorf("%s: counted %d times, want %d", state, got, want)
		}
		if p, ok := f.Pulls.Get().Find("m"); !ok || p.State != state || len(f.Pulls.Get()) != 1 {
			t.Errorf("%s: got %+v; want ok, p.State %v and f.Pulls.Get of length 1", state, f.Pulls.Get(), state)
		}
	}
	f.ApplySnapshot(protocol.FeedSnapshot{})
	if got := f.Pulls.Get(); len(got) != 0 {
		t.Errorf("after a new connection: got %+v, want none", got)
	}
}
