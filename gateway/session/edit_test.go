package session

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

// message returns the first message of the main chat with a text.
func (g *gateway) message(text string) protocol.Message {
	g.t.Helper()
	msgs, err := g.store.Messages.List(g.t.Context(), chat, 0, 0)
	if err != nil {
		g.t.Fatal(err)
	}
	for _, m := range msgs {
		if m.Content.Text() == text {
			return m
		}
	}
	g.t.Fatalf("got no message %q, want one", text)
	panic("unreachable")
}

func (g *gateway) resend(in protocol.ChatResendParams) protocol.ChatResendResult {
	g.t.Helper()
	in.SessionKey = chat
	out, err := g.Resend(g.t.Context(), ann, in)
	if err != nil {
		g.t.Fatal(err)
	}
	return out
}

func (g *gateway) restore(id protocol.ArchiveID) error {
	_, err := g.RestoreArchive(g.t.Context(), protocol.SessionArchiveRestoreParams{SessionKey: chat, ID: id})
	return err
}

func TestEditedMessageStartsTheTurnAgain(t *testing.T) {
	g := start(t, llmtest.Say("One."), llmtest.Say("Two."), llmtest.Say("Better."))
	g.end(g.send("first").RunID)
	g.end(g.send("second").RunID)
	text := "second, corrected"
	out := g.resend(protocol.ChatResendParams{MessageID: g.message("second").ID, Message: &text, RunID: "again"})
	if out.RunID != "again" {
		t.Errorf("got run %s, want again", out.RunID)
	}
	g.end(out.RunID)
	g.check("user: first", "assistant: One.", "user: second, corrected", "assistant: Better.")
	if said := g.model.Requests()[2].Messages; len(said) != 3 {
		t.Errorf("the model read %d messages, want 3", len(said))
	}
	if err := g.restore(out.ArchiveID); err != nil {
		t.Fatal(err)
	}
	g.check("user: first", "assistant: One.", "user: second", "assistant: Two.")
	g.checkNoUnfinishedRuns()
}

func TestAnswerIsRegeneratedWithAnotherModel(t *testing.T) {
	g := start(t, llmtest.Say("One."), llmtest.Say("Another."))
	g.end(g.send("first").RunID)
	other := protocol.ModelRef{Provider: "other", ID: "big/model"}
	out := g.resend(protocol.ChatResendParams{MessageID: g.message("One.").ID, Model: &other})
	g.end(out.RunID)
	g.check("user: first", "assistant: Another.")
	if m := g.message("Another."); m.Provider != "other" || m.Model != "big/model" {
		t.Errorf("got an answer of %s/%s, want other big/model", m.Provider, m.Model)
	}
	if s, _ := g.store.Sessions.Get(t.Context(), chat); s.Prefs.Model != nil {
		t.Errorf("got the chat's model %v, want none", s.Prefs.Model)
	}
}

// TestResentTurnContinuesAfterAKill: the old turn is archived and the new one stored at once, so
// that a kill leaves either of them.
func TestResentTurnContinuesAfterAKill(t *testing.T) {
	g := start(t, llmtest.Say("One."), llmtest.Say("Tw").Hang())
	g.end(g.send("first").RunID)
	text := "changed"
	out := g.resend(protocol.ChatResendParams{MessageID: g.message("first").ID, Message: &text})
	g.until(func(c protocol.Change) bool { return c.Kind == protocol.ChangeDelta && c.Delta.RunID == out.RunID })
	g.restart(true, &tooltest.Machine{}, llmtest.Say("After the kill."))
	g.end(out.RunID)
	g.check("user: changed", "assistant: After the kill.")
	g.checkNoUnfinishedRuns()
}

