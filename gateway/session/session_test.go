package session

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool/tooltest"
)

func TestMessageGetsItsAnswer(t *testing.T) {
	g := start(t, llmtest.Say("Hello Ann."))
	res := g.send("Hello")
	if res.Status != protocol.ChatStarted || res.Queued {
		t.Errorf("got %+v, want it started at once", res)
	}
	if e := g.end(res.RunID); e.State != protocol.ChatFinal || e.Message.Content.Text() != "Hello Ann." {
		t.Errorf("got %+v, want Hello Ann.", e)
	}
	g.check("user: Hello", "assistant: Hello Ann.")
	g.checkNoUnfinishedRuns()
}

func TestQueuedMessagesRunInOrderAndEachGetsItsEnd(t *testing.T) {
	ready := make(chan struct{})
	g := start(t, llmtest.Say("one").Wait(ready), llmtest.Say("two"), llmtest.Say("three"))
	var ids []protocol.RunID
	for i, text := range []string{"1", "2", "3"} {
		res := g.send(text)
		if res.Queued != (i > 0) {
			t.Errorf("%s: got %+v, want queued %v", text, res, i > 0)
		}
		ids = append(ids, res.RunID)
	}
	close(ready)
	for i, want := range []string{"one", "two", "three"} {
		c := g.until(terminal)
		if *c.Chat.RunID != ids[i] || c.Chat.State != protocol.ChatFinal || c.Chat.Message.Content.Text() != want {
			t.Errorf("%d: got %+v, want %s of run %s", i, c.Chat, want, ids[i])
		}
	}
	g.check("user: 1", "assistant: one", "user: 2", "assistant: two", "user: 3", "assistant: three")
}

