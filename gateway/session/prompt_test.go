package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

func TestMemoryIsUsedInPrivateChatsOnly(t *testing.T) {
	keys := []protocol.SessionKey{chat, newKey("main"), "agent:main:cron:job", "agent:main:heartbeat:system:internal", "agent:main:irc:group:1", "notes"}
	var steps []llmtest.Step
	for range keys {
		steps = append(steps, llmtest.Say("ok"))
	}
	g := withModel(t, steps...)
	if err := os.WriteFile(filepath.Join(g.home, "agents", "main", "MEMORY.md"), []byte("The alarm code is 1234"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		if _, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: key, Message: "Hi"}); err != nil {
			t.Fatal(err)
		}
		g.until(terminal)
		if got := strings.Contains(g.model.Requests()[i].System, "1234"); got != (i < 2) {
			t.Errorf("%s: got the memory in the prompt %v, want %v", key, got, i < 2)
		}
	}
}

func TestAnAgentHasItsOwnFilesModelAndPrompt(t *testing.T) {
	g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: &tooltest.Machine{}}
	g.cfg.Model.Provider, g.cfg.Model.ID, g.cfg.SystemPrompt = "test", "m", "You are everyone."
	g.cfg.Agents.List = []config.AgentEntry{{ID: "work", Model: &config.ModelConfig{Provider: "test", ID: "big", ThinkingLevel: "high"}, SystemPrompt: "You are the worker."}}
	g.open(llmtest.Say("ok"), llmtest.Say("ok"), llmtest.Say("ok"))
	const key = protocol.SessionKey("agent:work:main")
	send := func() {
		t.Helper()
		if _, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: key, Message: "Hi"}); err != nil {
			t.Fatal(err)
		}
		g.until(terminal)
	}
	send()
	if err := os.WriteFile(filepath.Join(g.home, "agents", "work", "USER.md"), []byte("Boss of the yard"), 0o600); err != nil {
		t.Fatal(err)
	}
	send()
	own, level := "You are the chat.", "low"
	if _, err := g.Patch(t.Context(), protocol.SessionPatchParams{SessionKey: key, Settings: &protocol.SessionPrefsPatch{SystemPrompt: &own, ThinkingLevel: &level}}); err != nil {
		t.Fatal(err)
	}
	send()
	r := g.model.Requests()
	if !strings.HasPrefix(r[0].System, "You are the worker.") || r[0].Thinking != "high" || strings.Contains(r[0].System, "Boss") {
		t.Errorf("got %q, %.80s, want the worker's prompt and high", r[0].Thinking, r[0].System)
	}
	if !strings.Contains(r[1].System, "Boss of the yard") || !strings.Contains(r[1].System, "Model: test/big") {
		t.Errorf("got %q, want the boss and the model", r[1].System)
	}
	if !strings.HasPrefix(r[2].System, own) || r[2].Thinking != "low" {
		t.Errorf("got %q, %.80s, want the chat's own prompt and low", r[2].Thinking, r[2].System)
	}
}

func TestEveryMessageOfThePersonSaysItsTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 7, 1, 22, 30, 0, 0, time.UTC).UnixMilli()
	text := protocol.Content{protocol.Text("hello")}
	in := []protocol.Message{
		{Role: protocol.RoleUser, Content: text, Timestamp: at},
		{Role: protocol.RoleAssistant, Content: text, Timestamp: at},
		{Role: protocol.RoleUser, Content: text, Timestamp: at, Origin: protocol.OriginDirect},
	}
	out := withTimes(in, berlin)
	if got := out[0].Content.Text(); got != "[Thu 2026-07-02 00:30 CEST]\nhello" {
		t.Errorf("got %q, want the local time before it", got)
	}
	if out[1].Content.Text() != "hello" || out[2].Content.Text() != "hello" || in[0].Content.Text() != "hello" {
		t.Errorf("got %+v of %+v, want times before new messages of the person alone", out, in)
	}
}
