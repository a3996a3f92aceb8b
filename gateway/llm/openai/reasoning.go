package openai

import (
	"encoding/json"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// The APIs that opaque data can belong to.
const (
	wireChat      = "openai-chat"
	wireResponses = "openai-responses"
)

type opaque struct {
	ask.Origin
	// Field is the name under which a chat server sent its thoughts.
	Field   string          `json:"field,omitempty"`
	Details json.RawMessage `json:"details,omitempty"`
	// Extra is a call's extra_content, in which Gemini's compatible endpoint sends its signature.
	Extra json.RawMessage `json:"extra,omitempty"`
	// Item is a reasoning item of the responses wire.
	Item json.RawMessage `json:"item,omitempty"`
}

// opaqueOf returns b's data for this API and model, or nothing.
func opaqueOf(b protocol.Block, wire, model string) (o opaque) {
	ask.ReadOpaque(b, ask.Origin{Wire: wire, Model: model}, &o)
	return o
}

type reasoning struct {
	text    strings.Builder
	field   string
	details []map[string]any
}

// add takes the thoughts in d and returns the part that is new.
func (r *reasoning) add(d *delta) string {
	piece, field := text(d.ReasoningContent), "reasoning_content"
	if piece == "" { // some send the same under both names
		piece, field = text(d.Reasoning), "reasoning"
	}
	shown := r.addDetails(d.ReasoningDetails)
	if piece == "" {
		piece, field = shown, ""
	}
	if field != "" {
		r.field = field
	}
	r.text.WriteString(piece)
	return piece
}

// addDetails merges OpenRouter's pieces: those with one type and index are one block, whose text is
// concatenated and whose other fields are those of the last piece. It returns the text to show.
func (r *reasoning) addDetails(raw json.RawMessage) string {
	var list []map[string]any
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var shown string
	for _, d := range list {
		for _, k := range []string{"text", "summary"} {
			if s, ok := d[k].(string); ok {
				shown += s
			}
		}
		var into map[string]any
		for _, have := range r.details {
			if isSameBlock(have, d) {
				into = have
			}
		}
		if into == nil {
			r.details = append(r.details, d)
			continue
		}
		for k, v := range d {
			s, isText := v.(string)
			old, wasText := into[k].(string)
			if isText && wasText && (k == "text" || k == "summary" || k == "data") {
				into[k] = old + s
			} else if v != nil {
				into[k] = v
			}
		}
	}
	return shown
}

func isSameBlock(a, b map[string]any) bool {
	typeA, okA := a["type"].(string)
	typeB, okB := b["type"].(string)
	indexA, ok1 := a["index"].(float64)
	indexB, ok2 := b["index"].(float64)
	return okA && okB && ok1 && ok2 && typeA == typeB && indexA == indexB
}

// finish emits the finished block when the answer continues with something else or ends, and starts
// another one: some models think again between texts.
func (r *reasoning) finish(model string, out *ask.Out) {
	if r.text.Len() == 0 && len(r.details) == 0 {
		return
	}
	o := opaque{Origin: ask.Origin{Wire: wireChat, Model: model}, Field: r.field, Details: r.rawDetails()}
	block := protocol.Block{Type: protocol.BlockThinking, Thinking: r.text.String()}
	if o.Field != "" || o.Details != nil {
		block.Opaque = ask.Opaque(o)
	}
	r.text.Reset()
	r.details = nil
	out.Emit(llm.Event{Type: llm.EventSignature, Block: block})
}

func (r *reasoning) rawDetails() json.RawMessage {
	if len(r.details) == 0 {
		return nil
	}
	return ask.Opaque(r.details)
}

// splitter separates a thought from the text for servers that do not: an answer that begins with
// <think>. It delays text only while that may be the beginning of a tag.
type splitter struct {
	state   int
	pending string
}

const (
	splitStart = iota // only white space so far
	splitThought
	splitText
)

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

func (s *splitter) add(piece string) (thought, text string) {
	if s.state == splitText {
		return "", piece
	}
	s.pending += piece
	if s.state == splitStart {
		trimmed := strings.TrimLeft(s.pending, " \r\n\t")
		switch {
		case strings.HasPrefix(trimmed, thinkOpen):
			s.state = splitThought
			s.pending = strings.TrimLeft(trimmed[len(thinkOpen):], "\r\n")
		case strings.HasPrefix(thinkOpen, trimmed):
			return "", ""
		default:
			s.state = splitText
			return "", s.take(len(s.pending))
		}
	}
	if i := strings.Index(s.pending, thinkClose); i >= 0 {
		thought = s.pending[:i]
		text = strings.TrimLeft(s.pending[i+len(thinkClose):], "\r\n")
		// Line breaks at the start of the next piece remain: they are invisible at the beginning of
		// a paragraph.
		s.state, s.pending = splitText, ""
		return thought, text
	}
	n := len(s.pending)
	if i := strings.LastIndexByte(s.pending, '<'); i >= 0 && strings.HasPrefix(thinkClose, s.pending[i:]) {
		n = i
	}
	return s.take(n), ""
}

func (s *splitter) end() (thought, text string) {
	rest := s.take(len(s.pending))
	if s.state == splitThought {
		return rest, ""
	}
	return "", rest
}

func (s *splitter) take(n int) string {
	out := s.pending[:n]
	s.pending = s.pending[n:]
	return out
}
