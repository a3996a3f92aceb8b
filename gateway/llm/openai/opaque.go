package openai

import (
	"encoding/json"

	"fairlead/gateway/protocol"
)

// The APIs that opaque data can belong to.
const (
	wireChat      = "openai-chat"
	wireResponses = "openai-responses"
)

// opaque is the data that this package stores in [protocol.Block.Opaque].
type opaque struct {
	Wire  string `json:"wire"`
	Model string `json:"model"`
	// Field is the name under which a chat server sent its thoughts.
	Field string `json:"field,omitempty"`
	// Details are OpenRouter's reasoning_details.
	Details json.RawMessage `json:"details,omitempty"`
	// Extra is a call's extra_content, in which Gemini's compatible endpoint sends its signature.
	Extra json.RawMessage `json:"extra,omitempty"`
	// Item is a reasoning item of the responses wire.
	Item json.RawMessage `json:"item,omitempty"`
}

// raw returns o as JSON, or nil if it cannot be encoded because a server sent invalid data.
func (o opaque) raw() json.RawMessage {
	data, err := protocol.Marshal(o)
	if err != nil {
		return nil
	}
	return data
}

// opaqueOf returns b's data for this API and model, or nothing.
func opaqueOf(b protocol.Block, wire, model string) opaque {
	var o opaque
	if len(b.Opaque) == 0 || json.Unmarshal(b.Opaque, &o) != nil || o.Wire != wire || o.Model != model {
		return opaque{}
	}
	return o
}
