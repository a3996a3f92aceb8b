package gemini

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func events(list ...string) string {
	return "data: " + strings.Join(list, "\n\ndata: ") + "\n\n"
}

func chunk(parts, more string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"},"index":0` + more + `}],"usageMetadata":{"promptTokenCount":120,"cachedContentTokenCount":100,"candidatesTokenCount":9,"thoughtsTokenCount":30,"totalTokenCount":159},"modelVersion":"m"}`
}

// whole is thought, words and two calls, as Gemini 3 sends them.
var whole = events(
	chunk(`{"text":"**Looking**\n","thought":true}`, ""),
	chunk(`{"text":"I läok 🚢.","thought":true}`, ""),
	chunk(`{"text":"I will "}`, ""),
	chunk(`{"text":"look."}`, ""),
	chunk(`{"functionCall":{"name":"laptop__Bash","args":{"command":"ls -la"}},"thoughtSignature":"c2lnbmVk"},{"functionCall":{"name":"_2nd__Glob","id":"own1","args":{}}}`, ""),
	chunk(``, `,"finishReason":"STOP"`),
)

var tools = []llm.Tool{
	{Name: "laptop__Bash", Description: "Runs.", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)},
	{Name: "2nd__Glob"},
}

func checkWhole(t *testing.T, a llmtest.Answer) {
	t.Helper()
	if a.Err != nil || a.Thinking != "**Looking**\nI läok 🚢." || a.Text != "I will look." || a.Stop != llm.StopToolUse {
		t.Fatalf(`got %+v; want no Err, Thinking "**Looking**\nI läok 🚢.", Text "I will look." and Stop StopToolUse`, a)
	}
	if len(a.Calls) != 2 || a.Calls[0].ID == "" || string(a.Calls[0].Arguments) != `{"command":"ls -la"}` || a.Calls[1].ID != "own1" || a.Calls[1].Name != "2nd__Glob" || string(a.Calls[1].Arguments) != "{}" {
		t.Fatalf("calls: got %+v; want length 2, some Calls[0].ID, Calls[0].Arguments `{\"command\":\"ls -la\"}`, Calls[1].ID \"own1\", Calls[1].Name \"2nd__Glob\" and Calls[1].Arguments \"{}\"", a.Calls)
	}
	if len(a.Content) != 4 || a.Content[0].Thinking != a.Thinking || a.Deltas[0] != `{"command":"ls -la"}` {
		t.Fatalf("content: got %+v; want length 4, Content[0].Thinking %v and Deltas[0] `{\"command\":\"ls -la\"}`", a.Content, a.Thinking)
	}
	want := protocol.Usage{Input: 20, Output: 39, CacheRead: 100, Total: 159, Reasoning: 30}
	if a.Usage != want {
		t.Fatalf("usage: got %+v, want %+v", a.Usage, want)
	}
}

func user(text string) protocol.Message {
	return protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}}
}

var hello = llm.Request{Messages: []protocol.Message{user("hello")}, Tools: tools}

func options(w *llmtest.Wire) llm.Options {
	return llm.Options{BaseURL: "http://model.test/v1beta", Key: "AIza-secret", Model: "gemini-3-pro", HTTP: w.Client(), Info: protocol.ModelInfo{Thinking: true}}
}

func TestStreamIsCompleteOrFails(t *testing.T) {
	for _, stream := range []string{whole, strings.ReplaceAll(whole, "\n\n", "\r\n\r\n")} {
		shown := strings.Index(stream, `data: {"candidates":[{"content":{"parts":[{"functionCall"`)
		llmtest.Dialect{New: New, Options: options(llmtest.NewWire()), Request: hello, Whole: stream, Shown: shown}.Test(t, checkWhole)
	}
}

func TestErrorInsideAShownAnswerIsNotAskedAgain(t *testing.T) {
	w := llmtest.NewWire(llmtest.Reply{
		Body: whole[:strings.Index(whole, `data: {"candidates":[{"content":{"parts":[{"functionCall"`)] + events(`{"error":{"code":503,"message":"overloaded"}}`),
	})
	if a := llmtest.Collect(t.Context(), New(options(w)), hello); !errors.Is(a.Err, protocol.ErrModel) || len(w.Asked()) != 1 || a.Stop != "" || w.Open() != 0 {
		t.Errorf("got %v, %d requests, stop %q; want a model error after 1, and no stop", a.Err, len(w.Asked()), a.Stop)
	}
}

