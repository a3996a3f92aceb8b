package llmserver

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/anthropic"
	"fairlead/gateway/llm/detect"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/llm/openai"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
)

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

// wires are the ways to the real server, openAIWires those of package openai.
var (
	wires       = map[string]func(llm.Options) llm.Model{"chat": openAIChat, "responses": openAIResponses, "anthropic": anthropic.New}
	openAIWires = map[string]func(llm.Options) llm.Model{"chat": openAIChat, "responses": openAIResponses}
)

func TestOpenAIModelThinksCallsAndAnswers(t *testing.T) {
	s := Start(t)
	for name, open := range openAIWires {
		t.Run(name, func(t *testing.T) {
			m := open(llm.Options{BaseURL: s.URL, Model: Model})
			req := llm.Request{System: "You are a test.", Messages: []protocol.Message{user("do two things")}, Tools: tools}
			first := llmtest.Collect(t.Context(), m, req)
			if first.Err != nil || first.Stop != llm.StopToolUse {
				t.Fatalf("stop %q: %v; want no Err and Stop StopToolUse", first.Stop, first.Err)
			}
			if strings.TrimSpace(first.Thinking) != "The user wants two things." || strings.TrimSpace(first.Text) != "I will do both." {
				t.Errorf("thought %q, said %q; want both texts of the script", first.Thinking, first.Text)
			}
			if len(first.Calls) != 2 || string(first.Calls[0].Arguments) != `{"command":"echo hello from the model"}` || first.Calls[1].Name != "laptop__Glob" {
				t.Fatalf("calls: got %+v; want length 2, Calls[0].Arguments `{\"command\":\"echo hello from the model\"}` and Calls[1].Name \"laptop__Glob\"", first.Calls)
			}
			if first.Deltas[0] == "" || first.Calls[0].ID == "" || first.Calls[0].ID == first.Calls[1].ID {
				t.Errorf("deltas %q, ids %q and %q; want a first delta, and two different ids", first.Deltas[0], first.Calls[0].ID, first.Calls[1].ID)
			}
			if first.Usage.Input == 0 || first.Usage.Output == 0 || first.Usage.Estimated {
				t.Errorf("usage: got %+v; want Usage.Input other than 0, Usage.Output other than 0 and not Usage.Estimated", first.Usage)
			}
			req.Messages = append(req.Messages,
				protocol.Message{Role: protocol.RoleAssistant, Content: first.Content},
				result(first.Calls[0].ID, "hello from the model"), result(first.Calls[1].ID, "a.txt\nb.txt"))
			second := llmtest.Collect(t.Context(), m, req)
			if second.Err != nil || second.Stop != llm.StopEnd || second.Text != "The tool answered: a.txt\nb.txt" {
				t.Errorf("stop %q, said %q: %v; want the tool's answer", second.Stop, second.Text, second.Err)
			}
			if second.Usage.CacheRead == 0 {
				t.Errorf("the prefix was not cached: %+v", second.Usage)
			}
		})
	}
}

func TestRealServerStopsWithinTheLimit(t *testing.T) {
	s := Start(t)
	for name, open := range wires {
		got := llmtest.Collect(t.Context(), open(llm.Options{BaseURL: s.URL, Model: Model}), llm.Request{Messages: []protocol.Message{user("forever")}, MaxTokens: 20})
		if got.Err != nil || got.Stop != llm.StopMaxTokens || !strings.HasPrefix(got.Text, "On and on") {
			t.Errorf("%s: stop %q, said %q: %v; want the cut text and the stop for length", name, got.Stop, got.Text, got.Err)
		}
	}
}

func TestRealServerIsFreeAfterCancelledAnswer(t *testing.T) {
	s := Start(t)
	for name, open := range wires {
		m := open(llm.Options{BaseURL: s.URL, Model: Model})
		ctx, cancel := context.WithCancel(t.Context())
		var last error
		for ev, err := range m.Stream(ctx, llm.Request{Messages: []protocol.Message{user("forever")}}) {
			if err != nil {
				last = err
			} else if ev.Type == llm.EventText {
				cancel()
			}
		}
		cancel()
		if !errors.Is(last, context.Canceled) {
			t.Fatalf("%s: the cancelled answer ended with %v, want context.Canceled", name, last)
		}
		// The server has one slot: it answers again only when the first request has really ended.
		if got := llmtest.Collect(t.Context(), m, llm.Request{Messages: []protocol.Message{user("hi")}}); got.Text == "" {
			t.Errorf("%s: no answer after a cancelled one: %v", name, got.Err)
		}
	}
}

