package agent

import (
	"errors"
	"fmt"
	"slices"
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
func (d dialect) wireRun(b *fakeHistory, w *llmtest.Wire) *Run {
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
					b := &fakeHistory{}
					err := d.wireRun(b, llmtest.NewWire(llmtest.Reply{Body: d.answer(text, reason)})).Do(t.Context())
					if !errors.Is(err, protocol.ErrIncomplete) || strings.Contains(strings.ToLower(err.Error()), "try again") {
						t.Errorf("Do: got %v, want an incomplete answer, without the advice to try again", err)
					}
					var want []string
					if text != "" {
						want = []string{"assistant: " + text}
					}
					words := slices.DeleteFunc(b.words(), func(w string) bool { return strings.Contains(w, "left out of later requests") })
					check(t, words, want...)
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
				b := &fakeHistory{}
				if err := d.wireRun(b, llmtest.NewWire(llmtest.Reply{Body: d.answer("All", reason)})).Do(t.Context()); err != nil {
					t.Errorf("%s, %s: got error %v, want none", name, reason, err)
				}
				check(t, b.words(), "assistant: All")
			}
		}
	}
}

// TestLongMessageIsShortened: the request that is too long is not sent again with every message.
func TestLongMessageIsShortened(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			end := map[string]string{"anthropic": "end_turn", "responses": "completed", "gemini": "STOP"}[d.name]
			if end == "" {
				end = "stop"
			}
			w, b := llmtest.NewWire(d.tooBig, d.tooBig, llmtest.Reply{Body: d.answer("Fine", end)}), &fakeHistory{}
			r := d.wireRun(b, w)
			long := strings.Repeat("pasted log line ", 4000)
			r.History[0].Content = protocol.Content{protocol.Text(long)}
			if err := r.Do(t.Context()); err != nil {
				t.Fatalf("Do: got %v, want an answer", err)
			}
			if len(b.msgs) != 2 || b.msgs[0].Origin != protocol.OriginNotice || !strings.Contains(b.msgs[0].Content.Text(), "too long for m") || b.msgs[1].Content.Text() != "Fine" {
				t.Errorf("messages: got %q, want one notice and the answer", b.words())
			}
			if r.History[0].Content.Text() != long {
				t.Error("the stored message was changed")
			}
			asked := w.Asked()
			if len(asked[2].Body) > len(long)/2 || !strings.Contains(asked[2].Body, "left out") {
				t.Errorf("the third request has %d bytes, want less than half of the message", len(asked[2].Body))
			}
			// the next message is sent with the shortened one, and without another notice
			again := d.wireRun(&fakeHistory{}, w)
			again.History = append(r.History, protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("next")}})
			next := again.Conversation.(*fakeHistory)
			if err := again.Do(t.Context()); err != nil {
				t.Fatalf("the next message: got %v, want an answer", err)
			}
			check(t, next.words(), "assistant: Fine")
			if n := len(w.Asked()); n != 4 {
				t.Errorf("requests: got %d, want 4", n)
			}
		})
	}
}

