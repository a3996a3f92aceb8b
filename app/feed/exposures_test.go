package feed_test

import (
	"testing"
	"testing/synctest"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestWaysInAreLoadedWhenOneMayHaveChanged(t *testing.T) {
	loads := 0
	answer := func(g *feedtest.Gateway) {
		feedtest.On(g, protocol.ExposureList, func(protocol.Empty) (protocol.ExposureListResult, error) {
			loads++
			return protocol.ExposureListResult{Exposures: []protocol.Exposure{{ID: protocol.ExposureGrant + ":trusted", Kind: protocol.ExposureGrant}}}, nil
		})
	}
	feedtest.Run(t, feed.New, answer, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		synctest.Wait()
		if e := a.Exposures.Get(); !e.Loaded || len(e.List) != 1 || loads != 1 {
			t.Fatalf("at the start: got %+v after %d loads, want one way in after one", e, loads)
		}
		trust := func(key protocol.SessionKey, mode string) protocol.Change {
			e := &protocol.SessionEntry{SessionKey: key, Settings: &protocol.SessionPrefs{Approvals: &protocol.ApprovalMode{Mode: mode}}}
			return protocol.Change{Kind: protocol.ChangeSession, SessionKey: key, Session: e}
		}
		for _, c := range []struct {
			change protocol.Change
			want   int
		}{
			{protocol.Change{Kind: protocol.ChangeServices}, 1},
			{protocol.Change{Kind: protocol.ChangeDevices}, 1},
			{protocol.Change{Kind: protocol.ChangeApps}, 1},
			{protocol.Change{Kind: protocol.ChangeChannels}, 1},
			{protocol.Change{Kind: protocol.ChangeRules}, 1},
			{protocol.Change{Kind: protocol.ChangeConfig, Path: "channels.xmpp.dmPolicy"}, 1},
			{protocol.Change{Kind: protocol.ChangeConfig, Path: "model.id"}, 0},
			{protocol.Change{Kind: protocol.ChangeForwards}, 0},
			{protocol.Change{Kind: protocol.ChangeFile}, 0},
			{trust("other", protocol.ModeTrust), 1},
			{trust("other", protocol.ModeAsk), 0},
			{trust("trusted", protocol.ModeTrust), 0},
			{trust("trusted", protocol.ModeAsk), 1},
		} {
			before := loads
			f.Change(c.change)
			synctest.Wait()
			if got := loads - before; got != c.want {
				t.Errorf("%s %s: got %d loads, want %d", c.change.Kind, c.change.Path, got, c.want)
			}
		}
	})
}
