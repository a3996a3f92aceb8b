package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestOverlappingBlocksOfLlamaServerStayInOrder(t *testing.T) {
	body := events(start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Look."}}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"x__Bash","input":{}}}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"b","name":"x__Bash","input":{}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"n\":2}"}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1}"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":""}}`,
		`{"type":"content_block_stop","index":0}`, `{"type":"content_block_stop","index":1}`, `{"type":"content_block_stop","index":2}`, `{"type":"content_block_stop","index":3}`,
		stopEvent("tool_use"), stop)
	w := llmtest.NewWire(llmtest.Reply{Body: body})
	m := New(options(w))
	a := llmtest.Collect(t.Context(), m, hello)
	if a.Err != nil || len(a.Content) != 4 || a.Content[0].Thinking != "Hm." || a.Content[1].Text != "Look." ||
		string(a.Content[2].Arguments) != `{"n":1}` || string(a.Content[3].Arguments) != `{"n":2}` {
		t.Fatalf("got %+v; want thinking, text and two calls with their arguments", a)
	}
	// An empty signature never goes back.
	req := hello
	req.Messages = append(req.Messages, protocol.Message{Role: protocol.RoleAssistant, Content: a.Content})
	llmtest.Collect(t.Context(), m, req)
	if sent := w.Asked()[1].Body; strings.Contains(sent, `"signature"`) || !strings.Contains(sent, "Look.") {
		t.Errorf("got %v; want no `\"signature\"` and \"Look.\" in it", sent)
	}
}

func TestSignedThoughtsGoBackUnchangedToTheirModelOnly(t *testing.T) {
	w := llmtest.NewWire(llmtest.Reply{Body: whole})
	m := New(options(w))
	first := llmtest.Collect(t.Context(), m, hello)
	req := llm.Request{
		System: "Be brief.",
		Tools:  []llm.Tool{{Name: "laptop__Bash", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"$defs":{"x":{}}}`)}, {Name: "laptop__Glob"}},
		Messages: []protocol.Message{
			user("hello"),
			{Role: protocol.RoleAssistant, Content: first.Content},
			{Role: protocol.RoleToolResult, ToolCallID: "toolu_1", Content: protocol.Content{protocol.Text("ok"), {Type: protocol.BlockImage, Data: "aGk=", MimeType: "image/png"}}},
			{Role: protocol.RoleToolResult, ToolCallID: "toolu_2", IsError: true, Content: protocol.Content{protocol.Text("")}},
		},
	}
	checkWhole(t, llmtest.Collect(t.Context(), m, req))
	golden := `{"max_tokens":64000,"messages":[
		{"content":[{"text":"hello","type":"text"}],"role":"user"},
		{"content":[{"signature":"EqQB=","thinking":"Let me läok 🚢.","type":"thinking"},{"data":"hidden==","type":"redacted_thinking"},{"text":"I will look.","type":"text"},
			{"id":"toolu_1","input":{"command":"ls -la"},"name":"laptop__Bash","type":"tool_use"},{"id":"toolu_2","input":{},"name":"laptop__Glob","type":"tool_use"}],"role":"assistant"},
		{"content":[{"tool_use_id":"toolu_1","content":[{"text":"ok","type":"text"},{"source":{"data":"aGk=","media_type":"image/png","type":"base64"},"type":"image"}],"type":"tool_result"},
			{"tool_use_id":"toolu_2","is_error":true,"cache_control":{"type":"ephemeral"},"content":[{"text":"(no output)","type":"text"}],"type":"tool_result"}],"role":"user"}],
		"model":"claude-opus-4-6","system":[{"text":"Be brief.","cache_control":{"type":"ephemeral"},"type":"text"}],"thinking":{"display":"summarized","type":"adaptive"},
		"tools":[{"input_schema":{"properties":{"command":{"type":"string"}},"required":["command"],"$defs":{"x":{}},"type":"object"},"name":"laptop__Bash"},
			{"input_schema":{"properties":{},"type":"object"},"name":"laptop__Glob","cache_control":{"type":"ephemeral"}}],"stream":true}`
	llmtest.SameJSON(t, w.Asked()[1].Body, golden)

	other := options(w)
	other.Model = "claude-opus-4-8"
	llmtest.Collect(t.Context(), New(other), req)
	if sent := w.Asked()[2].Body; strings.Contains(sent, "EqQB") || strings.Contains(sent, "hidden==") {
		t.Error("another model was sent the thoughts:", sent)
	}
}

func TestThinkingIsAskedForAsTheModelWantsIt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ model, level, want string }{
		{"claude-opus-4-6", "", `"thinking":{"display":"summarized","type":"adaptive"}`},
		{"claude-opus-4-6", "high", `"output_config":{"effort":"high"}`},
		{"claude-sonnet-5-5", "minimal", `"output_config":{"effort":"low"}`},
		{"claude-opus-4-6", "none", `"thinking":{"type":"disabled"}`},
		{"claude-haiku-4-5-20251001", "medium", `"thinking":{"budget_tokens":10000,"type":"enabled"}`},
		{"claude-sonnet-4-5", "", ""},
		{"claude-sonnet-4-5", "none", ""},
		{"llama", "low", `"budget_tokens":4096`},
	} {
		t.Run(tc.model+" "+tc.level, func(t *testing.T) {
			t.Parallel()
			w := llmtest.NewWire(llmtest.Reply{Body: whole})
			o := options(w)
			o.Model = tc.model
			req := hello
			req.Thinking = tc.level
			llmtest.Collect(t.Context(), New(o), req)
			sent := w.Asked()[0].Body
			if tc.want != "" && !strings.Contains(sent, tc.want) || tc.want == "" && strings.Contains(sent, "thinking") {
				t.Errorf("sent %s, want %q in it", sent, tc.want)
			}
		})
	}
}

func TestRefusedWayOfThinkingIsNotAskedForAgain(t *testing.T) {
	no := func(text string) llmtest.Reply {
		return llmtest.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"` + text + `"}}`}
	}
	w := llmtest.NewWire(no("output_config.effort: 'xhigh' is not supported"), no("adaptive thinking is not supported on this model"), llmtest.Reply{Body: whole})
	m := New(options(w))
	req := hello
	req.Thinking = "xhigh"
	checkWhole(t, llmtest.Collect(t.Context(), m, req))
	checkWhole(t, llmtest.Collect(t.Context(), m, req))
	asked := w.Asked()
	if len(asked) != 4 || !strings.Contains(asked[1].Body, `"effort":"high"`) || !strings.Contains(asked[2].Body, `"budget_tokens":32000`) || !strings.Contains(asked[3].Body, "budget_tokens") {
		t.Errorf("%d requests: %v; want length 4, `\"effort\":\"high\"` in asked[1].Body, `\"budget_tokens\":32000` in asked[2].Body and \"budget_tokens\" in asked[3].Body", len(asked), asked)
	}
}