func TestRefusedPartsAreLeftOut(t *testing.T) {
	t.Parallel()
	picture := protocol.Block{Type: protocol.BlockImage, Data: strings.Repeat("QUJD", 2000), MimeType: "image/png"}
	user := func(c ...protocol.Block) protocol.Message {
		return protocol.Message{Role: protocol.RoleUser, Content: c}
	}
	called := []protocol.Message{
		{Role: protocol.RoleAssistant, Content: protocol.Content{
			{Type: protocol.BlockThinking, Thinking: "hm", Signature: "forged"}, {Type: protocol.BlockToolCall, ID: "c", Name: "box__Bash", Arguments: []byte(`{"command":"ls"}`)},
		}},
		{Role: protocol.RoleToolResult, ToolCallID: "c", ToolName: "box__Bash", Content: protocol.Content{protocol.Text("a.txt")}},
	}
	for _, c := range []struct {
		name, refusal string
		status        int
		history       []protocol.Message
		gone, notice  string
	}{
		{"bad picture", `{"error":{"message":"Could not process image"}}`, 400, []protocol.Message{user(picture)}, "QUJD", "refused the pictures"},
		{"media type", `{"error":{"message":"Unsupported MIME type: image/tiff"}}`, 400, []protocol.Message{user(picture)}, "QUJD", "refused the pictures"},
		{"too many pictures", `{"error":{"message":"too many images: at most 5 may be provided in one request"}}`, 400, []protocol.Message{user(picture)}, "QUJD", "refused the pictures"},
		{"too large for a proxy", `<html>413 Request Entity Too Large</html>`, 413, []protocol.Message{user(picture)}, "QUJD", "too large"},
		{"tool by name", `{"error":{"message":"Invalid schema for function 'srv__bad': None is not of type 'array'."}}`, 400, nil, "srv__bad", "srv__bad cannot be used"},
		{"tool by number", `{"error":{"message":"tools.1.custom.input_schema: JSON schema is invalid"}}`, 400, nil, "srv__bad", "srv__bad cannot be used"},
		{"some tool", `{"error":{"message":"Invalid tool definition"}}`, 400, nil, "srv__bad", "srv__bad cannot be used"},
		{"signature", `{"error":{"message":"messages.1.content.0: Invalid signature in thinking block"}}`, 400, append([]protocol.Message{user(protocol.Text("x"))}, called...), "forged", "earlier thoughts"},
		{"pairs", `{"error":{"message":"An assistant message with 'tool_calls' must be followed by tool messages"}}`, 400, append([]protocol.Message{user(protocol.Text("x"))}, called...), `"tool_calls"`, "as text"},
		{"long result", `{"error":{"message":"context_length_exceeded"}}`, 400, []protocol.Message{user(protocol.Text("x")), called[0], {Role: protocol.RoleToolResult, ToolCallID: "c", ToolName: "box__Bash", Content: protocol.Content{protocol.Text(strings.Repeat("long ", 6000))}}}, strings.Repeat("long ", 4000), "The result of box__Bash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := dialects[1]
			w, b := llmtest.NewWire(llmtest.Reply{Status: c.status, Body: c.refusal}, llmtest.Reply{Body: d.answer("Fine", "stop")}), &fakeHistory{}
			r := d.wireRun(b, w)
			r.Info.Images = true
			r.Tools = func() []protocol.ToolSpec {
				return []protocol.ToolSpec{{Name: "box__Bash"}, {Name: "srv__bad", Server: "srv"}}
			}
			if c.history != nil {
				r.History = c.history
			}
			if err := r.Do(t.Context()); err != nil {
				t.Fatalf("Do: got %v, want an answer", err)
			}
			if len(b.msgs) != 2 || !strings.Contains(b.msgs[0].Content.Text(), c.notice) {
				t.Errorf("messages: got %q, want one notice with %q", b.words(), c.notice)
			}
			for i, body := range []string{w.Asked()[0].Body, w.Asked()[1].Body} {
				if has := strings.Contains(body, c.gone); has != (i == 0) && c.name != "signature" {
					t.Errorf("request %d contains the refused part: %v", i+1, has)
				}
			}
			before := len(w.Asked())
			next := &fakeHistory{}
			r2 := d.wireRun(next, w)
			r2.Info.Images, r2.Tools = true, r.Tools
			r2.History = append(r.History, user(protocol.Text("next")))
			if err := r2.Do(t.Context()); err != nil || len(w.Asked()) != before+1 {
				t.Errorf("the next message: got error %v after %d requests, want one request", err, len(w.Asked())-before)
			}
			check(t, next.words(), "assistant: Fine")
		})
	}
}

func TestOverlongInstructionsFailTheRun(t *testing.T) {
	t.Parallel()
	d := dialects[1]
	r := d.wireRun(&fakeHistory{}, llmtest.NewWire(d.tooBig))
	r.System = strings.Repeat("rule ", 9000)
	err := r.Do(t.Context())
	if !errors.Is(err, protocol.ErrContextOverflow) || !strings.Contains(err.Error(), "instructions") {
		t.Errorf("unknown window: got %v, want what is too long", err)
	}
	r = d.wireRun(&fakeHistory{}, llmtest.NewWire())
	r.System, r.Info.ContextWindow = strings.Repeat("rule ", 9000), 8192
	if err := r.Do(t.Context()); !errors.Is(err, protocol.ErrContextOverflow) || !strings.Contains(err.Error(), "instructions") {
		t.Errorf("known window: got %v, want what is too long", err)
	}
}

func TestLongMessageFitsAKnownWindow(t *testing.T) {
	t.Parallel()
	d, b := dialects[1], &fakeHistory{}
	w := llmtest.NewWire(llmtest.Reply{Body: d.answer("Fine", "stop")})
	r := d.wireRun(b, w)
	r.Info.ContextWindow = 8192
	r.History[0].Content = protocol.Content{protocol.Text(strings.Repeat("pasted log line ", 4000))}
	if err := r.Do(t.Context()); err != nil || len(w.Asked()) != 1 || len(b.msgs) != 2 {
		t.Errorf("got error %v, %d requests and %q, want one request, a notice and an answer", err, len(w.Asked()), b.words())
	}
}
