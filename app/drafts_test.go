package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestDraftsSurviveARestart(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	now := time.Now()
	u.main.conversation.pane.SetDraft("half a thought")
	u.tick(now)
	if u.backend.prefs.get().Drafts != nil {
		t.Error("the draft is saved while the person types")
	}
	u.tick(now.Add(draftPause))
	u.main.open("agent:main:2")
	u.main.conversation.pane.SetDraft("another")
	u.save()
	next := newUI(t.Context(), u.app, u.backend)
	t.Cleanup(func() { next.main.conversation.window.Close() })
	if got := next.main.conversation.pane.Draft(); next.main.conversation.key != "agent:main:2" || got != "another" {
		t.Errorf("after a restart: got %q in %s, want another in agent:main:2", got, next.main.conversation.key)
	}
	next.main.open(protocol.MainSession)
	if got := next.main.conversation.pane.Draft(); got != "half a thought" {
		t.Errorf("in the previous chat: got %q, want half a thought", got)
	}
	next.main.conversation.pane.SetDraft("")
	next.main.conversation.send("half a thought", nil, "")
	if got := next.backend.prefs.get().Drafts; len(got) != 1 {
		t.Errorf("after the message was sent: got %v, want 1 draft", got)
	}
	next.drafts.save(protocol.MainSession, draft{text: strings.Repeat("x", maxDraft+1)})
	if got := next.backend.prefs.get().Drafts; len(got) != 1 {
		t.Error("a text above the limit is saved")
	}
	next.drafts.saveText("agent:main:2", "")
	if got := next.backend.prefs.get().Drafts; len(got) != 0 {
		t.Errorf("after the chat was deleted: got %v, want no draft", got)
	}
}

func TestPicturesOfADraftSurviveARestart(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	dir := filepath.Join(filepath.Dir(u.backend.prefs.path), draftDir)
	saved := func(u *ui) int {
		u.backend.prefs.close()
		u.backend.prefs = openPrefs(filepath.Dir(dir), u.backend.log)
		u.drafts.prefs = u.backend.prefs
		names, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	picture, now := protocol.Attachment{Filename: "a.png", MimeType: "image/png", Data: "aGk="}, time.Now()
	u.main.conversation.pane.SetAttachments([]protocol.Attachment{picture})
	u.tick(now)
	u.tick(now.Add(draftPause))
	if got := saved(u); got != 1 {
		t.Fatalf("after a pause: got %d files, want 1", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "torn.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	next := newUI(t.Context(), u.app, u.backend)
	t.Cleanup(func() { next.main.conversation.window.Close() })
	next.main.open(protocol.MainSession)
	if got := next.main.conversation.pane.Attachments(); !slices.Equal(got, []protocol.Attachment{picture}) {
		t.Fatalf("after a restart: got %v, want %v", got, picture)
	}
	next.drafts.forget(protocol.MainSession)
	if got := saved(next); got != 1 { // torn.json
		t.Errorf("after the chat was deleted: got %d files, want 1", got)
	}
	next.drafts.save("agent:main:2", draft{pictures: []protocol.Attachment{picture}})
	next.drafts.save("agent:main:2", draft{})
	if got := saved(next); got != 1 {
		t.Errorf("after the message was sent: got %d files, want 1", got)
	}
}

func TestADraftMovesToTheChatsOwnWindowAndBack(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.conversation.pane.SetDraft("half a thought")
	u.main.conversation.pane.SetAttachments([]protocol.Attachment{{Filename: "a.png"}})
	u.chats.openWindow(protocol.MainSession)
	c := u.chats.windows[protocol.MainSession]
	if c.pane.Draft() != "half a thought" || len(c.pane.Attachments()) != 1 || u.main.conversation.pane.Draft() != "" {
		t.Errorf("got %q in its window and %q in the main one, want the draft only in its window", c.pane.Draft(), u.main.conversation.pane.Draft())
	}
	c.pane.SetDraft("a thought")
	u.main.open("agent:main:2") // leaving an empty field deletes nothing
	u.main.open(protocol.MainSession)
	if u.main.conversation.pane.Draft() != "" {
		t.Errorf("got %q in the main window, want it empty", u.main.conversation.pane.Draft())
	}
	c.window.Close()
	if u.main.conversation.pane.Draft() != "a thought" || len(u.main.conversation.pane.Attachments()) != 1 {
		t.Errorf("after its window was closed: got %q, want a thought and a picture", u.main.conversation.pane.Draft())
	}
}
