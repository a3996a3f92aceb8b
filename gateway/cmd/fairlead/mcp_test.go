package main

import (
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestATokenThatDoesNotWorkSaysWhy(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		app  protocol.App
		want string
	}{
		{protocol.App{}, "the gateway does not know its token"},
		{protocol.App{ID: "a", RevokedAt: 1}, "its token was revoked"},
		{protocol.App{ID: "a", ExpiresAt: now.Add(-time.Minute).UnixMilli()}, "its token has expired"},
		{protocol.App{ID: "a", ExpiresAt: now.Add(time.Minute).UnixMilli()}, ""},
		{protocol.App{ID: "a"}, ""},
	} {
		if got := tokenProblem(c.app); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.app, got, c.want)
		}
	}
}