func TestRealServerThatDiesIsAnErrorAtOnce(t *testing.T) {
	for name, open := range wires {
		s := Start(t)
		process, err := os.FindProcess(s.Pid)
		if err != nil {
			t.Fatal(err)
		}
		var last error
		killed := false
		for _, err := range open(llm.Options{BaseURL: s.URL, Model: Model}).Stream(t.Context(), llm.Request{Messages: []protocol.Message{user("forever")}}) {
			last = err
			if !killed {
				killed = true
				if err := process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !errors.Is(last, protocol.ErrModel) || !strings.Contains(last.Error(), "was interrupted") {
			t.Errorf(`%s: got %v; want error ErrModel and "was interrupted" in Error`, name, last)
		}
	}
}

func TestRealServerSaysWhenTheChatIsTooLong(t *testing.T) {
	s := Start(t, WithContext(4096))
	for name, open := range wires {
		got := llmtest.Collect(t.Context(), open(llm.Options{BaseURL: s.URL, Model: Model}), llm.Request{Messages: []protocol.Message{user(strings.Repeat("long ", 2000))}})
		if !errors.Is(got.Err, protocol.ErrContextOverflow) {
			t.Errorf("%s: got %v; want error ErrContextOverflow", name, got.Err)
		}
	}
}

func TestRealServerRefusesImagesItCannotSee(t *testing.T) {
	s := Start(t)
	picture := protocol.Block{Type: protocol.BlockImage, MimeType: "image/png", Data: "iVBORw0KGgo="}
	for name, open := range wires {
		got := llmtest.Collect(t.Context(), open(llm.Options{BaseURL: s.URL, Model: Model}), llm.Request{Messages: []protocol.Message{{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("look"), picture}}}})
		if !errors.Is(got.Err, protocol.ErrModel) || len(got.Retries) > 0 {
			t.Errorf("%s: %v, %d retries; want error ErrModel and no Retries", name, got.Err, len(got.Retries))
		}
	}
}

func TestRealServerRefusesAWrongKey(t *testing.T) {
	s := Start(t, WithKey("right"))
	for name, open := range wires {
		for key, want := range map[string]error{"right": nil, "wrong": protocol.ErrModelAuth} {
			t.Run(key, func(t *testing.T) {
				got := llmtest.Collect(t.Context(), open(llm.Options{BaseURL: s.URL, Key: key, Model: Model}), llm.Request{Messages: []protocol.Message{user("hi")}})
				if !errors.Is(got.Err, want) {
					t.Errorf("%s with the %s key: got %v, want %v", name, key, got.Err, want)
				}
			})
		}
	}
}

func TestModelsOfTheRealServer(t *testing.T) {
	s := Start(t, WithContext(8192))
	got, err := openai.Models(t.Context(), llm.Options{BaseURL: s.URL})
	want := []protocol.ModelInfo{{ID: Model, ContextWindow: 8192, Tools: true}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %v; want no error and %v", got, err, want)
	}
}

func TestRealServerIsFoundInAllItsStates(t *testing.T) {
	s := Start(t, WithContext(8192))
	got := detectedServer(t, s)
	if got.Provider != "llamacpp" || got.State != detect.Ready || len(got.Models) != 1 || got.Models[0].ContextWindow != 8192 || !got.Models[0].Tools {
		t.Errorf(`got %+v; want Provider "llamacpp", State Ready, Models of length 1, Models[0].ContextWindow 8192 and Models[0].Tools`, got)
	}
	s = Start(t, WithKey("secret"))
	if got := detectedServer(t, s); got.Provider != "llamacpp" || got.State != detect.NeedsKey {
		t.Errorf(`got %+v; want Provider "llamacpp" and State NeedsKey`, got)
	}
}

func detectedServer(t *testing.T, s *Server) protocol.DetectedServer {
	t.Helper()
	var list []protocol.DetectedServer
	polltest.Until(t, "the server is found", func() bool {
		list = detect.Scan(t.Context(), []string{strings.TrimPrefix(s.URL, "http://")})
		return len(list) == 1
	})
	return list[0]
}

func openAIChat(o llm.Options) llm.Model {
	o.Wire = "chat"
	return openai.New(o)
}

func openAIResponses(o llm.Options) llm.Model {
	o.Wire = "responses"
	return openai.New(o)
}