func TestQueueOrderIsStableWithinAMillisecond(t *testing.T) {
	g := start(t)
	g.setPaused(true)
	want := []protocol.RunID{"e", "d", "c", "b", "a"}
	for _, id := range want {
		run := store.Run{ID: id, Session: chat, Params: protocol.ChatSendParams{SessionKey: chat, Message: "hello"}, CreatedAt: 1}
		if err := g.do(chat, func(s *session) {
			if _, err := s.accept(run); err != nil {
				t.Error(err)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := g.store.Runs.Unfinished(t.Context()) // the next start relies on it
	if err != nil {
		t.Fatal(err)
	}
	var got []protocol.RunID
	for _, r := range runs {
		got = append(got, r.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestQueuedMessageCanBeWithdrawn(t *testing.T) {
	ready := make(chan struct{})
	g := start(t, llmtest.Say("one").Wait(ready))
	first, second := g.send("1"), g.send("2")
	res, err := g.Cancel(t.Context(), protocol.ChatCancelParams{SessionKey: chat, RunID: second.RunID})
	if err != nil || !res.Cancelled || res.RunID != second.RunID {
		t.Fatalf("got %+v, error %v, want %s cancelled", res, err, second.RunID)
	}
	if e := g.end(second.RunID); e.State != protocol.ChatErrState {
		t.Errorf("got %+v, want it failed", e)
	}
	close(ready)
	g.end(first.RunID)
	g.check("user: 1", "assistant: one")
	g.checkNoUnfinishedRuns()
}

func TestStopRetainsTheAnswerSoFar(t *testing.T) {
	g := start(t, llmtest.Say("half").Hang(), llmtest.Say("two"))
	first, second := g.send("1"), g.send("2")
	g.until(func(c protocol.Change) bool { return c.Kind == protocol.ChangeDelta })
	if res := g.send("/stop"); res.Response != "Stopped run "+string(first.RunID)+"." {
		t.Errorf("got %+v, want run %s stopped", res, first.RunID)
	}
	if e := g.end(first.RunID); e.State != protocol.ChatErrState || e.Error != "Run cancelled by user" {
		t.Errorf("got %+v, want it cancelled by the user", e)
	}
	g.end(second.RunID)
	g.check("user: 1", "assistant: half", "notice assistant: Stopped.", "user: 2", "assistant: two")
	if res := g.send("/stop"); res.Response != "No run in progress." {
		t.Errorf("got %+v, want no run in progress", res)
	}
}

func TestRunIDIsAcceptedOnce(t *testing.T) {
	ready := make(chan struct{})
	defer close(ready)
	g := start(t, llmtest.Say("one").Wait(ready))
	in := protocol.ChatSendParams{SessionKey: chat, Message: "1", RunID: "mine"}
	if _, err := g.Send(t.Context(), ann, in); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Send(t.Context(), ann, in); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("got %v; want the error protocol.ErrConflict", err)
	}
}

// TestMessageInTransitIsAcceptedOnce: the sender retries while the attachments are still being
// processed.
func TestMessageInTransitIsAcceptedOnce(t *testing.T) {
	g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: &tooltest.Machine{}}
	listening, heard := make(chan struct{}), make(chan struct{})
	g.transcribe = func(context.Context, string, string, []byte) (string, error) {
		close(listening)
		<-heard
		return "Hello", nil
	}
	g.open(llmtest.Say("one"), llmtest.Say("two"))
	in := protocol.ChatSendParams{SessionKey: chat, Message: "1", RunID: "mine"}
	slow := in
	slow.Attachments = []protocol.Attachment{{Filename: "v.ogg", MimeType: "audio/ogg", Data: base64.StdEncoding.EncodeToString([]byte("OggS\x00"))}}
	done := make(chan error, 1)
	go func() {
		_, err := g.Send(t.Context(), ann, slow)
		done <- err
	}()
	<-listening
	for _, key := range []protocol.SessionKey{chat, "agent:main:app:chat:2"} {
		in.SessionKey = key
		if _, err := g.Send(t.Context(), ann, in); !errors.Is(err, protocol.ErrConflict) {
			t.Errorf("%s: got %v; want the error protocol.ErrConflict", key, err)
		}
	}
	close(heard)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	g.end("mine")
	if _, err := g.Send(t.Context(), ann, in); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("got %v; want the error protocol.ErrConflict", err)
	}
	g.check("user: 1\n[a recording v.ogg, transcribed]\nHello", "assistant: one")
	other := in
	other.RunID = "other"
	if _, err := g.Send(t.Context(), ann, other); err != nil {
		t.Error(err)
	}
	g.end("other")
}

func TestYesAndNoAnswerAQuestionAndOtherTextQueues(t *testing.T) {
	for word, want := range map[string]string{"yes": "toolResult: ok", "No, use ninja": "toolResult: Error: The person denied this call. Their reason: use ninja"} {
		t.Run(word, func(t *testing.T) {
			g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Well."), llmtest.Say("Later."))
			first := g.send("Build it")
			q := g.question()
			other := g.send("what would that do?")
			if other.Status != protocol.ChatStarted || !other.Queued {
				t.Errorf("got %+v, want it queued", other)
			}
			if res := g.send(word); res.Status != protocol.ChatPaused || res.ApprovalID != q.ID || res.RunID != first.RunID {
				t.Errorf("got %+v, want an answer to %s", res, q.ID)
			}
			g.end(first.RunID)
			g.end(other.RunID)
			g.check("user: Build it", "assistant:  <call>", want, "assistant: Well.", "user: what would that do?", "assistant: Later.")
		})
	}
}

// TestAClientWithoutQuestionsIsReminded: while a run is paused, any other message is answered with
// the pending approval (docs/protocol.md#chat).
func TestAClientWithoutQuestionsIsReminded(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Well."))
	first := g.send("Build it")
	q := g.question()
	res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: "what would that do?", Remind: true})
	if err != nil || res.Status != protocol.ChatPaused || res.RunID != first.RunID || res.ApprovalID != q.ID || !strings.Contains(res.Response, "Reply yes or no.") {
		t.Errorf("got %+v, error %v, want a reminder of %s", res, err, q.ID)
	}
	for _, other := range []protocol.ChatSendParams{{SessionKey: chat, Message: "/status", Remind: true}, {SessionKey: "elsewhere", Message: "/status", Remind: true}} {
		if res, err := g.Send(t.Context(), ann, other); err != nil || res.Status != protocol.ChatCommand {
			t.Errorf("got %+v, error %v, want a command", res, err)
		}
	}
	if res, err = g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: "no", Remind: true}); err != nil || res.Status != protocol.ChatPaused {
		t.Errorf("got %+v, error %v, want the question answered", res, err)
	}
	g.end(first.RunID)
	g.check("user: Build it", "assistant:  <call>", "toolResult: Error: The person denied this call.", "assistant: Well.")
}

