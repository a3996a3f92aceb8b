package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

// waitNotes waits until a session has been scanned up to a message, and returns the agent's notes.
func (g *gateway) waitNotes(id protocol.SessionID, through int64) string {
	g.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(time.Millisecond) {
		n, err := g.store.Sessions.MemoryCursor(g.t.Context(), id)
		if err != nil || n > through || time.Now().After(deadline) {
			g.t.Fatalf("noted up to %d, want %d: %v", n, through, err)
		}
		if n == through {
			break
		}
	}
	list, _ := filepath.Glob(filepath.Join(g.home, "agents", "main", "memory", "*.md"))
	var all strings.Builder
	for _, name := range list {
		text, err := os.ReadFile(name)
		if err != nil {
			g.t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func (g *gateway) resetNow() protocol.SessionID {
	g.t.Helper()
	out, err := g.Reset(g.t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil {
		g.t.Fatal(err)
	}
	return out.OldSessionID
}

func (g *gateway) restoreArchive(id protocol.SessionID) {
	g.t.Helper()
	if _, err := g.RestoreArchive(g.t.Context(), protocol.SessionArchiveRestoreParams{SessionKey: chat, ID: protocol.ArchiveID(id)}); err != nil {
		g.t.Fatal(err)
	}
}

func TestRestoredConversationIsNotRememberedTwice(t *testing.T) {
	g := withModel(
		t, llmtest.Say("Nice."), llmtest.Say("<summary>s</summary><memories>- Ann has a cat</memories>"),
		llmtest.Say("Good."), llmtest.Say("<summary>s</summary><memories>- Ann has a dog</memories>"), llmtest.Say("x"),
	)
	g.end(g.send("My cat sleeps").RunID)
	id := g.resetNow()
	g.waitNotes(id, 2)
	g.restoreArchive(id)
	if again := g.resetNow(); again != id {
		t.Fatalf("got session %s, want %s", again, id)
	}
	g.restoreArchive(id)
	g.end(g.send("My dog runs").RunID)
	g.resetNow()
	if notes := g.waitNotes(id, 4); strings.Count(notes, "- Ann has a cat") != 1 || strings.Count(notes, "- Ann has a dog") != 1 {
		t.Errorf("got notes %s, want each once", notes)
	}
	asked := g.model.Requests()
	if len(asked) != 4 {
		t.Fatalf("got %d requests, want 4", len(asked))
	}
	if read := asked[3].Messages[0].Content.Text(); !strings.Contains(read, "dog") || strings.Contains(read, "cat") {
		t.Errorf("the second time: got %q, want the dog alone", read)
	}
}

func TestUndoneCompactionIsNotRememberedTwice(t *testing.T) {
	g := withModel(
		t, llmtest.Say("Nice."), llmtest.Say("Good."), llmtest.Say("<summary>s</summary><memories>- Ann has a cat</memories>"),
		llmtest.Say("<summary>s</summary><memories>- Ann has one cat</memories>"), llmtest.Say("<summary>s</summary><memories>- Ann has a dog</memories>"), llmtest.Say("x"),
	)
	g.end(g.send("My cat sleeps").RunID)
	g.end(g.send("My dog runs").RunID)
	two := 2
	for range 2 {
		if _, err := g.Compact(t.Context(), protocol.SessionCompactParams{SessionKey: chat, KeepMessages: &two}); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Uncompact(t.Context(), protocol.SessionParams{SessionKey: chat}); err != nil {
			t.Fatal(err)
		}
	}
	id := g.resetNow()
	if notes := g.waitNotes(id, 6); strings.Count(notes, "cat") != 1 || strings.Count(notes, "- Ann has a dog") != 1 {
		t.Errorf("got notes %s, want each once", notes)
	}
	if read := g.model.Requests()[4].Messages[0].Content.Text(); strings.Contains(read, "cat") {
		t.Errorf("at the end: got %q, want no cat", read)
	}
}
