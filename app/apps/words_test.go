package apps

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

func TestAnAppIsDescribedInALine(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas", Name: "NAS"}}}
	v.Apps.Commands = []protocol.AppCommand{{App: "one"}, {App: "two"}, {App: "two"}}
	both := []protocol.Scope{protocol.ScopeFilesRead, protocol.ScopeShell}
	for _, c := range []struct {
		name          string
		app           protocol.App
		line, present string
		ended         bool
	}{
		{name: "all machines", app: protocol.App{Kind: protocol.AppToken, Scopes: both}, line: "Token · Read files and run commands", present: "never used"},
		{name: "one machine", app: protocol.App{Kind: protocol.AppOAuth, Scopes: both[:1], Nodes: []protocol.NodeID{"nas"}}, line: "Signed in · Read files · on NAS", present: "never used"},
		{name: "three machines", app: protocol.App{Kind: protocol.AppOAuth, Nodes: []protocol.NodeID{"a", "b", "c"}}, line: "Signed in · Nothing · on 3 machines", present: "never used"},
		{name: "used", app: protocol.App{Kind: protocol.AppToken, Scopes: both[:1], LastUsedAt: now.Add(-time.Minute).UnixMilli()}, line: "Token · Read files", present: "used " + format.When(now.Add(-time.Minute).UnixMilli(), now)},
		{name: "a command", app: protocol.App{ID: "one", Kind: protocol.AppToken, Scopes: both[:1]}, line: "Token · Read files", present: "1 command running"},
		{name: "two commands", app: protocol.App{ID: "two", Kind: protocol.AppToken, Scopes: both[:1]}, line: "Token · Read files", present: "2 commands running"},
		{name: "expired", app: protocol.App{Kind: protocol.AppToken, ExpiresAt: now.UnixMilli()}, line: "Token", present: "expired", ended: true},
		{name: "revoked", app: protocol.App{Kind: protocol.AppToken, RevokedAt: 1}, line: "Token", present: "revoked", ended: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := AppLine(v, c.app, now); got != c.line {
				t.Errorf("line: got %q, want %q", got, c.line)
			}
			if got := AppPresence(v, c.app, now); got != c.present {
				t.Errorf("presence: got %q, want %q", got, c.present)
			}
			if got := HasEnded(c.app, now); got != c.ended {
				t.Errorf("ended: got %v, want %v", got, c.ended)
			}
		})
	}
}

func TestCommandsOfAnAppSayWhatRunsWhereAndSince(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas", Name: "NAS"}}}
	v.Apps.Commands = []protocol.AppCommand{
		{ID: "c1", App: "editor", Node: "nas", Text: "make -j4", StartedAt: now.Add(-20 * time.Minute).UnixMilli()},
		{ID: "c2", Name: "own", Node: "nas", Text: "ls"},
		{ID: "c3", App: "editor", Node: "gone", Text: "echo a\u202eb\nls", StartedAt: now.Add(-24 * time.Hour).UnixMilli()},
	}
	want := []RunningCommand{{"c1", "make -j4", "NAS · since 11:40"}, {"c3", "echo a⟨U+202E⟩b\nls", "gone · since yesterday at 12:00"}}
	if got := AppCommands(v, "editor", now); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := AppCommands(v, "other", now); got != nil {
		t.Errorf("got %q for an app without commands, want none", got)
	}
}

func TestStoppingAnEndedCommandSucceeds(t *testing.T) {
	commands := []protocol.AppCommand{{ID: "c1", App: "editor"}}
	failure := error(protocol.ErrNotFound.With("no program runs a command with the ID c1"))
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.AppsList, func(protocol.Empty) (protocol.AppsListResult, error) {
			return protocol.AppsListResult{Commands: commands}, nil
		})
		feedtest.On(f, protocol.AppStop, func(protocol.AppStopParams) (protocol.OK, error) { return protocol.OK{}, failure })
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		if n := len(a.View().Apps.Commands); n != 1 {
			t.Fatalf("got %d commands, want 1", n)
		}
		commands = nil
		if err := (Model{a}).StopCommand(t.Context(), "c1"); err != nil {
			t.Errorf("an ended command: got %v, want no error", err)
		}
		synctest.Wait()
		if n := len(a.View().Apps.Commands); n != 0 {
			t.Errorf("got %d commands after the end, want 0", n)
		}
		if got := f.Called(protocol.AppStop.Name); len(got) != 1 || string(got[0]) != `{"id":"c1"}` {
			t.Errorf("the gateway got %s; want length 1 and got[0] `{\"id\":\"c1\"}`", got)
		}
		failure = protocol.ErrUnavailable.With("the machine is offline")
		if err := (Model{a}).StopCommand(t.Context(), "c1"); !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("an offline machine: got %v, want that it is unavailable", err)
		}
	})
}