func TestSignaturesGoBackWithTheirParts(t *testing.T) {
	w := llmtest.NewWire(llmtest.Reply{Body: whole}, llmtest.Reply{Body: events(chunk(`{"text":"Done."},{"text":"","thoughtSignature":"dGV4dA=="}`, `,"finishReason":"STOP"`))})
	m := New(options(w))
	first := llmtest.Collect(t.Context(), m, hello)
	req := hello
	req.System = "Be brief."
	req.Thinking = "low"
	req.MaxTokens = 100
	req.Messages = []protocol.Message{
		user("hello"),
		{Role: protocol.RoleAssistant, Content: first.Content},
		{Role: protocol.RoleToolResult, ToolCallID: first.Calls[0].ID, ToolName: "laptop__Bash", Content: protocol.Content{protocol.Text("ok"), {Type: protocol.BlockImage, Data: "aGk=", MimeType: "image/png"}}},
		{Role: protocol.RoleToolResult, ToolCallID: "own1", ToolName: "2nd__Glob", IsError: true, Content: protocol.Content{protocol.Text("no")}},
	}
	second := llmtest.Collect(t.Context(), m, req)
	if second.Err != nil || second.Text != "Done." || second.Stop != llm.StopEnd {
		t.Fatalf(`got %+v; want no Err, Text "Done." and Stop StopEnd`, second)
	}
	llmtest.SameJSON(t, w.Asked()[1].Body, `{"contents":[
		{"parts":[{"text":"hello"}],"role":"user"},
		{"parts":[{"text":"I will look."},{"functionCall":{"args":{"command":"ls -la"},"name":"laptop__Bash"},"thoughtSignature":"c2lnbmVk"},{"functionCall":{"id":"own1","name":"_2nd__Glob"}}],"role":"model"},
		{"parts":[{"functionResponse":{"name":"laptop__Bash","response":{"output":"ok"}}},{"functionResponse":{"id":"own1","name":"_2nd__Glob","response":{"error":"no"}}},{"inlineData":{"data":"aGk=","mimeType":"image/png"}}],"role":"user"}],
		"generationConfig":{"maxOutputTokens":100,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}},
		"systemInstruction":{"parts":[{"text":"Be brief."}],"role":"user"},
		"tools":[{"functionDeclarations":[{"description":"Runs.","name":"laptop__Bash","parametersJsonSchema":{"properties":{"command":{"type":"string"}},"required":["command"],"type":"object"}},{"name":"_2nd__Glob"}]}]}`)
	if u := w.Asked()[1].URL; u != "http://model.test/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse" {
		t.Errorf("got %v, want %q", u, "http://model.test/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse")
	}

	req.Messages = []protocol.Message{user("hello"), {Role: protocol.RoleAssistant, Content: second.Content}, user("more")}
	llmtest.Collect(t.Context(), m, req)
	if sent := w.Asked()[2].Body; !strings.Contains(sent, `{"text":"Done.","thoughtSignature":"dGV4dA=="}`) {
		t.Error("the text's signature is lost:", sent)
	}

	// What another model made gets the documented stand-in, on the first call only.
	req.Messages = []protocol.Message{
		user("hello"),
		{Role: protocol.RoleAssistant, Content: protocol.Content{
			{Type: protocol.BlockThinking, Thinking: "x", Signature: "EqQB="}, {Type: protocol.BlockToolCall, ID: "a", Name: "laptop__Bash"}, {Type: protocol.BlockToolCall, ID: "b", Name: "laptop__Bash"},
		}},
		{Role: protocol.RoleToolResult, ToolCallID: "a"},
		{Role: protocol.RoleToolResult, ToolCallID: "b"},
	}
	llmtest.Collect(t.Context(), m, req)
	if sent := w.Asked()[3].Body; strings.Count(sent, "skip/thought/signature/validator") != 1 || strings.Contains(sent, "EqQB") {
		t.Errorf(`got %v; want "skip/thought/signature/validator" 1 times and no "EqQB"`, sent)
	}
}

