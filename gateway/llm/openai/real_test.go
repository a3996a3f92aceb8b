package openai

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmserver"
	"fairlead/gateway/protocol"
)

// outcome is what a stream gave, put together as an agent does.
type outcome struct {
	text, thinking string
	content        protocol.Content // thinking blocks with their signature, text, calls
	calls          []protocol.Block
	deltas         map[int]string
	bad            []string
	images         []protocol.Block
	usage          protocol.Usage
	retries        []llm.Retry
	stop           string
	err            error
}

func collect(ctx context.Context, m llm.Model, req llm.Request) outcome {
	o := outcome{deltas: map[int]string{}}
	for ev, err := range m.Stream(ctx, req) {
		if err != nil {
			o.err = err
			break
		}
		switch ev.Type {
		case llm.EventText:
			o.text += ev.Text
		case llm.EventThinking:
			o.thinking += ev.Text
		case llm.EventSignature:
			o.content = append(o.content, ev.Block)
		case llm.EventCallDelta:
			o.deltas[ev.Index] += ev.Text
		case llm.EventCall:
			o.calls = append(o.calls, ev.Block)
			o.bad = append(o.bad, ev.BadArgs)
		case llm.EventImage:
			o.images = append(o.images, ev.Block)
		case llm.EventUsage:
			o.usage = ev.Usage
		case llm.EventRetry:
			o.retries = append(o.retries, ev.Retry)
		case llm.EventStop:
			o.stop = ev.Stop
		}
	}
	if o.text != "" {
		o.content = append(o.content, protocol.Text(o.text))
	}
	o.content = append(o.content, o.calls...)
	return o
}

func user(text string) protocol.Message {
	return protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}}
}

func result(id, text string) protocol.Message {
	return protocol.Message{Role: protocol.RoleToolResult, ToolCallID: id, Content: protocol.Content{protocol.Text(text)}}
}

var tools = []llm.Tool{
	{Name: "laptop__Bash", Description: "Runs a command.", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)},
	{Name: "laptop__Glob", Description: "Finds files.", Schema: json.RawMessage(`{"type":"object","properties":{"pattern":{"type":"string"}},"required":["pattern"]}`)},
}

// wires are the ways to the real server.
var wires = map[string]func(Options) llm.Model{"chat": NewChat, "responses": NewResponses}

func TestRealServerThinksCallsAndAnswers(t *testing.T) {
	s := llmserver.Start(t)
	for name, open := range wires {
		t.Run(name, func(t *testing.T) {
			m := open(Options{BaseURL: s.URL, Model: llmserver.Model})
			req := llm.Request{System: "You are a test.", Messages: []protocol.Message{user("do two things")}, Tools: tools}
			first := collect(t.Context(), m, req)
			if first.err != nil || first.stop != llm.StopToolUse {
				t.Fatalf("stop %q: %v", first.stop, first.err)
			}
			if strings.TrimSpace(first.thinking) != "The user wants two things." || strings.TrimSpace(first.text) != "I will do both." {
				t.Errorf("thought %q, said %q", first.thinking, first.text)
			}
			if len(first.calls) != 2 || string(first.calls[0].Arguments) != `{"command":"echo hello from the model"}` || first.calls[1].Name != "laptop__Glob" {
				t.Fatalf("calls %+v", first.calls)
			}
			if first.deltas[0] == "" || first.calls[0].ID == "" || first.calls[0].ID == first.calls[1].ID {
				t.Errorf("deltas %q, ids %q and %q", first.deltas[0], first.calls[0].ID, first.calls[1].ID)
			}
			if first.usage.Input == 0 || first.usage.Output == 0 || first.usage.Estimated {
				t.Errorf("usage %+v", first.usage)
			}
			req.Messages = append(req.Messages,
				protocol.Message{Role: protocol.RoleAssistant, Content: first.content},
				result(first.calls[0].ID, "hello from the model"), result(first.calls[1].ID, "a.txt\nb.txt"))
			second := collect(t.Context(), m, req)
			if second.err != nil || second.stop != llm.StopEnd || second.text != "The tool answered: a.txt\nb.txt" {
				t.Errorf("stop %q, said %q: %v", second.stop, second.text, second.err)
			}
			if second.usage.CacheRead == 0 {
				t.Errorf("the prefix was not cached: %+v", second.usage)
			}
		})
	}
}

