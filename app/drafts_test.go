package app

import (
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestWhatWasTypedIsThereAtTheNextStart(t *testing.T) {
	s := newTestShell(t)
	s.update(sample())
	now := time.Now()
	s.pane.SetDraft("half a thought")
	s.tick(now)
	if s.b.prefs.get().Drafts != nil {
		t.Error("it is written down while it is typed")
	}
	s.tick(now.Add(draftPause))
	s.open("agent:main:2")
	s.pane.SetDraft("another")
	s.remember()
	next := newShell(t.Context(), s.app, s.b)
	t.Cleanup(next.window.Close)
	if got := next.pane.Draft(); next.key != "agent:main:2" || got != "another" {
		t.Errorf("in %s stands %q", next.key, got)
	}
	next.open(protocol.MainSession)
	if got := next.pane.Draft(); got != "half a thought" {
		t.Errorf("in the chat before stands %q", got)
	}
	next.pane.SetDraft("")
	next.conversation.send("half a thought", nil, "")
	if got := next.b.prefs.get().Drafts; len(got) != 1 {
		t.Errorf("after it was sent: %v", got)
	}
	next.drafts.put(protocol.MainSession, draft{text: strings.Repeat("x", maxDraft+1)})
	if got := next.b.prefs.get().Drafts; len(got) != 1 {
		t.Error("a text without measure is written down")
	}
	next.drafts.drop("agent:main:2")
	if got := next.b.prefs.get().Drafts; len(got) != 0 {
		t.Errorf("of a deleted chat remains %v", got)
	}
}

func TestADraftGoesAlongIntoAWindowOfItsOwnAndBack(t *testing.T) {
	s := newTestShell(t)
	s.update(sample())
	s.pane.SetDraft("half a thought")
	s.pane.SetAttachments([]protocol.Attachment{{Filename: "a.png"}})
	s.tearOff(protocol.MainSession)
	c := s.torn[protocol.MainSession]
	if c.pane.Draft() != "half a thought" || len(c.pane.Attachments()) != 1 || s.pane.Draft() != "" {
		t.Errorf("in its window stands %q, in the main one %q", c.pane.Draft(), s.pane.Draft())
	}
	c.pane.SetDraft("a thought")
	s.open("agent:main:2") // leaving an empty field deletes nothing
	s.open(protocol.MainSession)
	if s.pane.Draft() != "" {
		t.Errorf("it stands in both windows: %q", s.pane.Draft())
	}
	c.window.Close()
	if s.pane.Draft() != "a thought" || len(s.pane.Attachments()) != 1 {
		t.Errorf("after its window was closed %q is left", s.pane.Draft())
	}
}
