package openai

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

var chatWire = wire{"/chat/completions", chatBody, func(m *model, s stream) ask.Reader { return &chatReader{m: m, stream: s} }}

type chatRequest struct {
	Model         string             `json:"model"`
	Messages      []message          `json:"messages"`
	Tools         []ask.FunctionTool `json:"tools,omitempty"`
	Stream        bool               `json:"stream"`
	StreamOptions map[string]bool    `json:"stream_options,omitempty"`
	MaxTokens     int                `json:"max_tokens,omitempty"`
	MaxCompletion int                `json:"max_completion_tokens,omitempty"`
	Effort        string             `json:"reasoning_effort,omitempty"`
	Reasoning     *effort            `json:"reasoning,omitempty"` // OpenRouter's equivalent
	Kwargs        map[string]any     `json:"chat_template_kwargs,omitempty"`
	CacheKey      string             `json:"prompt_cache_key,omitempty"`
	Modalities    []string           `json:"modalities,omitempty"`
}

type effort struct {
	Effort  string `json:"effort,omitempty"`
	Enabled *bool  `json:"enabled,omitempty"`
	Summary string `json:"summary,omitempty"` // responses
}

func chatBody(m *model, req llm.Request) any {
	r := chatRequest{Model: m.Model, Messages: m.messages(req), Tools: ask.FunctionTools(req.Tools), Stream: true}
	if !m.refused.Has(paramStreamOptions) {
		r.StreamOptions = map[string]bool{"include_usage": true}
	}
	// OpenAI renamed it to max_completion_tokens; all other servers know the old name.
	oldRefused, newRefused := m.refused.Has(paramMaxTokens), m.refused.Has(paramMaxCompletion)
	switch {
	case oldRefused && newRefused:
	case oldRefused || m.host == hostOpenAI && !newRefused:
		r.MaxCompletion = req.MaxTokens
	default:
		r.MaxTokens = req.MaxTokens
	}
	m.think(&r, req.Thinking)
	if m.host == hostOpenAI && !m.refused.Has(paramCacheKey) {
		r.CacheKey = req.CacheKey
	}
	if m.host == hostOpenRouter && strings.Contains(m.Model, "-image") {
		r.Modalities = []string{"image", "text"}
	}
	return r
}

func (m *model) think(r *chatRequest, level string) {
	switch {
	case level == "":
	case m.host == hostOpenRouter:
		if m.refused.Has(paramReasoning) {
			return
		}
		if level == "none" {
			r.Reasoning = &effort{Enabled: new(false)}
		} else {
			r.Reasoning = &effort{Effort: level}
		}
	case m.host != hostOpenAI && level == "none":
		// llama.cpp, vLLM and SGLang turn thinking off through the chat template; others ignore the
		// field.
		if !m.refused.Has(paramKwargs) {
			r.Kwargs = map[string]any{"enable_thinking": false}
		}
	default:
		if !m.refused.Has(paramEffort) {
			r.Effort = level
		}
	}
}

type chatReader struct {
	stream
	m        *model
	split    splitter
	thoughts reasoning
	calls    calls
	usage    *protocol.Usage
	finish   string
	refusal  bool
	isWhole  bool // the answer came in one piece
}

// Event implements [ask.Reader].
func (r *chatReader) Event(ev ask.Event) error {
	var c chunk
	if err := ask.Decode(ev.Data, &c); err != nil {
		return err
	}
	if ev.Name == "error" || ask.IsError(c.Error) {
		return ask.StreamError(ev.Data)
	}
	if u := c.Usage; u != nil && u.Prompt+u.Completion > 0 {
		r.count(u)
	} else if c.X != nil && c.X.Usage != nil {
		r.count(c.X.Usage)
	}
	for _, choice := range c.Choices {
		if choice.Delta != nil {
			r.delta(choice.Delta)
		}
		if choice.Message != nil && choice.Delta == nil {
			r.delta(choice.Message)
			r.isWhole = true
		}
		if f := choice.FinishReason; f != nil && *f != "" {
			r.finish = *f
		}
	}
	return nil
}

