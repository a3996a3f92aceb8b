package ollama

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/sse"
	"fairlead/gateway/protocol"
)

// reader converts lines to events.
type reader struct {
	*ask.Out
	calls    int
	thinking strings.Builder
	told     bool // the finished thought was emitted
}

// line is one object of the stream.
type line struct {
	Message    message         `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Prompt     int64           `json:"prompt_eval_count"`
	Output     int64           `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

func (r *reader) read(body io.Reader) error {
	for lines := sse.NewLines(body); ; {
		data, err := lines.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return ask.Broken("the connection closed before the answer was complete")
		}
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
		r.piece(l.Message)
		if l.Done {
			r.end(l)
			return nil
		}
		if r.Stopped() {
			return nil
		}
	}
}

func (r *reader) piece(m message) {
	if m.Thinking != "" {
		r.thinking.WriteString(m.Thinking)
		r.Emit(llm.Event{Type: llm.EventThinking, Text: m.Thinking})
	}
	if m.Content != "" {
		r.thought()
		r.Emit(llm.Event{Type: llm.EventText, Text: m.Content})
	}
	for _, c := range m.Calls {
		r.thought()
		r.call(c)
	}
	for _, data := range m.Images {
		r.Emit(llm.Event{Type: llm.EventImage, Block: protocol.Block{Type: protocol.BlockImage, MimeType: "image/png", Data: data}})
	}
}

// thought emits the finished thought once.
func (r *reader) thought() {
	if !r.told && r.thinking.Len() > 0 {
		r.told = true
		r.Emit(llm.Event{Type: llm.EventSignature, Block: protocol.Block{Type: protocol.BlockThinking, Thinking: r.thinking.String()}})
	}
}

// call emits a call, which this API sends in one piece, often without an ID.
func (r *reader) call(c call) {
	if c.ID == "" {
		c.ID = "call_" + rand.Text()[:16]
	}
	i := r.calls
	r.calls++
	block := protocol.Block{Type: protocol.BlockToolCall, ID: c.ID, Name: c.Function.Name}
	r.Emit(llm.Event{Type: llm.EventCallStart, Index: i, Block: block})
	args := bytes.TrimSpace(c.Function.Arguments)
	r.Emit(llm.Event{Type: llm.EventCallDelta, Index: i, Text: string(args)})
	ev := llm.Event{Type: llm.EventCall, Index: i, Block: block}
	var object map[string]json.RawMessage
	switch {
	case len(args) == 0 || string(args) == "null":
		ev.Block.Arguments = json.RawMessage("{}")
	case json.Unmarshal(args, &object) == nil:
		ev.Block.Arguments = append(json.RawMessage(nil), args...)
	default:
		ev.Block.Arguments, ev.BadArgs = json.RawMessage("{}"), string(args)
	}
	r.Emit(ev)
}

func (r *reader) end(l line) {
	r.thought()
	r.Emit(llm.Event{Type: llm.EventUsage, Usage: protocol.Usage{Input: l.Prompt, Output: l.Output, Total: l.Prompt + l.Output}})
	stop := llm.StopEnd
	switch {
	case l.DoneReason == "length":
		stop = llm.StopMaxTokens
	case r.calls > 0:
		stop = llm.StopToolUse
	}
	r.Emit(llm.Event{Type: llm.EventStop, Stop: stop})
}
