package session

import (
	"strings"
	"testing"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

// TestAPausedRunCanBeAnsweredAtOnce: a client that receives the paused event
// (docs/protocol.md#chat) finds the approval pending.
func TestAPausedRunCanBeAnsweredAtOnce(t *testing.T) {
	for range 5 {
		g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Well."))
		run := g.send("Build it").RunID
		g.until(func(c protocol.Change) bool {
			return c.Kind == protocol.ChangeChat && c.Chat.RunID != nil && *c.Chat.RunID == run && c.Chat.State == protocol.ChatWaiting
		})
		if res := g.send("no"); res.Status != protocol.ChatPaused || res.RunID != run {
			t.Fatalf("got %+v, want the paused run %s", res, run)
		}
		g.end(run)
	}
}

func TestAnAnswerMayNameItsQuestion(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Well."))
	first := g.send("Build it")
	q := g.question()
	res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: "yes another-id", Remind: true})
	if err != nil || !strings.Contains(res.Response, "was not sent") {
		t.Errorf("the id of another question: got %+v, %v, want a reminder", res, err)
	}
	if res := g.send("Yes " + string(q.ID)); res.Status != protocol.ChatPaused || res.ApprovalID != q.ID || !strings.Contains(res.Response, "approved") {
		t.Errorf("its id: got %+v, want it approved", res)
	}
	g.end(first.RunID)
	g.check("user: Build it", "assistant:  <call>", "toolResult: ok", "assistant: Well.")
}
