package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/tooltest"
)

// TestScopesOfATool covers what a caller may call at all, whoever carries its request: the methods
// of the WebSocket protocol, MCP and REST all make calls of the pipeline.
func TestScopesOfATool(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	g.cfg.ToolApproval.DefaultDecision = "allow"
	own := func(name string, scope protocol.Scope) tool.Own {
		return tool.Own{Scope: scope, Tool: toolkit.Define(name, "", toolkit.Traits{Effect: protocol.EffectWrite}, func(context.Context, tool.Call, struct{}) (any, error) { return nil, nil })}
	}
	copies := own("Copy", protocol.ScopeInvoke)
	copies.Files = func(json.RawMessage) []tool.FileAccess {
		return []tool.FileAccess{{Endpoint: protocol.Endpoint{Node: protocol.NativePrefix, Path: "a"}, Tool: "WriteFile", Effect: protocol.EffectWrite}}
	}
	g.Registry.Register(own("Chats", protocol.ScopeChat), own("Unstated", ""), copies)
	device := func(scopes ...protocol.Scope) auth.Principal {
		return auth.Device(protocol.Device{Role: protocol.RoleClient, Name: "Phone", Scopes: scopes})
	}
	app := func(scopes ...protocol.Scope) auth.Principal {
		return auth.App(protocol.App{ID: "a", Scopes: scopes})
	}
	const forbidden = protocol.FaultForbidden
	for name, c := range map[string]struct {
		who  auth.Principal
		tool protocol.ToolName
		want any // an error, a code of a fault, or nil
	}{
		"a device with the scope":           {device(protocol.ScopeChat), "gsv__Chats", nil},
		"a device without it":               {device(protocol.ScopeInvoke), "gsv__Chats", protocol.ErrForbidden},
		"a tool that states none":           {device(protocol.ScopeChat, protocol.ScopeRead), "gsv__Unstated", protocol.ErrForbidden},
		"a tool that states none, by admin": {device(protocol.ScopeAdmin), "gsv__Unstated", nil},
		"a file of the agent":               {device(protocol.ScopeInvoke), "gsv__Copy", protocol.ErrForbidden},
		"a file of the agent, by admin":     {device(protocol.ScopeInvoke, protocol.ScopeAdmin), "gsv__Copy", nil},
		"a machine's tool by a device":      {device(protocol.ScopeInvoke), bash, nil},
		"an app with all tools":             {app(protocol.ScopeAllTools), bash, nil},
		"an app with other tools":           {app(protocol.ScopeShell, protocol.ScopeFilesRead), bash, forbidden},
		"the gateway's tool by an app":      {app(protocol.ScopeShell), "gsv__Chats", forbidden},
		"an agent":                          {agent, "gsv__Unstated", nil},
	} {
		t.Run(name, func(t *testing.T) {
			call := tool.Call{Tool: c.tool, Args: json.RawMessage(`{"command":"make"}`), Principal: c.who}
			if c.tool != bash {
				call.Args = nil
			}
			_, err := g.Run(t.Context(), call)
			isWanted := err == nil
			switch want := c.want.(type) {
			case error:
				isWanted = errors.Is(err, want)
			case protocol.FaultCode:
				isWanted = faultCode(err) == want
			}
			if !isWanted {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if (g.Check(call) == nil) != (err == nil) {
				t.Errorf("Check: got %v, want the outcome of Run, %v", g.Check(call), err)
			}
		})
	}
}