func TestAnswerIsAskedShorterWhereTheServerSaysSo(t *testing.T) {
	no := func(text string) llmtest.Reply {
		return llmtest.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"` + text + `"}}`}
	}
	w := llmtest.NewWire(
		no("max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens for claude-opus-4-6"),
		no("input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again"),
		llmtest.Reply{Body: whole}, llmtest.Reply{Body: whole},
		no("input length and `max_tokens` exceed context limit: 199900 + 32000 > 200000, decrease input length or `max_tokens` and try again"))
	m := New(options(w))
	checkWhole(t, llmtest.Collect(t.Context(), m, hello))
	checkWhole(t, llmtest.Collect(t.Context(), m, hello))
	asked := w.Asked()
	if !strings.Contains(asked[1].Body, `"max_tokens":32000`) || !strings.Contains(asked[2].Body, `"max_tokens":10000`) || !strings.Contains(asked[3].Body, `"max_tokens":32000`) {
		t.Errorf("got %v, want max_tokens 32000, 10000 and 32000 after the first", asked)
	}
	if a := llmtest.Collect(t.Context(), m, hello); !errors.Is(a.Err, protocol.ErrContextOverflow) || len(w.Asked()) != 5 {
		t.Errorf("got %v, %v; want error ErrContextOverflow and w.Asked of length 5", a.Err, len(w.Asked()))
	}
}

func TestEnvironmentIsIgnored(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://elsewhere.test")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Custom: environment")
	w := llmtest.NewWire(llmtest.Reply{Body: whole})
	o := options(w)
	o.Key = ""
	checkWhole(t, llmtest.Collect(t.Context(), New(o), hello))
	if asked := w.Asked()[0]; strings.Contains(fmt.Sprint(asked.Header), "environment") || !strings.HasPrefix(asked.URL, "http://model.test/v1/messages") {
		t.Errorf(`got %v, %v; want no "environment" in Header and a URL that begins with "http://model.test/v1/messages"`, asked.URL, asked.Header)
	}
}

func TestStopReasons(t *testing.T) {
	t.Parallel()
	text := `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}`
	for reason, want := range map[string]string{
		"end_turn": llm.StopEnd, "stop_sequence": llm.StopEnd, "pause_turn": llm.StopIncomplete, "max_tokens": llm.StopMaxTokens,
		"model_context_window_exceeded": llm.StopMaxTokens, "refusal": llm.StopRefusal,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			a := llmtest.Collect(t.Context(), New(options(llmtest.NewWire(llmtest.Reply{Body: events(start, text, stopEvent(reason), stop)}))), hello)
			if a.Err != nil || a.Stop != want || a.Text != "Hi" || (a.StopText != "") != (want == llm.StopRefusal || strings.Contains(reason, "_turn") && want != llm.StopEnd || strings.Contains(reason, "window")) {
				t.Errorf("got %+v, want the text Hi and the stop reason %s", a, want)
			}
		})
	}
}

func TestUnfinishedArgumentsAreBad(t *testing.T) {
	body := events(start, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"x__Bash","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"command\": \"l"}}`, stopEvent("max_tokens"), stop)
	a := llmtest.Collect(t.Context(), New(options(llmtest.NewWire(llmtest.Reply{Body: body}))), hello)
	if len(a.Calls) != 1 || string(a.Calls[0].Arguments) != "{}" || a.BadArgs[0] != `{"command": "l` || a.Stop != llm.StopMaxTokens {
		t.Errorf("got %+v; want Calls of length 1, Calls[0].Arguments \"{}\", BadArgs[0] `{\"command\": \"l` and Stop StopMaxTokens", a)
	}
}

