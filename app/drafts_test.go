package app

import (
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestWhatWasTypedIsThereAtTheNextStart(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	now := time.Now()
	u.main.pane.SetDraft("half a thought")
	u.tick(now)
	if u.backend.prefs.get().Drafts != nil {
		t.Error("it is written down while it is typed")
	}
	u.tick(now.Add(draftPause))
	u.main.open("agent:main:2")
	u.main.pane.SetDraft("another")
	u.save()
	next := newUI(t.Context(), u.app, u.backend)
	t.Cleanup(func() { next.main.window.Close() })
	if got := next.main.pane.Draft(); next.main.key != "agent:main:2" || got != "another" {
		t.Errorf("in %s stands %q", next.main.key, got)
	}
	next.main.open(protocol.MainSession)
	if got := next.main.pane.Draft(); got != "half a thought" {
		t.Errorf("in the chat before stands %q", got)
	}
	next.main.pane.SetDraft("")
	next.main.conversation.send("half a thought", nil, "")
	if got := next.backend.prefs.get().Drafts; len(got) != 1 {
		t.Errorf("after it was sent: %v", got)
	}
	next.drafts.save(protocol.MainSession, draft{text: strings.Repeat("x", maxDraft+1)})
	if got := next.backend.prefs.get().Drafts; len(got) != 1 {
		t.Error("a text without measure is written down")
	}
	next.drafts.saveText("agent:main:2", "")
	if got := next.backend.prefs.get().Drafts; len(got) != 0 {
		t.Errorf("of a deleted chat remains %v", got)
	}
}

func TestADraftGoesAlongIntoAWindowOfItsOwnAndBack(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.pane.SetDraft("half a thought")
	u.main.pane.SetAttachments([]protocol.Attachment{{Filename: "a.png"}})
	u.chats.openWindow(protocol.MainSession)
	c := u.chats.windows[protocol.MainSession]
	if c.pane.Draft() != "half a thought" || len(c.pane.Attachments()) != 1 || u.main.pane.Draft() != "" {
		t.Errorf("in its window stands %q, in the main one %q", c.pane.Draft(), u.main.pane.Draft())
	}
	c.pane.SetDraft("a thought")
	u.main.open("agent:main:2") // leaving an empty field deletes nothing
	u.main.open(protocol.MainSession)
	if u.main.pane.Draft() != "" {
		t.Errorf("it stands in both windows: %q", u.main.pane.Draft())
	}
	c.window.Close()
	if u.main.pane.Draft() != "a thought" || len(u.main.pane.Attachments()) != 1 {
		t.Errorf("after its window was closed %q is left", u.main.pane.Draft())
	}
}
