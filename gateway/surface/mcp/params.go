package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
)

// params are the parameters of a request: how the SDK decodes them, and the fields that must be there.
type params struct {
	decoded  func() any
	required []string
}

// paramsOf has the requests of clients, by method.
var paramsOf = map[string]params{
	"initialize":               {newParams[mcp.InitializeParams], nil},
	"ping":                     {newParams[mcp.PingParams], nil},
	"server/discover":          {newParams[mcp.DiscoverParams], nil},
	"completion/complete":      {newParams[mcp.CompleteParams], []string{"ref", "argument"}},
	"logging/setLevel":         {newParams[setLevelParams], []string{"level"}},
	"prompts/get":              {newParams[mcp.GetPromptParams], []string{"name"}},
	"prompts/list":             {newParams[mcp.ListPromptsParams], nil},
	"resources/list":           {newParams[mcp.ListResourcesParams], nil},
	"resources/read":           {newParams[mcp.ReadResourceParams], []string{"uri"}},
	"resources/subscribe":      {newParams[mcp.SubscribeParams], []string{"uri"}},
	"resources/templates/list": {newParams[mcp.ListResourceTemplatesParams], nil},
	"resources/unsubscribe":    {newParams[mcp.UnsubscribeParams], []string{"uri"}},
	methodListen:               {newParams[mcp.SubscriptionsListenParams], []string{"notifications"}},
	"tools/call":               {newParams[mcp.CallToolParamsRaw], []string{"name"}},
	"tools/list":               {newParams[mcp.ListToolsParams], nil},
}

// isOnlyLegacy has the methods that messages of the modern version, which name it, do not know: the
// answer says so, whatever their parameters are.
var isOnlyLegacy = map[string]bool{"initialize": true, "ping": true, "logging/setLevel": true, "resources/subscribe": true, "resources/unsubscribe": true}

// setLevelParams are those of logging/setLevel; the type of the SDK is deprecated.
type setLevelParams struct {
	Level string `json:"level"`
}

func newParams[T any]() any { return new(T) }

// checkParams returns the error for parameters that the SDK would refuse with the names of Go types.
func checkParams(method string, raw json.RawMessage) *jsonrpc.Error {
	p, ok := paramsOf[method]
	if !ok {
		return nil
	}
	var fields map[string]json.RawMessage
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &fields); err != nil {
			return invalidParams(method, err)
		}
	}
	required := p.required
	if fields == nil && method == "initialize" { // the SDK does without any field, but not without the object
		required = []string{"protocolVersion"}
	}
	for _, name := range required {
		if value, ok := fields[name]; !ok || string(value) == "null" {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("params of %s: %s is required, but missing", method, name)}
		}
	}
	if len(fields) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, p.decoded()); err != nil {
		return invalidParams(method, err)
	}
	return nil
}

func invalidParams(method string, err error) *jsonrpc.Error {
	text := "they are not those of the MCP specification"
	kind, isKind := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case method == "completion/complete" && (!isKind || strings.HasPrefix(kind.Field, "ref")):
		text = `ref must have the type "ref/prompt" and a name, or the type "ref/resource" and a uri`
	case isKind && kind.Field == "arguments" && kind.Type.Kind() == reflect.String:
		text = "arguments must have strings as values, not " + kind.Value
	case isKind:
		text = protocol.Problem(err)
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("params of %s: %s", method, text)}
}