func TestThinkingIsAskedForAsTheModelWantsIt(t *testing.T) {
	for _, tc := range []struct{ model, level, want string }{
		{"gemini-3-pro", "", `"thinkingConfig":{"includeThoughts":true}`},
		{"gemini-3.1-flash", "xhigh", `"thinkingLevel":"HIGH"`},
		{"gemini-2.5-flash", "none", `"thinkingConfig":{"thinkingBudget":0}`},
		{"gemini-2.5-pro", "medium", `"thinkingBudget":8192`},
		{"gemini-2.0-flash", "high", ""},
		{"gemini-flash-latest", "high", `"thinkingConfig":{"includeThoughts":true}`},
		{"gemma-4", "high", ""},
	} {
		t.Run(tc.model, func(t *testing.T) {
			w := llmtest.NewWire(llmtest.Reply{Body: whole})
			o := options(w)
			o.Model = tc.model
			o.Info.Thinking = tc.model == "gemini-flash-latest"
			req := hello
			req.Thinking = tc.level
			llmtest.Collect(t.Context(), New(o), req)
			sent := w.Asked()[0].Body
			if tc.want != "" && !strings.Contains(sent, tc.want) || tc.want == "" && strings.Contains(sent, "thinking") {
				t.Errorf(`%s %q: got %s; want %q in it, or no "thinking" if that is empty`, tc.model, tc.level, sent, tc.want)
			}
		})
	}
	no := llmtest.Reply{Status: 400, Body: `{"error":{"code":400,"message":"Thinking level MINIMAL is not supported for this model.","status":"INVALID_ARGUMENT"}}`}
	w := llmtest.NewWire(no, llmtest.Reply{Body: whole})
	req := hello
	req.Thinking = "minimal"
	checkWhole(t, llmtest.Collect(t.Context(), New(options(w)), req))
	if sent := w.Asked()[1].Body; strings.Contains(sent, "thinkingLevel") {
		t.Errorf(`got %v; want no "thinkingLevel"`, sent)
	}
}

func TestImagesComeOut(t *testing.T) {
	w := llmtest.NewWire(llmtest.Reply{Body: events(chunk(`{"text":"Here."},{"inlineData":{"mimeType":"image/png","data":"aGk="},"thoughtSignature":"c2ln"}`, `,"finishReason":"STOP"`))})
	o := options(w)
	o.Model = "gemini-3-pro-image"
	m := New(o)
	a := llmtest.Collect(t.Context(), m, hello)
	if a.Err != nil || len(a.Images) != 1 || a.Images[0].Data != "aGk=" || a.Images[0].MimeType != "image/png" || !strings.Contains(w.Asked()[0].Body, `"responseModalities":["TEXT","IMAGE"]`) {
		t.Fatalf("got %+v; want one PNG picture and a request for pictures", a)
	}
	req := hello
	req.Messages = []protocol.Message{user("draw"), {Role: protocol.RoleAssistant, Content: a.Content}, user("bluer")}
	llmtest.Collect(t.Context(), m, req)
	if sent := w.Asked()[1].Body; !strings.Contains(sent, `"thoughtSignature":"c2ln"`) || !strings.Contains(sent, `"data":"aGk="`) {
		t.Errorf("got %v; want `\"thoughtSignature\":\"c2ln\"` in it and `\"data\":\"aGk=\"` in it", sent)
	}
}