func TestRealServerStopsWithinTheLimit(t *testing.T) {
	s := llmserver.Start(t)
	for name, open := range wires {
		got := collect(t.Context(), open(Options{BaseURL: s.URL, Model: llmserver.Model}), llm.Request{Messages: []protocol.Message{user("forever")}, MaxTokens: 20})
		if got.err != nil || got.stop != llm.StopMaxTokens || !strings.HasPrefix(got.text, "On and on") {
			t.Errorf("%s: stop %q, said %q: %v", name, got.stop, got.text, got.err)
		}
	}
}

func TestRealServerIsCancelledAtOnce(t *testing.T) {
	s := llmserver.Start(t)
	for name, open := range wires {
		m := open(Options{BaseURL: s.URL, Model: llmserver.Model})
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
		cancel()
		if !errors.Is(last, context.Canceled) || time.Since(since) > time.Second {
			t.Errorf("%s: %v after %v", name, last, time.Since(since))
		}
		// The server has one slot: it answers again only when the first request is really gone.
		if got := collect(t.Context(), m, llm.Request{Messages: []protocol.Message{user("hi")}}); got.text == "" {
			t.Errorf("%s: no answer after a cancelled one: %v", name, got.err)
		}
	}
}

func TestRealServerThatDiesIsAnErrorAtOnce(t *testing.T) {
	for name, open := range wires {
		s := llmserver.Start(t)
		process, err := os.FindProcess(s.Pid)
		if err != nil {
			t.Fatal(err)
		}
		var last error
		killed := false
		for _, err := range open(Options{BaseURL: s.URL, Model: llmserver.Model}).Stream(t.Context(), llm.Request{Messages: []protocol.Message{user("forever")}}) {
			last = err
			if !killed {
				killed = true
				if err := process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !errors.Is(last, protocol.ErrModel) || !strings.Contains(last.Error(), "broke off") {
			t.Errorf("%s: %v", name, last)
		}
	}
}

func TestRealServerSaysWhenTheChatIsTooLong(t *testing.T) {
	s := llmserver.Start(t, llmserver.WithContext(4096))
	for name, open := range wires {
		got := collect(t.Context(), open(Options{BaseURL: s.URL, Model: llmserver.Model}), llm.Request{Messages: []protocol.Message{user(strings.Repeat("long ", 2000))}})
		if !errors.Is(got.err, protocol.ErrContextOverflow) {
			t.Errorf("%s: %v", name, got.err)
		}
	}
}

func TestRealServerRefusesImagesItCannotSee(t *testing.T) {
	s := llmserver.Start(t)
	picture := protocol.Block{Type: protocol.BlockImage, MimeType: "image/png", Data: "iVBORw0KGgo="}
	for name, open := range wires {
		got := collect(t.Context(), open(Options{BaseURL: s.URL, Model: llmserver.Model}), llm.Request{Messages: []protocol.Message{{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("look"), picture}}}})
		if !errors.Is(got.err, protocol.ErrModel) || len(got.retries) > 0 {
			t.Errorf("%s: %v, %d retries", name, got.err, len(got.retries))
		}
	}
}

func TestRealServerRefusesAWrongKey(t *testing.T) {
	s := llmserver.Start(t, llmserver.WithKey("right"))
	for name, open := range wires {
		for key, want := range map[string]error{"right": nil, "wrong": protocol.ErrModelAuth} {
			got := collect(t.Context(), open(Options{BaseURL: s.URL, Key: key, Model: llmserver.Model}), llm.Request{Messages: []protocol.Message{user("hi")}})
			if !errors.Is(got.err, want) {
				t.Errorf("%s with the %s key: %v", name, key, got.err)
			}
		}
	}
}