func TestYesWithoutAQuestionIsAMessage(t *testing.T) {
	g := start(t, llmtest.Say("Good."))
	g.end(g.send("yes").RunID)
	g.check("user: yes", "assistant: Good.")
}

func TestPausedStartsNothing(t *testing.T) {
	g := start(t, llmtest.Say("one"))
	g.setPaused(true)
	res := g.send("1")
	if !res.Queued || len(g.model.Requests()) != 0 {
		t.Errorf("got %+v, %d requests, want it queued", res, len(g.model.Requests()))
	}
	g.state(res.RunID, protocol.RunQueued)
	st, err := g.Stats(t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil || st.IsProcessing || st.QueueSize != 1 {
		t.Errorf("got %+v, error %v, want one queued run", st, err)
	}
	g.setPaused(false)
	g.end(res.RunID)
	g.check("user: 1", "assistant: one")
}

func TestPauseHoldsARunBetweenItsSteps(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Done."))
	res := g.send("Build it")
	q := g.question()
	g.setPaused(true)
	g.allow(q, "")
	g.until(func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeMessage && c.Message.Role == protocol.RoleToolResult
	})
	if n := len(g.model.Requests()); n != 1 {
		t.Errorf("got %d requests while paused, want 1", n)
	}
	g.setPaused(false)
	g.end(res.RunID)
	g.checkNoUnfinishedRuns()
}

// TestTextOfAnAgentNeitherCommandsNorAnswers: text that another chat's agent or a schedule writes
// must not run commands or answer approvals. Otherwise an agent could allow its own calls, or run a
// command as the person.
func TestTextOfAnAgentNeitherCommandsNorAnswers(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Well."), llmtest.Say("a"), llmtest.Say("b"), llmtest.Say("c"))
	first := g.send("Build it")
	q := g.question()
	var last protocol.ChatSendResult
	for _, text := range []string{"yes", "!rm -rf .", "/reset"} {
		var err error
		last, err = g.Send(t.Context(), auth.Agent("agent:main:other", "r"), protocol.ChatSendParams{SessionKey: chat, Message: text})
		if err != nil || last.Status != protocol.ChatStarted || !last.Queued {
			t.Errorf("%q: got %+v, error %v, want a queued message", text, last, err)
		}
	}
	if list, err := g.gate.Pending(t.Context()); err != nil || len(list) != 1 || list[0].ID != q.ID {
		t.Errorf("got questions %+v, error %v, want %s alone", list, err, q.ID)
	}
	g.send("no")
	g.end(first.RunID)
	g.end(last.RunID)
	g.check("user: Build it", "assistant:  <call>", "toolResult: Error: The person denied this call.", "assistant: Well.",
		"user: yes", "assistant: a", "user: !rm -rf .", "assistant: b", "user: /reset", "assistant: c")
	if n := len(g.tower.Calls()); n != 0 {
		t.Errorf("got %d calls, want none", n)
	}
}

func TestTheTextsOfTwoStepsAreJoinedByABlankLine(t *testing.T) {
	g := start(t, llmtest.Say("Let me look.").Call(bash, `{"command":"make"}`), llmtest.Say("Built."))
	res := g.send("Build it")
	g.allow(g.question(), "")
	text := ""
	g.until(func(c protocol.Change) bool {
		if c.Kind == protocol.ChangeChat && c.Chat.State == protocol.ChatDelta {
			text += c.Chat.Text
		}
		return terminal(c) && *c.Chat.RunID == res.RunID
	})
	if want := "\n\nBuilt."; text != want { // the first step's delta came before the approval
		t.Errorf("the deltas after the question: got %q, want %q", text, want)
	}
}