func (r *chatReader) count(u *usage) {
	counted := u.count()
	r.usage = &counted
	r.Emit(llm.Event{Type: llm.EventUsage, Usage: counted})
}

func (r *chatReader) delta(d *delta) {
	r.Text(llm.EventThinking, r.thoughts.add(d))
	thought, answer := parts(d.Content)
	inline, answer := r.split.add(answer)
	r.emit(thought+inline, answer)
	if t := text(d.Refusal); t != "" {
		r.refusal = true
		r.emit("", t)
	}
	for i, t := range d.ToolCalls {
		// Without an index, the entries of one event are calls of their own.
		r.toolCall(t, i > 0 && t.Index == nil && t.Function.Name != "")
	}
	for _, i := range d.Images {
		if mime, data, ok := dataURL(i.ImageURL); ok {
			r.Emit(llm.Event{Type: llm.EventImage, Block: protocol.Block{Type: protocol.BlockImage, MimeType: mime, Data: data}})
		}
	}
}

// emit publishes a piece of a thought that came inside the text, and a piece of the text.
func (r *chatReader) emit(thought, answer string) {
	r.thoughts.text.WriteString(thought)
	r.Text(llm.EventThinking, thought)
	if answer != "" {
		r.thoughts.finish(r.m.Model, r.Out)
		r.Text(llm.EventText, answer)
	}
}

func (r *chatReader) toolCall(t toolDelta, isNew bool) {
	r.thoughts.finish(r.m.Model, r.Out)
	c := r.callOf(t, isNew)
	args := argumentText(t.Function.Arguments)
	if args != "" && args == c.args.String() && c.isWhole() { // some servers repeat the whole call at its end
		return
	}
	c.id = cmp.Or(c.id, t.ID)
	c.addName(t.Function.Name)
	if len(t.Extra) > 0 && string(t.Extra) != "null" {
		c.extra = t.Extra
	}
	c.add(args, r.Out)
}

// callOf returns the call that t continues, by its index, or a new one. For servers that omit the
// index, or use the same one for every call, a name begins a call if it comes with a new ID, after
// complete arguments, or after the name of another tool.
func (r *chatReader) callOf(t toolDelta, isNew bool) *call {
	var c *call
	key := ""
	if t.Index != nil {
		key = strconv.Itoa(*t.Index)
		c = r.calls.find(key)
	} else if n := len(r.calls); n > 0 {
		c = r.calls[n-1]
	}
	hasNewID := t.ID != "" && c != nil && c.id != t.ID
	switch name := t.Function.Name; {
	case c == nil || isNew:
		return r.calls.open(key)
	case name == "":
		if hasNewID && t.Index == nil && c.isWhole() {
			return r.calls.open(key)
		}
	case hasNewID && (t.Index == nil || c.id != ""),
		t.ID == "" && c.isWhole(),
		t.ID == "" && r.tools[c.name] && r.tools[name] && name != c.name && !r.tools[c.name+name]:
		return r.calls.open(key)
	}
	return c
}

// End completes the answer after the end of the stream.
func (r *chatReader) End(done bool) error {
	r.emit(r.split.end())
	r.thoughts.finish(r.m.Model, r.Out)
	ev, err := r.ending()
	if err != nil {
		return err
	}
	// The connection was closed regularly, but nothing said that the answer was complete.
	if r.finish == "" && !done && !r.isWhole && r.usage == nil {
		return ask.Broken("the connection closed before the answer was complete")
	}
	for _, c := range r.calls {
		var o json.RawMessage
		if c.extra != nil {
			o = ask.Opaque(opaque{Origin: ask.Origin{Wire: wireChat, Model: r.m.Model}, Extra: c.extra})
		}
		c.finish(r.Out, o)
	}
	if r.usage == nil {
		r.Emit(llm.Event{Type: llm.EventUsage, Usage: r.estimate()})
	}
	r.Emit(ev)
	return nil
}

func (r *chatReader) ending() (llm.Event, error) {
	if r.refusal && len(r.calls) == 0 {
		return ask.Ending(ask.ModelRefusal, "", false)
	}
	return ask.Ending(r.finish, "", len(r.calls) > 0)
}
