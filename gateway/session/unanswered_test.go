package session

import (
	"strings"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

// TestARunThatNobodyAnswersComesToItsEnd: the agent gets the denial, the run continues without the
// call, and the next message is served.
func TestARunThatNobodyAnswersComesToItsEnd(t *testing.T) {
	for _, who := range []auth.Principal{auth.Schedule("Nightly"), auth.Schedule("heartbeat"), auth.ChannelSender("xmpp", "bob@x"), ann} {
		g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: &tooltest.Machine{}}
		g.cfg.Approvals.Timeout = 20
		g.open(llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("It was not made."), llmtest.Say("Here."))
		res, err := g.Send(t.Context(), who, protocol.ChatSendParams{SessionKey: chat, Message: "make it"})
		if err != nil {
			t.Fatal(err)
		}
		if e := g.end(res.RunID); e.State != protocol.ChatFinal {
			t.Errorf("%s: got %+v, want the answer", who, e)
		}
		g.end(g.send("still there?").RunID)
		words := g.words(chat)
		if len(words) != 6 || !strings.HasPrefix(words[2], "toolResult: Error: Nobody answered the question within 20 ms, so the call was not run.") ||
			strings.Contains(words[2], "do not request it again now") == (who.Kind == auth.KindOwner) || words[3] != "assistant: It was not made." || words[5] != "assistant: Here." {
			t.Errorf("%s: got %q, want an unanswered call and two answers", who, words)
		}
		if len(g.tower.Calls()) != 0 {
			t.Errorf("%s: got %d calls, want none", who, len(g.tower.Calls()))
		}
		g.checkNoUnfinishedRuns()
	}
}

// TestARunThatNobodyAnswersAsksOnce: later approvals of a scheduled run expire at once, and those
// of the person's own chat wait.
func TestARunThatNobodyAnswersAsksOnce(t *testing.T) {
	const before = "toolResult: Error: Nobody answered the previous question, so the person was not asked about this call, and it was not run."
	for _, who := range []auth.Principal{auth.Schedule("Nightly"), ann} {
		g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: &tooltest.Machine{}}
		g.cfg.Approvals.Timeout = 20
		g.open(llmtest.Call(bash, `{"command":"make"}`), llmtest.Call(bash, `{"command":"make install"}`), llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("It was not made."))
		res, err := g.Send(t.Context(), who, protocol.ChatSendParams{SessionKey: chat, Message: "make it"})
		if err != nil {
			t.Fatal(err)
		}
		if e := g.end(res.RunID); e.State != protocol.ChatFinal {
			t.Errorf("%s: got %+v, want the answer", who, e)
		}
		words := g.words(chat)
		if len(words) != 8 || strings.HasPrefix(words[4], before) != (who.Kind == auth.KindSchedule) || strings.HasPrefix(words[6], before) != (who.Kind == auth.KindSchedule) ||
			words[7] != "assistant: It was not made." {
			t.Errorf("%s: got %q, want the words for who asked", who, words)
		}
		g.checkNoUnfinishedRuns()
	}
}
