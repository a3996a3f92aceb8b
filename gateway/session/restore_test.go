package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestARestoredArchiveCanBeUndone(t *testing.T) {
	g := start(t, llmtest.Say("One."), llmtest.Say("Two."), llmtest.Say("Three."))
	g.end(g.send("first").RunID)
	reset, err := g.Reset(t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil {
		t.Fatal(err)
	}
	g.end(g.send("second").RunID)
	first := protocol.ArchiveID(reset.OldSessionID)

	out, err := g.RestoreArchive(t.Context(), protocol.SessionArchiveRestoreParams{SessionKey: "main", ID: first})
	if err != nil || !out.OK || out.SessionKey != chat || out.SessionID != reset.OldSessionID || out.Messages != 2 || out.Archived == nil || out.Archived.Messages != 2 {
		t.Fatalf("got %+v, error %v, want 2 messages back, 2 archived", out, err)
	}
	if got := g.words(chat); !slices.Equal(got, []string{"user: first", "assistant: One."}) {
		t.Errorf("got %q, want first and its answer", got)
	}
	if raw := g.archived(out.Archived.ArchivedTo); !strings.Contains(raw, "second") {
		t.Errorf("got archive %q, want second in it", raw)
	}
	if _, err := os.Stat(filepath.Join(g.home, filepath.FromSlash(reset.ArchivedTo))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of the restored archive: got error %v, want that it does not exist", err)
	}
	g.until(func(c protocol.Change) bool { return c.Kind == protocol.ChangeHistory })

	g.end(g.send("third").RunID)
	if said := g.model.Requests()[2].Messages; len(said) != 3 || said[0].Content.Text() != "first" {
		t.Errorf("got %d messages for the model, want 3 from first on", len(said))
	}
	if _, err = g.RestoreArchive(t.Context(), protocol.SessionArchiveRestoreParams{SessionKey: chat, ID: out.Archived.ID}); err != nil {
		t.Fatal(err)
	}
	if got := g.words(chat); !slices.Equal(got, []string{"user: second", "assistant: Two."}) {
		t.Errorf("got %q, want second and its answer", got)
	}
	list, err := g.Archives(t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil || len(list.Archives) != 1 || list.Archives[0].ID != first || list.Archives[0].Messages != 4 {
		t.Errorf("got %+v, error %v, want one archive of 4 messages", list, err)
	}
}

func TestArchiveIsNotRestoredIntoARunningChat(t *testing.T) {
	g := start(t, llmtest.Say("One."), llmtest.Call(bash, `{"command":"make"}`))
	g.end(g.send("first").RunID)
	reset, err := g.Reset(t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil {
		t.Fatal(err)
	}
	res := g.send("second")
	g.question()
	in := protocol.SessionArchiveRestoreParams{SessionKey: chat, ID: protocol.ArchiveID(reset.OldSessionID)}
	if _, err := g.RestoreArchive(t.Context(), in); !errors.Is(err, protocol.ErrConflict) || !strings.Contains(err.Error(), "restore the earlier conversation") {
		t.Errorf(`got %v; want error ErrConflict and an error with "restore the earlier conversation"`, err)
	}
	g.send("/stop")
	g.end(res.RunID)
	if _, err := g.RestoreArchive(t.Context(), in); err != nil {
		t.Error(err)
	}
	for _, id := range []protocol.ArchiveID{"", "none"} {
		in.ID = id
		if _, err := g.RestoreArchive(t.Context(), in); err == nil {
			t.Errorf("%q: got no error, want one", id)
		}
	}
}
