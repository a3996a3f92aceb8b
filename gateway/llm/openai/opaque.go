package openai

import (
	"encoding/json"

	"fairlead/gateway/protocol"
)

// Wires an opaque value can belong to.
const (
	wireChat      = "openai-chat"
	wireResponses = "openai-responses"
)

// opaque is what this package keeps in [protocol.Block.Opaque].
type opaque struct {
	Wire  string `json:"wire"`
	Model string `json:"model"`
	// Field is the name under which a chat server sent its thoughts.
	Field string `json:"field,omitempty"`
	// Details are OpenRouter's reasoning_details.
	Details json.RawMessage `json:"details,omitempty"`
	// Extra is a call's extra_content, where Gemini's compatible endpoint hides its signature.
	Extra json.RawMessage `json:"extra,omitempty"`
	// Item is a reasoning item of the responses wire.
	Item json.RawMessage `json:"item,omitempty"`
}

// raw returns o as JSON, or nil when it could not be encoded because a server sent nonsense.
func (o opaque) raw() json.RawMessage {
	data, err := protocol.Marshal(o)
	if err != nil {
		return nil
	}
	return data
}

// opaqueOf returns what b carries for this wire and model, or nothing.
func opaqueOf(b protocol.Block, wire, model string) opaque {
	var o opaque
	if len(b.Opaque) == 0 || json.Unmarshal(b.Opaque, &o) != nil || o.Wire != wire || o.Model != model {
		return opaque{}
	}
	return o
}
