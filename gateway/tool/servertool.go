package tool

import (
	"bytes"
	"encoding/json"

	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// Limits of what a question shows of a server's tool, in characters.
const (
	maxToolText     = 2_000
	maxArgumentText = 500
)

// describeServerTool describes a call of an MCP server's tool for its question.
func describeServerTool(spec protocol.ToolSpec, args json.RawMessage) *protocol.ApprovalTool {
	out := &protocol.ApprovalTool{
		Server: spec.Server, Name: display.Line(spec.ServerTool, maxArgumentText), Title: spec.Title, Description: display.Clip(spec.Description, maxToolText),
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(spec.InputSchema, &schema) // without descriptions, names and values are shown
	in := json.NewDecoder(bytes.NewReader(args))
	if start, err := in.Token(); err != nil || start != json.Delim('{') {
		return out
	}
	for in.More() {
		name, err := in.Token()
		var value json.RawMessage
		if err != nil || in.Decode(&value) != nil {
			return out
		}
		one := protocol.ApprovalArgument{Name: name.(string), Value: string(value)}
		if value[0] == '"' {
			_ = json.Unmarshal(value, &one.Value) // a string that the decoder has accepted
		}
		var property struct {
			Description string `json:"description"`
		}
		_ = json.Unmarshal(schema.Properties[one.Name], &property)
		one.Description = display.Line(property.Description, maxArgumentText)
		out.Arguments = append(out.Arguments, one)
	}
	return out
}
