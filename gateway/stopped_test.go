package gateway

import (
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// Another program that locks the store stands for every reason why nothing can be stored.
func TestClientsSeeThatAFullDiskPausedTheAgent(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	home := t.TempDir()
	g, err := Open(t.Context(), Options{Home: home, Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	feed := g.bus.SubscribeOnly(func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeStatus || c.Kind == protocol.ChangeNotice
	})
	defer feed.Close()

	db, err := sql.Open("sqlite", filepath.ToSlash(filepath.Join(home, "fairlead.db")))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	other, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	_, err = g.sessions.Messages.Send(t.Context(), auth.Owner("test"), protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "what can you do"})
	if !errors.Is(err, protocol.ErrStorage) {
		t.Fatalf("a message that cannot be stored: %v", err)
	}
	// The notice follows in any case.
	if c, err := feed.Next(t.Context()); err != nil || c.Status == nil || !c.Status.Paused || c.Status.Storage == "" {
		t.Errorf("told: got %+v, %v; want no error, Status.Paused and some Status.Storage", c, err)
	}
}

func TestAPauseSurvivesARestart(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	home := t.TempDir()
	restart := func(change func(*Gateway)) (paused bool) {
		t.Helper()
		g, err := Open(t.Context(), Options{Home: home, Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		before := g.status.current(t.Context()).Paused
		change(g)
		return before
	}
	set := func(paused bool) func(*Gateway) {
		return func(g *Gateway) {
			err := g.sessions.Runs.Pause(t.Context(), paused)
			if got := g.status.current(t.Context()).Paused; err != nil || got != paused {
				t.Errorf("paused: got %v, %v, want %v", got, err, paused)
			}
		}
	}
	if restart(set(true)) {
		t.Error("a new gateway is paused")
	}
	if !restart(set(false)) {
		t.Error("the pause ended with a restart")
	}
	if restart(func(g *Gateway) { // as fairlead config set agent.paused true does
		if err := g.config.Set(t.Context(), "agent.paused", []byte("true")); err != nil || !g.status.current(t.Context()).Paused {
			t.Errorf("the setting does not pause the agent: %v", err)
		}
	}) {
		t.Error("it is paused after it was resumed")
	}
}