func TestResendStopsTheRunAlone(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Fine."), llmtest.Say("Later."))
	run := g.send("build")
	g.question()
	waiting := g.send("and then?")
	text := "do not build"
	out := g.resend(protocol.ChatResendParams{MessageID: g.message("build").ID, Message: &text})
	if e := g.end(run.RunID); e.State != protocol.ChatErrState {
		t.Errorf("the old run: got %s, want %s", e.State, protocol.ChatErrState)
	}
	g.end(out.RunID)
	g.end(waiting.RunID)
	g.check("user: do not build", "assistant: Fine.", "user: and then?", "assistant: Later.")
	g.checkNoUnfinishedRuns()
}

// TestOneOfTwoEditsAtOnceWins: two windows replace the same message.
func TestOneOfTwoEditsAtOnceWins(t *testing.T) {
	g := start(t, llmtest.Say("One."), llmtest.Say("Two."))
	g.end(g.send("first").RunID)
	id := g.message("first").ID
	var wg sync.WaitGroup
	errs, outs := make([]error, 2), make([]protocol.ChatResendResult, 2)
	for i, text := range []string{"second", "third"} {
		wg.Go(func() {
			outs[i], errs[i] = g.Resend(t.Context(), ann, protocol.ChatResendParams{SessionKey: chat, MessageID: id, Message: &text})
		})
	}
	wg.Wait()
	won := slices.Index(errs, nil)
	if won < 0 || !errors.Is(errs[1-won], protocol.ErrNotFound) {
		t.Fatalf("got errors %v, want one winner", errs)
	}
	g.end(outs[won].RunID)
	g.check("user: "+[]string{"second", "third"}[won], "assistant: Two.")
	g.checkNoUnfinishedRuns()
}

func TestUndoOfAnEditStopsItsRun(t *testing.T) {
	g := start(t, llmtest.Say("One."), llmtest.Call(bash, `{"command":"make"}`))
	g.end(g.send("first").RunID)
	text := "changed"
	out := g.resend(protocol.ChatResendParams{MessageID: g.message("first").ID, Message: &text})
	g.question()
	if err := g.restore(out.ArchiveID); err != nil {
		t.Fatal(err)
	}
	g.end(out.RunID)
	g.check("user: first", "assistant: One.")
	g.checkNoUnfinishedRuns()
}

