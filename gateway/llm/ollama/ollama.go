// Package ollama implements Ollama's own API: POST /api/chat with one JSON object per line, GET
// /api/tags, POST /api/show. Its OpenAI-compatible endpoint would be enough for text, but does not
// accept num_ctx, and Ollama's default context is too short for tools.
package ollama

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"iter"
	"net/http"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

type model struct {
	llm.Options
	refused ask.Refusals // "thinking", "tools"
}

// New returns a model of the Ollama server at o.BaseURL, by default http://127.0.0.1:11434. Its
// context window is o.Info.ContextWindow, or 16,384 if that is unknown.
func New(o llm.Options) llm.Model { return newModel(o) }

func newModel(o llm.Options) *model {
	// People paste the address of the other API.
	o.BaseURL = ask.BaseURL(o.BaseURL, "http://127.0.0.1:11434", "/v1", "/api")
	return &model{Options: o}
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return ask.Stream(ctx, func(ctx context.Context, out *ask.Out) error {
		resp, err := ask.Send(ctx, m.Options, m.httpRequest("/api/chat", m.request(req)))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		r := &reader{Out: out}
		return r.read(ask.Lines(ctx, resp))
	}, func(f *ask.Failure) bool {
		refuses := func(what string) bool {
			return strings.Contains(f.Reason, "does not support "+what) && m.refused.Add(what)
		}
		return f.Status == http.StatusBadRequest && (refuses("thinking") || refuses("tools"))
	})
}

// httpRequest returns a request with the key; body is nil for a GET.
func (m *model) httpRequest(path string, body any) ask.Request {
	r := ask.Request{URL: m.BaseURL + path, Body: body}
	if m.Key != "" { // for Ollama's own cloud, or a proxy before the server
		r.Header = map[string]string{"Authorization": "Bearer " + m.Key}
	}
	return r
}

func (m *model) call(ctx context.Context, path string, body, into any) error {
	data, err := ask.Read(ctx, m.Options, m.httpRequest(path, body))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return ask.Broken("the answer to " + path + " cannot be read: " + err.Error())
	}
	return nil
}

type reader struct {
	*ask.Out
	calls        int
	thinking     strings.Builder
	thoughtEnded bool // the finished thought was emitted
}

type line struct {
	Message    message         `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Prompt     int64           `json:"prompt_eval_count"`
	Output     int64           `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

func (r *reader) read(list iter.Seq2[[]byte, error]) error {
	for data, err := range list {
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(data)) == 0 {
			continue
		}
		var l line
		if err := ask.Decode(data, &l); err != nil {
			return err
		}
		if ask.IsError(l.Error) {
			return ask.StreamError(data)
		}
		r.message(l.Message)
		if l.Done {
			return r.end(l)
		}
		if r.IsStopped() {
			return nil
		}
	}
	return ask.Broken("the connection closed before the answer was complete")
}

func (r *reader) message(m message) {
	r.thinking.WriteString(m.Thinking)
	r.Text(llm.EventThinking, m.Thinking)
	if m.Content != "" || len(m.Calls) > 0 {
		r.endThought()
	}
	r.Text(llm.EventText, m.Content)
	for _, c := range m.Calls {
		r.call(c)
	}
	for _, data := range m.Images {
		r.Emit(llm.Event{Type: llm.EventImage, Block: protocol.Block{Type: protocol.BlockImage, MimeType: "image/png", Data: data}})
	}
}

func (r *reader) endThought() {
	if !r.thoughtEnded && r.thinking.Len() > 0 {
		r.thoughtEnded = true
		r.Emit(llm.Event{Type: llm.EventSignature, Block: protocol.Block{Type: protocol.BlockThinking, Thinking: r.thinking.String()}})
	}
}

// call emits a call, which this API sends in one piece, often without an ID.
func (r *reader) call(c call) {
	id := cmp.Or(c.ID, "call_"+rand.Text()[:16])
	r.WholeCall(r.calls, protocol.Block{Type: protocol.BlockToolCall, ID: id, Name: c.Function.Name}, string(c.Function.Arguments))
	r.calls++
}

