package ask

import (
	"encoding/json"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// Origin identifies the API and the model that a block's opaque data belongs to.
type Origin struct {
	Wire  string `json:"wire"`
	Model string `json:"model"`
}

// Opaque returns the data for [protocol.Block.Opaque], which contains an Origin; nil if it cannot
// be encoded because a server sent invalid data.
func Opaque(v any) json.RawMessage {
	data, err := protocol.Marshal(v)
	if err != nil {
		return nil
	}
	return data
}

// ReadOpaque decodes a block's opaque data into v, and reports whether it belongs to this API and
// model.
func ReadOpaque(b protocol.Block, o Origin, v any) bool {
	var from Origin
	return json.Unmarshal(b.Opaque, &from) == nil && from == o && json.Unmarshal(b.Opaque, v) == nil
}

// LostImage replaces an image that is no longer stored.
const LostImage = "(an image that is no longer stored)"

// ImageType returns the MIME type of an image.
func ImageType(b protocol.Block) string {
	if b.MimeType == "" {
		return "image/png"
	}
	return b.MimeType
}

// FunctionTool is a tool in the chat API's form.
type FunctionTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// FunctionTools converts tools.
func FunctionTools(tools []llm.Tool) []FunctionTool {
	var out []FunctionTool
	for _, t := range tools {
		f := FunctionTool{Type: "function"}
		f.Function.Name, f.Function.Description, f.Function.Parameters = t.Name, t.Description, Schema(t.Schema)
		out = append(out, f)
	}
	return out
}

// Schema adds parts that several servers require: an object with properties.
func Schema(s json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(s, &object) != nil || object == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if object["properties"] != nil && object["type"] != nil {
		return s
	}
	for name, value := range map[string]string{"type": `"object"`, "properties": "{}"} {
		if object[name] == nil {
			object[name] = json.RawMessage(value)
		}
	}
	raw, err := protocol.Marshal(object)
	if err != nil {
		return s
	}
	return raw
}
