package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
)

// serve answers every request with the next of the answers, repeats the last one, and stores the
// bodies.
type serve struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  []map[string]any
	headers []http.Header
	answers []http.HandlerFunc
}

func newServe(t *testing.T, answers ...http.HandlerFunc) *serve {
	s := &serve{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var body map[string]any
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &body); err != nil {
				t.Error(err)
			}
		}
		s.mu.Lock()
		answer := s.answers[min(len(s.bodies), len(s.answers)-1)]
		s.bodies, s.headers = append(s.bodies, body), append(s.headers, r.Header)
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// events sends a stream unchanged.
func events(stream string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, stream)
	}
}

func status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// data makes a stream of chunks that ends with [DONE].
func data(chunks ...string) string {
	var b strings.Builder
	for _, c := range append(chunks, "[DONE]") {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

// send rewrites requests for a public host to the test server.
type send struct{ to string }

func (s send) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", s.to
	return http.DefaultTransport.RoundTrip(r)
}

// as returns options for a model that takes the test server for the given host.
func (s *serve) as(host, model string) llm.Options {
	return llm.Options{BaseURL: "https://" + host + "/v1", Model: model, Key: "k", HTTP: &http.Client{Transport: send{strings.TrimPrefix(s.URL, "http://")}}}
}

func helloRequest() llm.Request { return llm.Request{Messages: []protocol.Message{user("hi")}} }

const cassette = ": keep-alive\r\n\r\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\r\n\r\n" +
	"data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"Let me \"}}]}\r\n\r\n" +
	"data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"lóok.\"}}]}\r\n\r\n" +
	"data: {\"choices\":[{\"delta\":{\"content\":\"I will\"}}]}\r\n\r\n: ping\r\n\r\n" +
	"data: {\"choices\":[{\"delta\":{\"content\":\" look.\"}}]}\r\n\r\n" +
	"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"laptop__Glob\",\"arguments\":\"\"}}]}}]}\r\n\r\n" +
	"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"laptop__Bash\",\"arguments\":\"{\\\"command\\\"\"}}]}}]}\r\n\r\n" +
	"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\": \\\"ls\\\"}\"}}]}}]}\r\n\r\n" +
	"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\r\n\r\n" +
	"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20,\"total_tokens\":120,\"prompt_tokens_details\":{\"cached_tokens\":90},\"completion_tokens_details\":{\"reasoning_tokens\":5}}}\r\n\r\n" +
	"data: [DONE]\r\n\r\n"

func TestChatStreamIsCompleteOrFails(t *testing.T) {
	thought := protocol.Block{Type: protocol.BlockThinking, Thinking: "Let me lóok.", Opaque: ask.Opaque(opaque{Origin: ask.Origin{Wire: wireChat, Model: "m"}, Field: "reasoning_content"})}
	streams(t, newChat, cassette, strings.Index(cassette, `data: {"choices":[{"delta":{"tool_calls"`), thought, map[int]string{1: `{"command": "ls"}`},
		protocol.Block{Type: protocol.BlockToolCall, ID: "b", Name: "laptop__Glob", Arguments: json.RawMessage("{}")},
		protocol.Block{Type: protocol.BlockToolCall, ID: "a", Name: "laptop__Bash", Arguments: json.RawMessage(`{"command":"ls"}`)})
}

// streams tests an API with an answer of a thought, "I will look." and calls.
func streams(t *testing.T, open func(llm.Options) llm.Model, whole string, shown int, thought protocol.Block, deltas map[int]string, calls ...protocol.Block) {
	t.Helper()
	want := llmtest.Answer{
		Text: "I will look.", Thinking: thought.Thinking, Stop: llm.StopToolUse, Deltas: deltas, BadArgs: []string{"", ""}, Calls: calls,
		Content: append(protocol.Content{thought, protocol.Text("I will look.")}, calls...),
		Usage:   protocol.Usage{Input: 10, Output: 20, CacheRead: 90, Total: 120, Reasoning: 5},
	}
	llmtest.Dialect{New: open, Options: llm.Options{Model: "m"}, Request: helloRequest(), Whole: whole, Shown: shown}.Test(t, func(t *testing.T, got llmtest.Answer) {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("differs (-want +got):\n%s", diff)
		}
	})
}

