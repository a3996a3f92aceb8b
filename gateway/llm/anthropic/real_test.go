package anthropic

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmserver"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

var realTools = []llm.Tool{
	{Name: "laptop__Bash", Description: "Runs a command.", Schema: []byte(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)},
	{Name: "laptop__Glob", Description: "Finds files.", Schema: []byte(`{"type":"object","properties":{"pattern":{"type":"string"}},"required":["pattern"]}`)},
}

func realResult(id, text string) protocol.Message {
	return protocol.Message{Role: protocol.RoleToolResult, ToolCallID: id, Content: protocol.Content{protocol.Text(text)}}
}

func TestRealServerThinksCallsAndAnswers(t *testing.T) {
	s := llmserver.Start(t)
	m := New(llm.Options{BaseURL: s.URL, Model: llmserver.Model})
	for prompt, want := range map[string]struct {
		text, args string
		calls      int
	}{
		"run uname -a":      {"I will run it.", `{"command":"uname -a"}`, 1},
		"do two things":     {"I will do both.", `{"command":"echo hello from the model"}`, 2},
		"say Ahoy, captain": {"Ahoy, captain", "", 0},
	} {
		req := llm.Request{System: "You are a test.", Messages: []protocol.Message{user(prompt)}, Tools: realTools}
		first := llmtest.Collect(t.Context(), m, req)
		if first.Err != nil || strings.TrimSpace(first.Text) != want.text || len(first.Calls) != want.calls {
			t.Fatalf("%s: %+v", prompt, first)
		}
		if first.Usage.Output == 0 || first.Usage.Total != first.Usage.Input+first.Usage.Output+first.Usage.CacheRead+first.Usage.CacheWrite {
			t.Errorf("%s: usage %+v", prompt, first.Usage)
		}
		if want.calls == 0 {
			if first.Stop != llm.StopEnd {
				t.Errorf("%s: stop %q", prompt, first.Stop)
			}
			continue
		}
		if first.Stop != llm.StopToolUse || first.Thinking == "" || strings.ReplaceAll(string(first.Calls[0].Arguments), `": "`, `":"`) != want.args {
			t.Fatalf("%s: %+v", prompt, first)
		}
		req.Messages = append(req.Messages, protocol.Message{Role: protocol.RoleAssistant, Content: first.Content})
		for i, c := range first.Calls {
			if c.ID == "" || i > 0 && c.ID == first.Calls[0].ID {
				t.Errorf("%s: ids %+v", prompt, first.Calls)
			}
			req.Messages = append(req.Messages, realResult(c.ID, "the result"))
		}
		second := llmtest.Collect(t.Context(), m, req)
		if second.Err != nil || second.Stop != llm.StopEnd || second.Text != "The tool answered: the result" {
			t.Errorf("%s: after the results %+v", prompt, second)
		}
	}
}

func TestRealServerStopsWithinTheLimit(t *testing.T) {
	s := llmserver.Start(t)
	a := llmtest.Collect(t.Context(), New(llm.Options{BaseURL: s.URL, Model: llmserver.Model}), llm.Request{Messages: []protocol.Message{user("forever")}, MaxTokens: 20})
	if a.Err != nil || a.Stop != llm.StopMaxTokens || a.Text == "" {
		t.Errorf("%+v", a)
	}
}

func TestRealServerIsCancelledAtOnce(t *testing.T) {
	s := llmserver.Start(t)
	m := New(llm.Options{BaseURL: s.URL, Model: llmserver.Model})
	took := time.Hour
	// other programs may delay it: once is enough
	for end := time.Now().Add(2 * time.Minute); took > time.Second && time.Now().Before(end); {
		ctx, cancel := context.WithCancel(t.Context())
		var since time.Time
		var last error
		for ev, err := range m.Stream(ctx, llm.Request{Messages: []protocol.Message{user("forever")}}) {
			if err != nil {
				last = err
			} else if ev.Type == llm.EventText && since.IsZero() {
				since = time.Now()
				cancel()
			}
		}
		took = time.Since(since)
		cancel()
		if !errors.Is(last, context.Canceled) {
			t.Fatal(last)
		}
	}
	if took > time.Second {
		t.Errorf("it took %v", took)
	}
	// The server has one slot: it answers again only when the first request has really ended.
	if a := llmtest.Collect(t.Context(), m, llm.Request{Messages: []protocol.Message{user("say hi")}}); a.Text == "" {
		t.Error("no answer after a cancelled one:", a.Err)
	}
}

func TestRealServerSaysWhatIsWrong(t *testing.T) {
	s := llmserver.Start(t, llmserver.WithContext(4096), llmserver.WithKey("right"))
	long := llm.Request{Messages: []protocol.Message{user(strings.Repeat("long ", 2000))}}
	if a := llmtest.Collect(t.Context(), New(llm.Options{BaseURL: s.URL, Key: "right", Model: llmserver.Model}), long); !errors.Is(a.Err, protocol.ErrContextOverflow) {
		t.Error("too long:", a.Err)
	}
	a := llmtest.Collect(t.Context(), New(llm.Options{BaseURL: s.URL, Key: "wrong", Model: llmserver.Model}), hello)
	if !errors.Is(a.Err, protocol.ErrModelAuth) || len(a.Retries) > 0 {
		t.Error("wrong key:", a.Err)
	}
}
