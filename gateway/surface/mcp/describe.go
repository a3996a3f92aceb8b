package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
)

// describe describes a tool for a list, which models read in each request.
func describe(t catalog.Tool) *mcp.Tool {
	return &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: encodeSchema(brief(t)), OutputSchema: anyResult,
		Annotations: annotations(t),
	}
}

// annotations describes the effects of a tool. Only a tool that changes something needs the hints
// about its changes.
func annotations(t catalog.Tool) *mcp.ToolAnnotations {
	a := &mcp.ToolAnnotations{ReadOnlyHint: t.ReadOnly, OpenWorldHint: &t.OpenWorld}
	if !t.ReadOnly {
		a.DestructiveHint, a.IdempotentHint = &t.Destructive, t.Idempotent
	}
	return a
}

// anyResult is the schema of every result: models read the list of tools in each request, and some
// clients check failures, which are JSON in the same place, against it. The fields are in the
// OpenAPI document.
var anyResult = json.RawMessage(`{"type":"object"}`)

// evident are the fields whose names say enough to a model, beside the description of the tool.
var evident = []string{"target", "session", "command_id", "signal", "new_string", "replace_all", "encoding", "chunk_b64"}

// special are the fields of the tool file that no other tool describes.
var special = []string{"ops", "expected_sha256", "force"}

// brief returns the schema of a tool's arguments without the descriptions that a model does not
// need. The schema of a machine's or server's tool stays as it is: there, a name may mean something
// else.
func brief(t catalog.Tool) *jsonschema.Schema {
	if strings.Contains(t.Name, "__") {
		return t.In
	}
	short := *t.In
	short.Properties = maps.Clone(t.In.Properties)
	for name, p := range short.Properties {
		if slices.Contains(evident, name) || t.Name == "file" && !slices.Contains(special, name) {
			plain := *p
			plain.Description, short.Properties[name] = "", &plain
		}
	}
	return &short
}

// encodeSchema returns a schema as JSON. The SDK encodes any other form anew for each call of the
// tool.
func encodeSchema(s *jsonschema.Schema) json.RawMessage {
	raw, err := protocol.Marshal(s)
	if err != nil {
		return anyResult
	}
	return raw
}