func (r *reader) end(l line) error {
	r.endThought()
	r.Emit(llm.Event{Type: llm.EventUsage, Usage: protocol.Usage{Input: l.Prompt, Output: l.Output, Total: l.Prompt + l.Output}})
	ev, err := ask.Ending(l.DoneReason, "", r.calls > 0)
	if err == nil {
		r.Emit(ev)
	}
	return err
}

// request is the body of POST /api/chat.
type request struct {
	Model     string             `json:"model"`
	Messages  []message          `json:"messages"`
	Tools     []ask.FunctionTool `json:"tools,omitempty"`
	Stream    bool               `json:"stream"`
	Think     any                `json:"think,omitempty"` // a bool, or a level for models with levels
	KeepAlive string             `json:"keep_alive,omitempty"`
	Options   map[string]any     `json:"options,omitempty"`
	// Without it, a prompt over the window silently loses its beginning.
	Truncate *bool `json:"truncate,omitempty"`
}

type message struct {
	Role     string   `json:"role"`
	Content  string   `json:"content"`
	Thinking string   `json:"thinking,omitempty"`
	Images   []string `json:"images,omitempty"` // base64
	Calls    []call   `json:"tool_calls,omitempty"`
	ToolName string   `json:"tool_name,omitempty"`
	CallID   string   `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Index     int             `json:"index,omitempty"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

const (
	// defaultContext is used if the window is unknown: enough for the tools and some work.
	defaultContext = 16384
	// keepAlive is the time for which the model stays in memory while a person reads and approves.
	keepAlive = "30m"
)

func (m *model) request(req llm.Request) request {
	r := request{Model: m.Model, Stream: true, KeepAlive: keepAlive, Truncate: new(false), Options: map[string]any{"num_ctx": cmp.Or(m.Info.ContextWindow, defaultContext)}}
	if req.System != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: req.System})
	}
	turn := req.TurnStart()
	for i, msg := range req.Messages {
		if out, ok := convert(msg, i > turn); ok {
			r.Messages = append(r.Messages, out)
		}
	}
	if !m.refused.Has("tools") {
		r.Tools = ask.FunctionTools(req.Tools)
	}
	if req.MaxTokens > 0 {
		r.Options["num_predict"] = req.MaxTokens
	}
	if !m.refused.Has("thinking") {
		r.Think = m.think(req.Thinking)
	}
	return r
}

// think converts a level. Only gpt-oss supports levels, and its thinking cannot be turned off.
func (m *model) think(level string) any {
	levels := strings.HasPrefix(m.Model, "gpt-oss")
	switch {
	case level == "":
		return nil
	case !levels:
		return level != "none"
	case level == "none" || level == "minimal":
		return "low"
	case level == "xhigh":
		return "high"
	}
	return level
}

// convert builds one message; ok is false for an empty answer. Thoughts are sent back only within
// the current turn, where models that think between calls need them.
func convert(msg protocol.Message, inTurn bool) (out message, ok bool) {
	out.Content = msg.Content.Text()
	for _, b := range msg.Content {
		switch b.Type {
		case protocol.BlockImage:
			if b.Data == "" {
				out.Content = strings.TrimSpace(out.Content + "\n" + ask.LostImage)
			} else if msg.Role != protocol.RoleAssistant {
				out.Images = append(out.Images, b.Data)
			}
		case protocol.BlockThinking:
			if inTurn {
				out.Thinking += b.Thinking
			}
		case protocol.BlockToolCall:
			c := call{ID: b.ID}
			c.Function.Index, c.Function.Name, c.Function.Arguments = len(out.Calls), b.Name, json.RawMessage(cmp.Or(string(b.Arguments), "{}"))
			out.Calls = append(out.Calls, c)
		}
	}
	switch msg.Role {
	case protocol.RoleUser:
		out.Role = "user"
	case protocol.RoleAssistant:
		out.Role = "assistant"
		return out, out.Content != "" || len(out.Calls) > 0
	case protocol.RoleToolResult:
		out.Role, out.ToolName, out.CallID = "tool", string(msg.ToolName), msg.ToolCallID
		if out.Content == "" && len(out.Images) == 0 {
			out.Content = "(no output)"
		}
	default:
		return out, false
	}
	return out, true
}
