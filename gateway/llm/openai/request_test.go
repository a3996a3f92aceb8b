package openai

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

const okChat = `{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`

// sent returns the body and headers of one request.
func sent(t *testing.T, open func(llm.Options) llm.Model, host, model string, req llm.Request) (map[string]any, map[string][]string) {
	t.Helper()
	s := newServe(t, events("data: {\"type\":\"response.completed\",\"response\":{}}\n\n"+data(okChat)))
	llmtest.Collect(t.Context(), open(s.as(host, model)), req)
	if len(s.bodies) != 1 {
		t.Fatalf("got %d requests, want 1", len(s.bodies))
	}
	return s.bodies[0], s.headers[0]
}

func same(t *testing.T, got any, want string) {
	t.Helper()
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, w) {
		raw, err := json.Marshal(got)
		t.Errorf("got  %s (%v)\nwant %s", raw, err, want)
	}
}

// conversation has everything in it.
func conversation(wire, model string) llm.Request {
	image := protocol.Block{Type: protocol.BlockImage, MimeType: "image/png", Data: "QUJD"}
	call := protocol.Block{Type: protocol.BlockToolCall, ID: "c1", Name: "laptop__Read", Arguments: json.RawMessage(`{"path":"x.png"}`)}
	thought := protocol.Block{Type: protocol.BlockThinking, Thinking: "hm"}
	switch wire {
	case wireChat:
		thought.Opaque = ask.Opaque(opaque{Origin: ask.Origin{Wire: wire, Model: model}, Field: "reasoning_content"})
	case wireResponses:
		thought.Opaque = ask.Opaque(opaque{Origin: ask.Origin{Wire: wire, Model: model}, Item: json.RawMessage(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"}`)})
	}
	return llm.Request{
		System: "Be kind.", CacheKey: "main", Thinking: "low", MaxTokens: 99,
		Messages: []protocol.Message{
			user("before"),
			{Role: protocol.RoleAssistant, Content: protocol.Content{thought, protocol.Text("past")}},
			{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("look"), image}},
			{Role: protocol.RoleAssistant, Content: protocol.Content{thought, call}},
			{Role: protocol.RoleToolResult, ToolCallID: "c1", ToolName: "laptop__Read", Content: protocol.Content{image}},
			{Role: protocol.RoleAssistant},
		},
		Tools: []llm.Tool{{Name: "laptop__Read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
}

func TestChatRequestHoldsTheConversation(t *testing.T) {
	body, headers := sent(t, newChat, "models.example", "m", conversation(wireChat, "m"))
	same(t, body, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":99,"reasoning_effort":"low",
		"tools":[{"type":"function","function":{"name":"laptop__Read","description":"Reads.","parameters":{"type":"object","properties":{}}}}],
		"messages":[
		{"role":"system","content":"Be kind."},
		{"role":"user","content":"before"},
		{"role":"assistant","content":"past"},
		{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},
		{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"laptop__Read","arguments":"{\"path\":\"x.png\"}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"(see the images that follow)"},
		{"role":"user","content":[{"type":"text","text":"Images of the result of laptop__Read:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}]}`)
	if got := headers["Authorization"]; len(got) != 1 || got[0] != "Bearer k" {
		t.Errorf(`got %v; want length 1 and got[0] "Bearer k"`, got)
	}
}

func TestThoughtsGoToNoOtherModel(t *testing.T) {
	for _, wire := range []string{wireChat, wireResponses} {
		for name, open := range wires {
			body, _ := sent(t, open, "models.example", "other", conversation(wire, "m"))
			raw, err := json.Marshal(body)
			if err != nil || strings.Contains(string(raw), "hm") || strings.Contains(string(raw), "encrypted_content\":\"e") {
				t.Errorf(`%s to %s: %s; want no error, no "hm" and no "encrypted_content\":\"e"`, wire, name, raw)
			}
		}
	}
}

func TestOpenAIGetsItsOwnParameters(t *testing.T) {
	body, _ := sent(t, newChat, hostOpenAI, "gpt-5", conversation("", ""))
	if body["max_completion_tokens"] != 99.0 || body["max_tokens"] != nil || body["prompt_cache_key"] != "main" || body["reasoning_effort"] != "low" {
		t.Errorf(`got %v; want body["max_completion_tokens"] 99.0, no body["max_tokens"], body["prompt_cache_key"] "main" and body["reasoning_effort"] "low"`, body)
	}
}

func TestOpenRouterGetsItsOwnParameters(t *testing.T) {
	req := conversation("", "")
	req.Messages[3].Content[0].Opaque = ask.Opaque(opaque{Origin: ask.Origin{Wire: wireChat, Model: "anthropic/claude"}, Details: json.RawMessage(`[{"type":"reasoning.text","text":"hm","signature":"s"}]`)})
	body, headers := sent(t, newChat, hostOpenRouter, "anthropic/claude", req)
	same(t, body["reasoning"], `{"effort":"low"}`)
	messages := body["messages"].([]any)
	same(t, messages[0], `{"role":"system","content":[{"type":"text","text":"Be kind.","cache_control":{"type":"ephemeral"}}]}`)
	same(t, messages[4].(map[string]any)["reasoning_details"], `[{"type":"reasoning.text","text":"hm","signature":"s"}]`)
	if headers["X-Title"][0] != "Fairlead" || headers["Http-Referer"] == nil || body["prompt_cache_key"] != nil {
		t.Errorf(`got %v; want headers["X-Title"][0] "Fairlead", a headers["Http-Referer"] and no body["prompt_cache_key"]`, headers)
	}
	req.Thinking = "none"
	body, _ = sent(t, newChat, hostOpenRouter, "openai/gpt-5-image", req)
	same(t, body["reasoning"], `{"enabled":false}`)
	same(t, body["modalities"], `["image","text"]`)
	if messages := body["messages"].([]any); messages[0].(map[string]any)["content"] != "Be kind." {
		t.Error("a cache mark for a model that is not Anthropic's")
	}
}

func TestLateSignatureFindsItsThought(t *testing.T) {
	s := newServe(t, events(data(
		`{"choices":[{"delta":{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0}]}}]}`,
		`{"choices":[{"delta":{"content":"a"}}]}`,
		`{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","signature":"s","index":0}]}}]}`,
		`{"choices":[{"delta":{"reasoning":"again","reasoning_details":[{"type":"reasoning.text","text":"again","index":1}]},"finish_reason":"stop"}]}`)))
	m := newChat(llm.Options{BaseURL: s.URL, Model: "m"})
	first := llmtest.Collect(t.Context(), m, helloRequest())
	req := helloRequest()
	req.Messages = append(req.Messages, protocol.Message{Role: protocol.RoleAssistant, Content: first.Content})
	llmtest.Collect(t.Context(), m, req)
	same(t, s.bodies[1]["messages"].([]any)[1].(map[string]any)["reasoning_details"],
		`[{"type":"reasoning.text","text":"hm","signature":"s","index":0},{"type":"reasoning.text","text":"again","index":1}]`)
}

func TestMistralGetsShortCallIDs(t *testing.T) {
	body, _ := sent(t, newChat, hostMistral, "m", conversation("", ""))
	messages := body["messages"].([]any)
	id := messages[4].(map[string]any)["tool_calls"].([]any)[0].(map[string]any)["id"].(string)
	if len(id) != 9 || id != messages[5].(map[string]any)["tool_call_id"] {
		t.Errorf("got %v; want length 9 and id %v", id, messages[5].(map[string]any)["tool_call_id"])
	}
}

func TestGeminiSignatureGoesBackWithItsCall(t *testing.T) {
	s := newServe(t, events(data(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]},"finish_reason":"tool_calls"}]}`)))
	m := newChat(llm.Options{BaseURL: s.URL, Model: "m"})
	first := llmtest.Collect(t.Context(), m, helloRequest())
	req := helloRequest()
	req.Messages = append(req.Messages, protocol.Message{Role: protocol.RoleAssistant, Content: first.Content}, result("a", "ok"))
	llmtest.Collect(t.Context(), m, req)
	calls := s.bodies[1]["messages"].([]any)[1].(map[string]any)["tool_calls"].([]any)
	same(t, calls[0].(map[string]any)["extra_content"], `{"google":{"thought_signature":"s"}}`)
}

func TestLocalServerIsAskedNotToThink(t *testing.T) {
	req := helloRequest()
	req.Thinking = "none"
	body, _ := sent(t, newChat, "127.0.0.1", "m", req)
	same(t, body["chat_template_kwargs"], `{"enable_thinking":false}`)
	if body["reasoning_effort"] != nil {
		t.Errorf(`got %v; want no body["reasoning_effort"]`, body)
	}
}

func TestResponsesRequestHoldsTheConversation(t *testing.T) {
	body, _ := sent(t, New, hostOpenAI, "gpt-5", conversation(wireResponses, "gpt-5"))
	same(t, body, `{"model":"gpt-5","stream":true,"store":false,"include":["reasoning.encrypted_content"],"instructions":"Be kind.","max_output_tokens":99,
		"prompt_cache_key":"main","reasoning":{"effort":"low","summary":"auto"},
		"tools":[{"type":"function","name":"laptop__Read","description":"Reads.","strict":false,"parameters":{"type":"object","properties":{}}}],
		"input":[
		{"type":"message","role":"user","content":[{"type":"input_text","text":"before"}]},
		{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"},
		{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"past"}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,QUJD"}]},
		{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"},
		{"type":"function_call","call_id":"c1","name":"laptop__Read","arguments":"{\"path\":\"x.png\"}"},
		{"type":"function_call_output","call_id":"c1","output":"(see the images that follow)"},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"Images of the result of laptop__Read:"},{"type":"input_image","image_url":"data:image/png;base64,QUJD"}]}]}`)
}

func TestAddressesAreTakenAsPeopleWriteThem(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "https://api.openai.com/v1",
		"http://localhost:1234":         "http://localhost:1234/v1",
		"localhost:8080/":               "http://localhost:8080/v1",
		"http://x/v1/chat/completions":  "http://x/v1",
		"https://openrouter.ai/api/v1/": "https://openrouter.ai/api/v1",
		"https://h/v1beta/openai":       "https://h/v1beta/openai",
	} {
		if got := newModel(llm.Options{BaseURL: in}).BaseURL; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
