package catalog

import (
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// Types of arguments with fixed values.
type (
	signalName string
	shellName  string
	encoding   string
	operation  string
)

// Operations of the tool file.
const (
	opRead      operation = "read"
	opWrite     operation = "write"
	opEdit      operation = "edit"
	opMultiEdit operation = "multi_edit"
	opList      operation = "list"
	opStat      operation = "stat"
	opDelete    operation = "delete"
	opMkdir     operation = "mkdir"
	opBatch     operation = "batch"
	opFetch     operation = "fetch_url"
)

// typeSchemas are the schemas of the types with fixed values.
var typeSchemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.RawMessage](): {Type: "object"},
	reflect.TypeFor[signalName]():      {Type: "string", Enum: []any{"SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL"}},
	reflect.TypeFor[shellName]():       {Type: "string", Enum: []any{"auto", "powershell"}},
	reflect.TypeFor[encoding]():        {Type: "string", Enum: []any{"base64", "utf8"}},
	reflect.TypeFor[operation](): {Type: "string", Enum: []any{
		"read", "write", "edit", "multi_edit", "list", "stat", "delete", "mkdir", "batch", "fetch_url",
	}},
}