func TestResendIsRefusedWithAReason(t *testing.T) {
	g := start(t, llmtest.Say("One."))
	g.end(g.send("first").RunID)
	id := g.message("first").ID
	empty, command, own := " ", "/new", "!ls"
	for name, c := range map[string]struct {
		by   auth.Principal
		in   protocol.ChatResendParams
		want error
	}{
		"no message":      {ann, protocol.ChatResendParams{}, protocol.ErrBadRequest},
		"unknown message": {ann, protocol.ChatResendParams{MessageID: "x"}, protocol.ErrNotFound},
		"empty text":      {ann, protocol.ChatResendParams{MessageID: id, Message: &empty}, protocol.ErrBadRequest},
		"command":         {ann, protocol.ChatResendParams{MessageID: id, Message: &command}, protocol.ErrBadRequest},
		"own command":     {ann, protocol.ChatResendParams{MessageID: id, Message: &own}, protocol.ErrBadRequest},
		"no model":        {ann, protocol.ChatResendParams{MessageID: id, Model: &protocol.ModelRef{Provider: "x"}}, protocol.ErrBadRequest},
		"agent":           {auth.Agent(chat, "r"), protocol.ChatResendParams{MessageID: id}, protocol.ErrForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			c.in.SessionKey = chat
			if _, err := g.Resend(t.Context(), c.by, c.in); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	g.check("user: first", "assistant: One.")
}

// TestDeletedAnswerTakesItsCallsAlong: what the model reads afterwards has no call without a
// result.
func TestDeletedAnswerTakesItsCallsAlong(t *testing.T) {
	g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: &tooltest.Machine{}}
	g.cfg.ToolApproval.DefaultDecision = "allow"
	g.open(llmtest.Say("Looking.").Call(bash, `{"command":"make"}`), llmtest.Say("Built."), llmtest.Say("Next."))
	g.end(g.send("build").RunID)
	out, err := g.DeleteMessage(t.Context(), protocol.MessageParams{SessionKey: chat, MessageID: g.message("Built.").ID})
	if err != nil || out.Messages != 3 {
		t.Fatalf("got %+v, error %v, want 3 deleted messages", out, err)
	}
	g.check("user: build")
	if list, _ := g.Archives(t.Context(), protocol.SessionParams{SessionKey: chat}); len(list.Archives) > 0 {
		t.Errorf("got archives %+v, want none", list)
	}
	if err := g.restore(out.ArchiveID); err != nil {
		t.Fatal(err)
	}
	if out, err = g.DeleteMessage(t.Context(), protocol.MessageParams{SessionKey: chat, MessageID: g.message("Looking.").ID}); err != nil {
		t.Fatal(err)
	}
	g.end(g.send("go on").RunID)
	g.check("user: build", "user: go on", "assistant: Next.")
	for _, m := range llm.Repair(g.model.Requests()[2].Messages, protocol.ModelInfo{}) {
		if m.Role == protocol.RoleToolResult || len(m.Content.Calls()) > 0 {
			t.Errorf("got %+v for the model, want no calls and results", m)
		}
	}
}

func TestRunningTurnCannotBeDeleted(t *testing.T) {
	g := start(t, llmtest.Say("One."), llmtest.Call(bash, `{"command":"make"}`))
	g.end(g.send("first").RunID)
	run := g.send("second")
	g.question()
	in := protocol.MessageParams{SessionKey: chat, MessageID: g.message("first").ID}
	if _, err := g.DeleteMessage(t.Context(), in); !errors.Is(err, protocol.ErrConflict) || !strings.Contains(err.Error(), "delete the message") {
		t.Errorf("got error %v, want a conflict", err)
	}
	g.send("/stop")
	g.end(run.RunID)
	if _, err := g.DeleteMessage(t.Context(), in); err != nil {
		t.Error(err)
	}
}

func TestForkCopiesUpToTheMessage(t *testing.T) {
	g := start(t, llmtest.Say("One."), llmtest.Say("Two.").Call(bash, `{"command":"make"}`))
	g.end(g.send("first").RunID)
	mode := protocol.ApprovalMode{Mode: protocol.ModeAcceptEdits}
	level := "low"
	if _, err := g.Patch(t.Context(), protocol.SessionPatchParams{SessionKey: chat, Settings: &protocol.SessionPrefsPatch{Approvals: &mode, ThinkingLevel: &level}}); err != nil {
		t.Fatal(err)
	}
	run := g.send("second")
	g.question()
	fork := func(text string, before bool) (protocol.SessionEntry, error) {
		return g.Fork(t.Context(), protocol.SessionForkParams{SessionKey: chat, MessageID: g.message(text).ID, Before: before})
	}
	if _, err := fork("Two.", false); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("forking an answer in progress: got error %v, want ErrConflict", err)
	}
	for _, c := range []struct {
		text   string
		before bool
		want   int
	}{{"first", true, 0}, {"first", false, 1}, {"One.", false, 2}, {"second", true, 2}, {"second", false, 3}} {
		e, err := fork(c.text, c.before)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.words(e.SessionKey); len(got) != c.want || e.Title != "first (fork)" || e.SessionKey == chat {
			t.Errorf("%q (before: %v): got %+v with %q, want %d messages", c.text, c.before, e, got, c.want)
		}
		if e.Settings.Approvals != nil || e.Settings.ThinkingLevel != "low" {
			t.Errorf("got settings %+v, want low and no approvals", e.Settings)
		}
	}
	g.send("/stop")
	g.end(run.RunID)
	if e, err := fork("Two.", false); err != nil || len(g.words(e.SessionKey)) < 5 {
		t.Errorf("got %q, error %v, want at least 5 messages", g.words(e.SessionKey), err)
	}
}
