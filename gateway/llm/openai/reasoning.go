package openai

import (
	"encoding/json"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// reasoning collects the thoughts of a chat answer, under whichever name the server sends them.
type reasoning struct {
	text    strings.Builder
	field   string
	details []map[string]any
}

// add takes what d holds of thoughts and returns the piece that is new to the reader.
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

// addDetails merges OpenRouter's pieces: those of one type and index are one block, whose text grows and whose other
// fields the last piece decides. It returns the text that can be shown.
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
			if samePlace(have, d) {
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

// samePlace reports whether two pieces belong to one block.
func samePlace(a, b map[string]any) bool {
	typeA, okA := a["type"].(string)
	typeB, okB := b["type"].(string)
	indexA, ok1 := a["index"].(float64)
	indexB, ok2 := b["index"].(float64)
	return okA && okB && ok1 && ok2 && typeA == typeB && indexA == indexB
}

// finish tells the finished block when the answer goes on to something else or ends, and makes ready for another one:
// some models think again between their words.
func (r *reasoning) finish(model string, emit func(llm.Event)) {
	if r.text.Len() == 0 && len(r.details) == 0 {
		return
	}
	o := opaque{Wire: wireChat, Model: model, Field: r.field, Details: r.rawDetails()}
	block := protocol.Block{Type: protocol.BlockThinking, Thinking: r.text.String()}
	if o.Field != "" || o.Details != nil {
		block.Opaque = o.raw()
	}
	r.text.Reset()
	r.details = nil
	emit(llm.Event{Type: llm.EventSignature, Block: block})
}

// rawDetails is nil when there are none.
func (r *reasoning) rawDetails() json.RawMessage {
	if len(r.details) == 0 {
		return nil
	}
	raw, err := protocol.Marshal(r.details)
	if err != nil {
		return nil
	}
	return raw
}
