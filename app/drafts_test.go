package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fairlead/app/preferences"
	"fairlead/gateway/protocol"
)

func TestDraftsSurviveARestart(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	now := time.Now()
	u.main.Chat.Page.Pane.SetDraft("half a thought")
	u.tick(now)
	if u.backend.Prefs.Get().Drafts != nil {
		t.Error("the draft is saved while the person types")
	}
	u.tick(now.Add(time.Second))
	u.main.Open("agent:main:2")
	u.main.Chat.Page.Pane.SetDraft("another")
	u.Save()
	next := newUI(t.Context(), u.app, u.backend, testPlatform())
	t.Cleanup(func() { next.main.Chat.Window.Close() })
	if got := next.main.Chat.Page.Pane.Draft(); next.main.Chat.Page.Key() != "agent:main:2" || got != "another" {
		t.Errorf("after a restart: got %q in %s, want another in agent:main:2", got, next.main.Chat.Page.Key())
	}
	next.main.Open(protocol.MainSession)
	if got := next.main.Chat.Page.Pane.Draft(); got != "half a thought" {
		t.Errorf("in the previous chat: got %q, want half a thought", got)
	}
	next.send("half a thought")
	if got := next.backend.Prefs.Get().Drafts; len(got) != 1 {
		t.Errorf("after the message was sent: got %v, want 1 draft", got)
	}
	next.drafts.Forget("agent:main:2")
	if got := next.backend.Prefs.Get().Drafts; len(got) != 0 {
		t.Errorf("after the chat was deleted: got %v, want no draft", got)
	}
}

func TestPicturesOfADraftSurviveARestart(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	home := os.Getenv("FAIRLEAD_HOME")
	dir := filepath.Join(home, "drafts")
	saved := func(u *ui) int {
		u.backend.Prefs.Close()
		u.backend.Prefs = preferences.Open(home, slog.New(slog.DiscardHandler))
		names, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	picture, now := protocol.Attachment{Filename: "a.png", MimeType: "image/png", Data: "aGk="}, time.Now()
	u.main.Chat.Page.Pane.SetAttachments([]protocol.Attachment{picture})
	u.tick(now)
	u.tick(now.Add(time.Second))
	if got := saved(u); got != 1 {
		t.Fatalf("after a pause: got %d files, want 1", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "torn.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	next := newUI(t.Context(), u.app, u.backend, testPlatform())
	t.Cleanup(func() { next.main.Chat.Window.Close() })
	next.main.Open(protocol.MainSession)
	if got := next.main.Chat.Page.Pane.Attachments(); !slices.Equal(got, []protocol.Attachment{picture}) {
		t.Fatalf("after a restart: got %v, want %v", got, picture)
	}
	next.drafts.Forget(protocol.MainSession)
	if got := saved(next); got != 1 { // torn.json
		t.Errorf("after the chat was deleted: got %d files, want 1", got)
	}
}

func TestADraftMovesToTheChatsOwnWindowAndBack(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.Chat.Page.Pane.SetDraft("half a thought")
	u.main.Chat.Page.Pane.SetAttachments([]protocol.Attachment{{Filename: "a.png"}})
	u.main.Chats.OpenWindow(protocol.MainSession)
	c := u.main.Chats.Own[protocol.MainSession]
	if c.Page.Pane.Draft() != "half a thought" || len(c.Page.Pane.Attachments()) != 1 || u.main.Chat.Page.Pane.Draft() != "" {
		t.Errorf("got %q in its window and %q in the main one, want the draft only in its window", c.Page.Pane.Draft(), u.main.Chat.Page.Pane.Draft())
	}
	c.Page.Pane.SetDraft("a thought")
	u.main.Open("agent:main:2") // leaving an empty field deletes nothing
	u.main.Open(protocol.MainSession)
	if u.main.Chat.Page.Pane.Draft() != "" {
		t.Errorf("got %q in the main window, want it empty", u.main.Chat.Page.Pane.Draft())
	}
	c.Window.Close()
	if u.main.Chat.Page.Pane.Draft() != "a thought" || len(u.main.Chat.Page.Pane.Attachments()) != 1 {
		t.Errorf("after its window was closed: got %q, want a thought and a picture", u.main.Chat.Page.Pane.Draft())
	}
}
