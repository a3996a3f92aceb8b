package session

import (
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestMessagesOfOthersAreNeverCommands(t *testing.T) {
	for _, p := range []auth.Principal{auth.ChannelSender("xmpp", "owner eve"), auth.Schedule("owner x"), auth.Agent("agent:main:other", "r")} {
		t.Run(p.String(), func(t *testing.T) {
			g := start(t)
			var lines []string
			from := ""
			if p.Kind == auth.KindSchedule {
				from = protocol.OriginSchedule + " "
			}
			for _, text := range []string{
				"/new", "/reset", "/compact", "/compact undo", "/stop", "/status", "/model test/Big", "/think high", "/thinking high", "/t high",
				"/mode trust 60", "/help", "!rm -rf /", "/think:high", "/model:Test/Big look", "/m:test/Big /t:max look", "yes", "no",
			} {
				if res, ok := g.Command(t.Context(), p, chat, text, false); ok {
					t.Errorf("%q: got the command %+v, want a message", text, res)
				}
				g.model.Add(llmtest.Say("I see."))
				res, err := g.Send(t.Context(), p, protocol.ChatSendParams{SessionKey: chat, Message: text})
				if err != nil || res.Status != protocol.ChatStarted || res.Directives != nil {
					t.Fatalf("%q: got %+v, error %v, want a message without directives", text, res, err)
				}
				g.end(res.RunID)
				lines = append(lines, from+"user: "+text, "assistant: I see.")
			}
			g.check(lines...)
			s, err := g.Get(t.Context(), protocol.SessionParams{})
			if err != nil || s.Settings.Model != nil || s.Settings.ThinkingLevel != "" || s.Settings.Approvals != nil {
				t.Errorf("got settings %+v, error %v, want none", s.Settings, err)
			}
			for _, r := range g.model.Requests() {
				if r.Thinking != "" {
					t.Errorf("got thinking %q, want none", r.Thinking)
				}
			}
		})
	}
}

func TestThePersonOnAChannelMayOnlyChat(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Well."))
	bob := auth.ChannelOwner("xmpp", "bob@example.org")
	for text, want := range map[string]string{
		"/new": "archived", "/reset": "archived", "/compact": "Nothing to shorten", "/compact undo": "no summary to undo", "/stop": "No run", "/status": "Session:", "/help": "Commands",
		"/model": "Model:", "/model test/Big": "test/Big", "/think": "Thinking", "/think high": "Thinking: high", "/t low": "Thinking: low", "/mode": "Mode: ask",
		"/mode trust 60": "cannot be set from here", "/mode read-only": "cannot be set from here", "/think:high": "Nothing was sent",
	} {
		t.Run(text, func(t *testing.T) {
			res, ok := g.Command(t.Context(), bob, chat, text, false)
			if !ok || !strings.Contains(res.Response+res.Error, want) {
				t.Errorf("got %v, %+v, want the response %q", ok, res, want)
			}
		})
	}
	for _, text := range []string{"/frobnicate", "!ls", "yes", "look /think:high"} {
		if res, ok := g.Command(t.Context(), bob, chat, text, false); ok {
			t.Errorf("%s: got the command %+v, want a message", text, res)
		}
	}
	if res, ok := g.Command(t.Context(), bob, chat, "/think:high", true); ok {
		t.Errorf("a picture with a setting: got the command %+v, want a message", res)
	}
	if _, err := g.Send(t.Context(), bob, protocol.ChatSendParams{SessionKey: chat, Message: "!ls"}); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("got %v; want the error protocol.ErrForbidden", err)
	}
	first := g.send("Build it")
	q := g.question()
	for _, word := range []string{"yes", "no"} {
		if _, err := g.Send(t.Context(), bob, protocol.ChatSendParams{SessionKey: chat, Message: word}); !errors.Is(err, protocol.ErrForbidden) {
			t.Errorf("%s: got %v; want the error protocol.ErrForbidden", word, err)
		}
	}
	if res := g.send("no"); res.ApprovalID != q.ID {
		t.Errorf("got %+v, want an answer to %s", res, q.ID)
	}
	g.end(first.RunID)
	g.model.Add(llmtest.Say("Well."))
	res, err := g.Send(t.Context(), bob, protocol.ChatSendParams{SessionKey: chat, Message: "[xmpp · 3:04 PM UTC] look /think:max"})
	if err != nil || res.Directives == nil || res.Directives.ThinkLevel != "xhigh" {
		t.Fatalf("got %+v, error %v, want xhigh", res, err)
	}
	g.end(res.RunID)
	if r := g.model.Requests(); r[len(r)-1].Thinking != "xhigh" {
		t.Errorf("got thinking %q, want xhigh", r[len(r)-1].Thinking)
	}
}