func TestFailuresHaveAKindAndTheServersSentence(t *testing.T) {
	for _, tc := range []struct {
		status int
		body   string
		want   error
		text   string
	}{
		{400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`, protocol.ErrModelAuth, "API key not valid"},
		{403, `{"error":{"code":403,"message":"you may not","status":"PERMISSION_DENIED"}}`, protocol.ErrModelAuth, "you may not"},
		{400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, protocol.ErrContextOverflow, "1048576"},
		{404, `[{"error":{"code":404,"message":"models/gemini-9 is not found","status":"NOT_FOUND"}}]`, protocol.ErrModel, "404"},
		{429, `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"30s"}]}}`, protocol.ErrModelRateLimit, "quota"},
	} {
		w := llmtest.NewWire(llmtest.Reply{Status: tc.status, Body: tc.body})
		a := llmtest.Collect(t.Context(), New(options(w)), hello)
		if !errors.Is(a.Err, tc.want) || !strings.Contains(a.Err.Error(), tc.text) || len(w.Asked()) != 1 {
			t.Errorf("%d: got %v after %d requests, want %v with %q after 1", tc.status, a.Err, len(w.Asked()), tc.want, tc.text)
		}
	}
	t.Setenv("GOOGLE_API_KEY", "from the environment")
	if a := llmtest.Collect(t.Context(), New(llm.Options{Model: "gemini-3-pro"}), hello); !errors.Is(a.Err, protocol.ErrModelAuth) {
		t.Error("without a key:", a.Err)
	}
}

func TestQuotaOfAMinuteIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := llmtest.NewWire(
			llmtest.Reply{Status: 429, Body: `{"error":{"code":429,"message":"You exceeded your current quota.","details":[{"retryDelay":"34s"}]}}`},
			llmtest.Reply{Status: 503, Body: `{"error":{"code":503,"message":"The model is overloaded."}}`},
			llmtest.Reply{Body: events(`{"error":{"code":500,"message":"Internal","status":"INTERNAL"}}`)},
			llmtest.Reply{Body: whole})
		a := llmtest.Collect(t.Context(), New(options(w)), hello)
		checkWhole(t, a)
		if len(a.Retries) != 3 || a.Retries[0].After != 34*time.Second || a.Retries[1].Reason != "the provider has a problem (503)" {
			t.Errorf(`got %+v; want Retries of length 3, Retries[0].After %v and Retries[1].Reason "the provider has a problem (503)"`, a.Retries, 34*time.Second)
		}
	})
}

func TestBlockedAnswersSayWhy(t *testing.T) {
	for _, tc := range []struct{ body, stop, text string }{
		{`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, llm.StopRefusal, "PROHIBITED_CONTENT"},
		{chunk(`{"text":"I"}`, `,"finishReason":"SAFETY"`), llm.StopRefusal, "SAFETY"},
		{chunk(`{"text":"I"}`, `,"finishReason":"RECITATION"`), llm.StopRefusal, "RECITATION"},
		{chunk(`{"text":"I"}`, `,"finishReason":"MAX_TOKENS"`), llm.StopMaxTokens, ""},
	} {
		a := llmtest.Collect(t.Context(), New(options(llmtest.NewWire(llmtest.Reply{Body: events(tc.body)}))), hello)
		if a.Err != nil || a.Stop != tc.stop || !strings.Contains(a.StopText, tc.text) {
			t.Errorf("%s: got %+v; want no a.Err, a.Stop %v and %v in a.StopText", tc.body, a, tc.stop, tc.text)
		}
	}
}

func TestModelsAreListedOverAllPages(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1beta/models" || r.Header.Get("X-Goog-Api-Key") != "k" {
			http.Error(w, `{"error":{"code":404,"message":"bad"}}`, http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("pageToken") == "" {
			io.WriteString(w, `{"models":[{"name":"models/gemini-2.5-pro","displayName":"Gemini 2.5 Pro","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"],"thinking":true},{"name":"models/text-embedding-004","supportedGenerationMethods":["embedContent"]}],"nextPageToken":"n"}`)
			return
		}
		io.WriteString(w, `{"models":[{"name":"models/gemini-2.0-flash","supportedGenerationMethods":["generateContent"]}]}`)
	}))
	defer srv.Close()
	list, err := Models(t.Context(), llm.Options{BaseURL: srv.URL + "/", Key: "k"})
	if err != nil || len(list) != 2 || list[0] != (protocol.ModelInfo{ID: "gemini-2.5-pro", Name: "Gemini 2.5 Pro", ContextWindow: 1048576, MaxOutput: 65536, Tools: true, Images: true, Thinking: true}) || list[1].ID != "gemini-2.0-flash" {
		t.Errorf(`got %+v %v; want no error, length 2, list[0] %v and list[1].ID "gemini-2.0-flash"`, list, err, protocol.ModelInfo{ID: "gemini-2.5-pro", Name: "Gemini 2.5 Pro", ContextWindow: 1048576, MaxOutput: 65536, Tools: true, Images: true, Thinking: true})
	}
	if _, err := Models(t.Context(), llm.Options{BaseURL: srv.URL, Key: "other"}); !errors.Is(err, protocol.ErrModel) {
		t.Errorf("got %v; want the error protocol.ErrModel", err)
	}
}
