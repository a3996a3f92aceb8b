package tool

import (
	"encoding/json"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Limits of what a question shows of a server's tool, in characters.
const (
	maxToolText     = 2_000
	maxArgumentText = 500
)

// describeServerTool describes a call of an MCP server's tool for its question.
func describeServerTool(spec protocol.ToolSpec, args json.RawMessage) *protocol.QuestionTool {
	out := &protocol.QuestionTool{
		Server: spec.Server, Name: format.Line(spec.ServerTool, maxArgumentText), Title: spec.Title, Description: format.Clip(spec.Description, maxToolText),
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(spec.InputSchema, &schema) // without descriptions, names and values are shown
	out.Arguments = protocol.NamedArguments(args)
	for i, a := range out.Arguments {
		var property struct {
			Description string `json:"description"`
		}
		_ = json.Unmarshal(schema.Properties[a.Name], &property)
		out.Arguments[i].Description = format.Line(property.Description, maxArgumentText)
	}
	return out
}
