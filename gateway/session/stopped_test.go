package session

import (
	"database/sql"
	"path/filepath"
	"testing"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

// A crash after the answer of chat.cancel, before the run has ended, must not bring the run back.
func TestStoppedRunIsNotResumed(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`))
	stopped, waiting := g.send("1"), g.send("2")
	g.question()
	if err := g.store.Runs.MarkCancelled(t.Context(), stopped.RunID); err != nil {
		t.Fatal(err)
	}
	g.restart(true, &tooltest.Machine{}, llmtest.Say("Second."))
	g.end(waiting.RunID)
	r, err := g.store.Runs.Get(t.Context(), stopped.RunID)
	if err != nil || r.State != protocol.RunCancelled || r.EndedAt == 0 {
		t.Errorf("got the stopped run %+v, %v, want it cancelled", r, err)
	}
}

func TestStopThatIsNotStoredIsAnError(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Second."))
	running, waiting := g.send("1"), g.send("2")
	g.question()
	db, err := sql.Open("sqlite", filepath.Join(g.home, "fairlead.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	refuse := func(on bool) {
		t.Helper()
		text := "DROP TRIGGER refuse"
		if on {
			text = "CREATE TRIGGER refuse BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'the test refuses this'); END"
		}
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	cancel := func(id protocol.RunID) error {
		_, err := g.Cancel(t.Context(), protocol.ChatCancelParams{SessionKey: chat, RunID: id})
		return err
	}
	refuse(true)
	if err := cancel(waiting.RunID); err == nil {
		t.Error("a queued message: got no error, want one")
	}
	refuse(false)
	if err := cancel(running.RunID); err != nil {
		t.Error(err)
	}
	if e := g.end(waiting.RunID); e.State != protocol.ChatFinal {
		t.Errorf("the queued message that was not removed: got %s, want its answer", e.State)
	}
}
