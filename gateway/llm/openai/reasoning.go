package openai

import (
	"encoding/json"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// reasoning collects the thoughts of a chat answer, under any of the names that servers use.
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

// finish emits the finished block when the answer continues with something else or ends, and starts
// another one: some models think again between texts.
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

// rawDetails is nil if there are none.
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
