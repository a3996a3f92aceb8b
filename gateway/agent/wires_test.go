package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/anthropic"
	"fairlead/gateway/llm/gemini"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/llm/ollama"
	"fairlead/gateway/llm/openai"
	"fairlead/gateway/protocol"
)

// dialect is one of the APIs of model servers.
type dialect struct {
	name   string
	open   func(llm.Options) llm.Model
	answer func(text, reason string) string // the body of an answer that ends with a reason
	tooBig llmtest.Reply                    // the refusal of a request that is too long
}

func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "data: %s\n\n", e)
	}
	return b.String()
}

var dialects = []dialect{
	{"anthropic", anthropic.New, func(text, reason string) string {
		block := ""
		if text != "" {
			block = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"` + text + `"}}`
		}
		return strings.ReplaceAll(sse(`{"type":"message_start","message":{"usage":{"input_tokens":1}}}`, block, `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"`+reason+`"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`), "data: \n\n", "")
	}, llmtest.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`}},
	{"chat", openai.New, func(text, reason string) string {
		return sse(`{"choices":[{"delta":{"content":"`+text+`"}}]}`, `{"choices":[{"delta":{},"finish_reason":"`+reason+`"}]}`, `[DONE]`)
	}, llmtest.Reply{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`}},
	{"responses", func(o llm.Options) llm.Model { o.Wire = "responses"; return openai.New(o) }, func(text, reason string) string {
		item := `{"type":"response.output_text.delta","delta":"` + text + `"}`
		if text == "" {
			item = `{"type":"response.in_progress"}`
		}
		return sse(item, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"`+reason+`"}}}`)
	}, llmtest.Reply{Status: 400, Body: `{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}`}},
	{"gemini", gemini.New, func(text, reason string) string {
		part := ""
		if text != "" {
			part = `{"text":"` + text + `"}`
		}
		return sse(`{"candidates":[{"content":{"role":"model","parts":[` + part + `]},"finishReason":"` + reason + `"}]}`)
	}, llmtest.Reply{Status: 400, Body: `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`}},
	{"ollama", ollama.New, func(text, reason string) string {
		return `{"message":{"role":"assistant","content":"` + text + `"},"done":false}` + "\n" + `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"` + reason + `"}` + "\n"
	}, llmtest.Reply{Status: 400, Body: `{"error":"the input length exceeds the context length"}`}},
}

// wireRun returns a run with a model that speaks a dialect.
func (d dialect) wireRun(b *book, w *llmtest.Wire) *Run {
	r := run(llmtest.Script(), b, nil)
	r.Model = d.open(llm.Options{BaseURL: "http://model.test", Model: "m", Key: "k", HTTP: w.Client()})
	r.Ref.ID = "m"
	return r
}

func TestEveryEndOfAnAnswerIsReported(t *testing.T) {
	t.Parallel()
	reasons := map[string][]string{
		"anthropic": {"max_tokens", "refusal", "pause_turn", "model_context_window_exceeded", "brand_new"},
		"chat":      {"length", "content_filter", "content-filter", "refusal", "sensitive", "brand_new"},
		"responses": {"max_output_tokens", "content_filter", "brand_new"},
		"gemini":    {"MAX_TOKENS", "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "OTHER", "BRAND_NEW"},
		"ollama":    {"length", "brand_new"},
	}
	for _, d := range dialects {
		for _, reason := range reasons[d.name] {
			for _, text := range []string{"The first half", ""} {
				t.Run(d.name+" "+reason+" "+text, func(t *testing.T) {
					t.Parallel()
					b := &book{}
					err := d.wireRun(b, llmtest.NewWire(llmtest.Reply{Body: d.answer(text, reason)})).Do(t.Context())
					if !errors.Is(err, protocol.ErrIncomplete) || strings.Contains(strings.ToLower(err.Error()), "try again") {
						t.Errorf("Do: got %v, want an incomplete answer, without the advice to try again", err)
					}
					var want []string
					if text != "" {
						want = []string{"assistant: " + text}
					}
					check(t, b.words(), want...)
				})
			}
		}
	}
}

func TestCompleteAnswersHaveNoNote(t *testing.T) {
	t.Parallel()
	for name, reasons := range map[string][]string{
		"anthropic": {"end_turn", "stop_sequence"}, "chat": {"stop", "eos", "COMPLETE", "tool_calls"}, "gemini": {"STOP"}, "ollama": {"stop", ""},
	} {
		for _, d := range dialects {
			if d.name != name {
				continue
			}
			for _, reason := range reasons {
				b := &book{}
				if err := d.wireRun(b, llmtest.NewWire(llmtest.Reply{Body: d.answer("All", reason)})).Do(t.Context()); err != nil {
					t.Errorf("%s, %s: got error %v, want none", name, reason, err)
				}
				check(t, b.words(), "assistant: All")
			}
		}
	}
}
