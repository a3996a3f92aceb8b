package channel_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/channel/channeltest"
	"fairlead/gateway/protocol"
)

func TestStateDescribesTheAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pigeon := channeltest.NewPigeon()
		b := channeltest.Open(t, t.TempDir(), pigeon)
		b.Begin()
		defer b.Close()
		set := func(loft, key string) {
			t.Helper()
			cfg := map[string]json.RawMessage{"loft": json.RawMessage(`"` + loft + `"`), "key": json.RawMessage(`"` + key + `"`)}
			b.Accounts.Start(t.Context(), protocol.ChannelStartParams{Channel: "pigeon", Config: cfg})
		}
		is := func(want string) protocol.ChannelAccountStatus {
			t.Helper()
			st, err := b.Accounts.Status(t.Context(), protocol.ChannelParams{Channel: "pigeon"})
			if err != nil || len(st.Accounts) != 1 || st.Accounts[0].State != want {
				t.Fatalf("%+v, %v; want %s", st, err, want)
			}
			return st.Accounts[0]
		}
		set("away", "k")
		a := is(protocol.AccountOffline)
		if in := a.RetryAt - time.Now().UnixMilli(); in <= 0 || in > 2000 || string(a.Settings["loft"]) != `"away"` || a.Settings["key"] != nil {
			t.Errorf("got %+v, next in %d ms, want away within 2 s", a, in)
		}
		set("roof", "wrong")
		if a = is(protocol.AccountNoLogin); a.RetryAt != 0 {
			t.Errorf("got the next login at %d, want none", a.RetryAt)
		}
		set("roof", "k")
		up := pigeon.Up("default")
		for _, why := range []string{"a hawk is near", ""} {
			up.Trouble(why)
			if a = is(protocol.AccountConnected); a.Error != why {
				t.Errorf("got trouble %q, want %q", a.Error, why)
			}
		}
		if _, err := b.Accounts.Stop(t.Context(), protocol.ChannelParams{Channel: "pigeon"}); err != nil {
			t.Fatal(err)
		}
		up.Trouble("too late")
		if a = is(protocol.AccountStopped); a.Error != "" {
			t.Errorf("stopped: got trouble %q, want none", a.Error)
		}
	})
}