func TestChatUnderstandsItsDialects(t *testing.T) {
	stop := `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	call := func(s string) string { return `{"choices":[{"delta":{"tool_calls":[` + s + `]}}]}` }
	for name, tc := range map[string]struct {
		stream string
		want   func(llmtest.Answer) bool
	}{
		"reasoning of OpenRouter": {data(`{"choices":[{"delta":{"reasoning":"why","reasoning_details":[{"type":"reasoning.text","text":"why","index":0}]}}]}`,
			`{"choices":[{"delta":{"reasoning":" so","reasoning_details":[{"type":"reasoning.text","text":" so","signature":"s","index":0},{"type":"reasoning.encrypted","data":"x","index":1}]}}]}`,
			`{"choices":[{"delta":{"content":"a"}}]}`, stop), func(o llmtest.Answer) bool {
			return o.Thinking == "why so" && strings.Contains(string(o.Content[0].Opaque),
				`"details":[{"index":0,"signature":"s","text":"why so","type":"reasoning.text"},{"data":"x","index":1,"type":"reasoning.encrypted"}]`)
		}},
		"the same thought under two names": {data(`{"choices":[{"delta":{"reasoning":"x","reasoning_content":"x"}}]}`, stop), func(o llmtest.Answer) bool { return o.Thinking == "x" }},
		"thoughts in tags":                 {data(`{"choices":[{"delta":{"content":"<thi"}}]}`, `{"choices":[{"delta":{"content":"nk>\nwhy</th"}}]}`, `{"choices":[{"delta":{"content":"ink>\n\nanswer"}}]}`, stop), func(o llmtest.Answer) bool { return o.Thinking == "why" && o.Text == "answer" }},
		"thinking parts of Mistral":        {data(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"why"}]},{"type":"text","text":"answer"}]}}]}`, stop), func(o llmtest.Answer) bool { return o.Thinking == "why" && o.Text == "answer" }},
		"text that only looks like a tag":  {data(`{"choices":[{"delta":{"content":"<thi"}}]}`, stop), func(o llmtest.Answer) bool { return o.Text == "<thi" }},
		"an empty error":                   {data(`{"error":{},"choices":[{"delta":{"content":"a"}}]}`, `{"error":"","choices":[{"delta":{},"finish_reason":"stop"}]}`), func(o llmtest.Answer) bool { return o.Text == "a" && o.Stop == llm.StopEnd }},
		"no end reason":                    {data(`{"choices":[{"delta":{"content":"a"}}]}`), func(o llmtest.Answer) bool { return o.Stop == llm.StopEnd }},
		"no [DONE]":                        {strings.TrimSuffix(data(stop), "data: [DONE]\n\n"), func(o llmtest.Answer) bool { return o.Stop == llm.StopEnd }},
		"calls with end reason stop":       {data(call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), stop), func(o llmtest.Answer) bool { return o.Stop == llm.StopToolUse }},
		"calls without index": {
			data(call(`{"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`), call(`{"function":{"arguments":"1}"}}`), call(`{"id":"b","function":{"name":"g","arguments":"{}"}}`), stop),
			func(o llmtest.Answer) bool { return len(o.Calls) == 2 && string(o.Calls[0].Arguments) == `{"x":1}` },
		},
		"a name in pieces": {
			data(call(`{"index":0,"id":"a","function":{"name":"tower__"}}`), call(`{"index":0,"id":"a","function":{"name":"Ba"}}`),
				call(`{"index":0,"function":{"name":"sh","arguments":"{\"x\":"}}`), call(`{"index":0,"function":{"name":"","arguments":"1}"}}`), stop),
			func(o llmtest.Answer) bool {
				return len(o.Calls) == 1 && o.Calls[0].Name == "tower__Bash" && string(o.Calls[0].Arguments) == `{"x":1}`
			},
		},
		"a name again and again": {
			data(call(`{"index":0,"id":"a","function":{"name":"tower__Bash","arguments":""}}`), call(`{"index":0,"function":{"name":"tower__Bash","arguments":"{\"x\":"}}`),
				call(`{"index":0,"function":{"name":"tower__Bash","arguments":"1}"}}`), stop),
			func(o llmtest.Answer) bool {
				return len(o.Calls) == 1 && o.Calls[0].Name == "tower__Bash" && string(o.Calls[0].Arguments) == `{"x":1}`
			},
		},
		"a name that grows": {
			data(call(`{"index":0,"id":"a","function":{"name":"tower__"}}`), call(`{"index":0,"function":{"name":"tower__Bash"}}`), call(`{"index":0,"function":{"arguments":"{}"}}`), stop),
			func(o llmtest.Answer) bool { return len(o.Calls) == 1 && o.Calls[0].Name == "tower__Bash" },
		},
		"all calls with index 0": {data(call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), call(`{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}`), stop), func(o llmtest.Answer) bool { return len(o.Calls) == 2 }},
		"a call without id":      {data(call(`{"index":0,"function":{"name":"f","arguments":""}}`), stop), func(o llmtest.Answer) bool { return strings.HasPrefix(o.Calls[0].ID, "call_") }},
		"arguments as an object": {data(call(`{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}`), stop), func(o llmtest.Answer) bool { return string(o.Calls[0].Arguments) == `{"x":1}` }},
		"arguments encoded twice": {
			data(call(`{"index":0,"id":"a","function":{"name":"f","arguments":"\"{\\\"x\\\":1}\""}}`), stop),
			func(o llmtest.Answer) bool { return string(o.Calls[0].Arguments) == `{"x":1}` && o.BadArgs[0] == "" },
		},
		"bad arguments":          {data(call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`), stop), func(o llmtest.Answer) bool { return o.BadArgs[0] == `{"x":` && string(o.Calls[0].Arguments) == "{}" }},
		"arguments no object":    {data(call(`{"index":0,"id":"a","function":{"name":"f","arguments":"[1]"}}`), stop), func(o llmtest.Answer) bool { return o.BadArgs[0] == "[1]" }},
		"a made image":           {data(`{"choices":[{"delta":{"images":[{"type":"image_url","image_url":{"url":"data:image/webp;base64,QUJD"}}]}}]}`, stop), func(o llmtest.Answer) bool { return o.Images[0].MimeType == "image/webp" && o.Images[0].Data == "QUJD" }},
		"cost of OpenRouter":     {data(stop, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"cost":0.0125}}`), func(o llmtest.Answer) bool { return *o.Usage.Cost == 0.0125 && o.Usage.Total == 12 }},
		"thoughts beside":        {data(stop, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":17,"completion_tokens_details":{"reasoning_tokens":5}}}`), func(o llmtest.Answer) bool { return o.Usage.Output == 7 && o.Usage.Reasoning == 5 }},
		"cache hits of DeepSeek": {data(stop, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":8}}`), func(o llmtest.Answer) bool { return o.Usage.CacheRead == 8 && o.Usage.Input == 2 }},
		"usage in words": {data(`{"choices":[{"delta":{"content":"whole"}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":"ten","completion_tokens":1e30,"cost":"free"}}`), func(o llmtest.Answer) bool {
			return o.Text == "whole" && o.Stop == llm.StopEnd && o.Usage.Estimated
		}},
		"an index in quotes": {
			data(call(`{"index":"0","id":"a","function":{"name":"f","arguments":"{\"x\":"}}`), call(`{"index":"0","function":{"arguments":"1}"}}`), stop),
			func(o llmtest.Answer) bool { return len(o.Calls) == 1 && string(o.Calls[0].Arguments) == `{"x":1}` },
		},
		"no usage":       {data(`{"choices":[{"delta":{"content":"12345678"}}]}`, stop), func(o llmtest.Answer) bool { return o.Usage.Estimated && o.Usage.Output == 2 && o.Usage.Input > 5 }},
		"length":         {data(`{"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]}`), func(o llmtest.Answer) bool { return o.Stop == llm.StopMaxTokens }},
		"refusal":        {data(`{"choices":[{"delta":{"refusal":"No."}}]}`, stop), func(o llmtest.Answer) bool { return o.Stop == llm.StopRefusal && o.Text == "No." }},
		"content filter": {data(`{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`), func(o llmtest.Answer) bool { return o.Stop == llm.StopRefusal }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServe(t, events(tc.stream))
			got := llmtest.Collect(t.Context(), newChat(llm.Options{BaseURL: s.URL, Model: "m"}), helloRequest())
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			if !tc.want(got) {
				t.Errorf("got %+v; want the result of the case", got)
			}
		})
	}
}

func TestChatReadsAnAnswerThatIsNotStreamed(t *testing.T) {
	s := newServe(t, status(200, `{"choices":[{"message":{"role":"assistant","content":"whole","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`, "Content-Type", "application/json"))
	got := llmtest.Collect(t.Context(), newChat(llm.Options{BaseURL: s.URL}), helloRequest())
	if got.Err != nil || got.Text != "whole" || len(got.Calls) != 1 || got.Usage.Input != 3 {
		t.Fatalf(`got %+v; want no Err, Text "whole", Calls of length 1 and Usage.Input 3`, got)
	}
}

func TestChatReadsALineOfManyMegabytes(t *testing.T) {
	picture := strings.Repeat("QUJD", 3<<20)
	s := newServe(t, events(data(`{"choices":[{"delta":{"images":[{"image_url":"data:image/png;base64,`+picture+`"}]},"finish_reason":"stop"}]}`)))
	got := llmtest.Collect(t.Context(), newChat(llm.Options{BaseURL: s.URL}), helloRequest())
	if got.Err != nil || len(got.Images) != 1 || len(got.Images[0].Data) != len(picture) {
		t.Fatalf("got %v, %v; want no Err, Images of length 1 and Images[0].Data of length %v", got.Err, len(got.Images), len(picture))
	}
}

func TestFailuresAreDistinguished(t *testing.T) {
	for _, tc := range []struct {
		answer  http.HandlerFunc
		want    error
		says    string
		retries int
	}{
		{status(401, `{"error":{"message":"Incorrect API key provided"}}`), protocol.ErrModelAuth, "Incorrect API key", 0},
		{status(400, `{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}`), protocol.ErrContextOverflow, "8192", 0},
		{status(429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`), protocol.ErrModelRateLimit, "quota", 0},
		{status(429, `{"error":{"message":"slow down"}}`, "Retry-After", "3600"), protocol.ErrModelRateLimit, "slow down", 0},
		{status(429, `{"error":"slow down"}`, "Retry-After-Ms", "1"), protocol.ErrModelRateLimit, "slow down", 3},
		{status(529, `{"detail":"Overloaded"}`, "Retry-After-Ms", "1"), protocol.ErrModel, "Overloaded", 3},
		{status(500, `<html>oops</html>`, "Retry-After-Ms", "1"), protocol.ErrModel, "Internal Server Error", 3},
		{status(404, `{"error":{"message":"no such model"}}`), protocol.ErrModel, "no such model", 0},
		{func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, "<html>Please log in</html>")
		}, protocol.ErrModel, "a web page", 0},
		{events("data: {\"error\":{\"code\":402,\"message\":\"Insufficient credits\"}}\n\n"), protocol.ErrModel, "Insufficient credits", 0},
		{events("data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\ndata: {\"error\":{\"code\":502,\"message\":\"Provider disconnected\"}}\n\n"), protocol.ErrModel, "Provider disconnected", 0},
	} {
		t.Run(tc.says, func(t *testing.T) {
			s := newServe(t, tc.answer)
			got := llmtest.Collect(t.Context(), newChat(llm.Options{BaseURL: s.URL, Key: "k"}), helloRequest())
			if !errors.Is(got.Err, tc.want) || !strings.Contains(got.Err.Error(), tc.says) || len(got.Retries) != tc.retries {
				t.Errorf("%q: %v, %d retries; want the error, %v in got.Err and got.Retries of length %v", tc.says, got.Err, len(got.Retries), tc.says, tc.retries)
			}
		})
	}
}

func TestRetrySucceedsAndIsShown(t *testing.T) {
	s := newServe(t, status(529, "", "Retry-After-Ms", "1"), status(503, `{"error":{"message":"Loading model"}}`, "Retry-After-Ms", "1"), events(data(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`)))
	got := llmtest.Collect(t.Context(), newChat(llm.Options{BaseURL: s.URL}), helloRequest())
	if got.Err != nil || got.Text != "a" || len(got.Retries) != 2 || got.Retries[0].Reason != "the provider is overloaded (529)" || got.Retries[1].Attempt != 2 {
		t.Fatalf("got %+v; want the text a after two retries", got)
	}
}

func TestUnreachableServerIsReportedAtOnce(t *testing.T) {
	address := porttest.Free(t)
	got := llmtest.Collect(t.Context(), newChat(llm.Options{BaseURL: address}), helloRequest())
	if !errors.Is(got.Err, protocol.ErrModel) || !strings.Contains(got.Err.Error(), "Nothing answers at "+address) || len(got.Retries) > 0 {
		t.Fatalf("got %v, %v; want error ErrModel, %q in Err and Retries of length at most 0", got.Err, got.Retries, "Nothing answers at "+address)
	}
}

func TestRefusedParametersAreLeftOutFromThenOn(t *testing.T) {
	ok := events(data(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`))
	s := newServe(t,
		status(400, `{"error":{"message":"Unknown parameter: stream_options"}}`),
		status(400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}`),
		status(422, `{"detail":[{"loc":["body","reasoning_effort"],"msg":"extra fields not permitted"}]}`), ok)
	m := newChat(llm.Options{BaseURL: s.URL})
	req := helloRequest()
	req.MaxTokens, req.Thinking = 10, "high"
	for range 2 {
		if got := llmtest.Collect(t.Context(), m, req); got.Err != nil {
			t.Fatal(got.Err)
		}
	}
	if len(s.bodies) != 5 {
		t.Fatalf("got %d requests, want 5", len(s.bodies))
	}
	for _, body := range s.bodies[3:] {
		if body["stream_options"] != nil || body["max_tokens"] != nil || body["reasoning_effort"] != nil || body["max_completion_tokens"] != 10.0 {
			t.Errorf(`got %v; want no body["stream_options"], no body["max_tokens"], no body["reasoning_effort"] and body["max_completion_tokens"] 10.0`, body)
		}
	}
}

func user(text string) protocol.Message {
	return protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}}
}

func result(id, text string) protocol.Message {
	return protocol.Message{Role: protocol.RoleToolResult, ToolCallID: id, Content: protocol.Content{protocol.Text(text)}}
}

var wires = map[string]func(llm.Options) llm.Model{"chat": newChat, "responses": newResponses}

func newChat(o llm.Options) llm.Model {
	o.Wire = "chat"
	return New(o)
}

func newResponses(o llm.Options) llm.Model {
	o.Wire = "responses"
	return New(o)
}