func TestTheEndMarkOfCompatibleServersIsNoEvent(t *testing.T) {
	t.Parallel()
	checkWhole(t, llmtest.Collect(t.Context(), New(options(llmtest.NewWire(llmtest.Reply{Body: whole + "data: [DONE]\n\n"}))), hello))
}

func TestAnEmptyThoughtGoesBackWithItsField(t *testing.T) {
	t.Parallel()
	w := llmtest.NewWire(llmtest.Reply{Body: whole})
	o := options(w)
	thought := protocol.Block{Type: protocol.BlockThinking, Signature: "s", Opaque: ask.Opaque(origin(o.Model))}
	req := hello
	req.Messages = append(req.Messages, protocol.Message{Role: protocol.RoleAssistant, Content: protocol.Content{thought, protocol.Text("Hi")}})
	llmtest.Collect(t.Context(), New(o), req)
	if sent, want := w.Asked()[0].Body, `{"type":"thinking","thinking":"","signature":"s"}`; !strings.Contains(sent, want) {
		t.Errorf("sent %s, want %s in it", sent, want)
	}
}

func TestModelsAreListedOverAllPages(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || r.Header.Get("X-Api-Key") != "k" || r.Header.Get("Anthropic-Version") == "" {
			http.Error(w, "bad", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("after_id") == "" {
			io.WriteString(w, `{"data":[{"type":"model","id":"claude-opus-5-5","display_name":"Claude Opus 5.5","max_input_tokens":1000000,"max_tokens":128000,"lifecycle":"active","capabilities":{"image_input":{"supported":true},"thinking":{"supported":true}}},{"id":"claude-1","lifecycle":"retired"}],"has_more":true,"first_id":"claude-opus-5-5","last_id":"claude-1"}`)
			return
		}
		io.WriteString(w, `{"data":[{"type":"model","id":"claude-x","display_name":"X"}],"has_more":false}`)
	}))
	defer srv.Close()
	list, err := Models(t.Context(), llm.Options{BaseURL: srv.URL + "/v1/", Key: "k"})
	if err != nil || len(list) != 2 || list[0] != (protocol.ModelInfo{ID: "claude-opus-5-5", Name: "Claude Opus 5.5", ContextWindow: 1e6, MaxOutput: 128e3, Tools: true, Images: true, Thinking: true}) || list[1].ID != "claude-x" {
		t.Errorf(`got %+v %v; want no error, length 2, list[0] %v and list[1].ID "claude-x"`, list, err, protocol.ModelInfo{ID: "claude-opus-5-5", Name: "Claude Opus 5.5", ContextWindow: 1e6, MaxOutput: 128e3, Tools: true, Images: true, Thinking: true})
	}
	if _, err := Models(t.Context(), llm.Options{BaseURL: srv.URL, Key: "other"}); !errors.Is(err, protocol.ErrModel) {
		t.Errorf("got %v; want the error protocol.ErrModel", err)
	}
}
