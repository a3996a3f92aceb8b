package catalog

import (
	"context"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/job"
)

// extra lists the tools of the gateway and of the machines that the caller may use, under their own
// names. They need the scope tools.all. A name that is not empty selects one of them.
func (c *Catalog) extra(p auth.Principal, name string) []*entry {
	var list []*entry
	for _, spec := range c.o.Registry.ToolsOf(p) {
		_, bare, _ := protocol.ToolName(spec.Name).Split()
		if protocol.ForPrograms(bare) || name != "" && name != spec.Name {
			continue
		}
		if e := extraEntry(spec); e != nil {
			list = append(list, e)
		}
	}
	return list
}

// extraEntry makes an entry of a tool; nil if its schema cannot be read.
func extraEntry(spec protocol.ToolSpec) *entry {
	e := &entry{isForwarded: true, Tool: Tool{CatalogTool: protocol.CatalogTool{
		Name: spec.Name, Title: spec.Name, Description: spec.Description, Mode: OneShot, Scopes: []protocol.Scope{protocol.ScopeAllTools}, InputSchema: spec.InputSchema,
	}}}
	effect := toolkit.Declared(spec).Effect
	e.ReadOnly, e.Idempotent = effect == protocol.EffectRead, spec.Idempotent || effect == protocol.EffectRead
	e.Destructive, e.OpenWorld = !e.ReadOnly, effect == protocol.EffectExec || effect == protocol.EffectNetwork
	if json.Unmarshal(spec.InputSchema, &e.In) != nil || e.In == nil || e.In.Type != "object" {
		return nil
	}
	if _, bare, _ := protocol.ToolName(spec.Name).Split(); bare == "Bash" {
		e.Description += "\n- Use Bash in the workspace, with a time limit or in the background; use `command` to send input to a command and read on as it prints."
	}
	e.Out = extraOutput(spec)
	e.OutputSchema = protocol.Encode(e.Out)
	e.need = func(json.RawMessage) []protocol.Scope { return e.Scopes }
	e.run = func(ctx context.Context, x *call, args json.RawMessage) (job.Result, error) {
		raw, err := x.runRaw(ctx, protocol.ToolName(spec.Name), args)
		if err != nil {
			return job.Result{}, tool.FaultOf(err)
		}
		var command struct{ Status, SessionID string } // of Bash
		node, bare, _ := protocol.ToolName(spec.Name).Split()
		if effect == protocol.EffectExec && json.Unmarshal(raw, &command) == nil && command.Status == "running" && command.SessionID != "" && bare == "Bash" {
			x.begun(command.SessionID, node, bare, textOf(args))
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil || object == nil { // results of programs are objects
			raw = protocol.Encode(map[string]json.RawMessage{"result": raw})
		}
		return job.Result{Data: raw, Message: spec.Name + " has finished", Call: x.last}, nil
	}
	return e
}

// textOf returns the command line of a call of Bash.
func textOf(args json.RawMessage) string {
	var in struct{ Command string }
	json.Unmarshal(args, &in) // it has run
	return in.Command
}

// extraOutput returns the schema of a result: that of the tool, if it has one of an object. Without
// one, a result can be any object.
func extraOutput(spec protocol.ToolSpec) *jsonschema.Schema {
	out := toolkit.ParseSchema(spec.OutputSchema)
	openAll(out)
	if node, _, _ := protocol.ToolName(spec.Name).Split(); node == protocol.NativePrefix {
		whole := outputSchema[protocol.NativeResult]()
		if whole.Properties["result"] = out; out == nil {
			whole.Properties["result"] = &jsonschema.Schema{Description: "depends on the arguments"}
		}
		return whole
	}
	if out == nil || out.Type != "object" {
		return &jsonschema.Schema{Type: "object"}
	}
	return out
}
