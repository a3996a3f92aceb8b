package rpc

import (
	"encoding/json"
	"fmt"

	"fairlead/gateway/auth"
	"fairlead/gateway/native"
	"fairlead/gateway/protocol"
)

// nativeRights are what the gateway's own tools need beside the right to run tools: that of the method which does the same. A device that may run tools
// on machines shall not read all chats with one, or change who the agent is.
var nativeRights = map[string]protocol.Scope{
	"ReadFile":     protocol.ScopeRead,
	"WriteFile":    protocol.ScopeAdmin,
	"EditFile":     protocol.ScopeAdmin,
	"DeleteFile":   protocol.ScopeAdmin,
	"ConfigGet":    protocol.ScopeRead,
	"LogsGet":      protocol.ScopeRead,
	"SessionsList": protocol.ScopeRead,
	"SessionSend":  protocol.ScopeChat,
	"Message":      protocol.ScopeChat,
	"Cron":         protocol.ScopeChat,
	"Transfer":     protocol.ScopeInvoke,
}

// mayRun refuses a native tool to who could not do the same by a method. One that is not known needs the most.
func mayRun(who auth.Principal, name protocol.ToolName, args json.RawMessage) error {
	node, bare, ok := name.Split()
	if !ok || node != protocol.NativePrefix {
		return nil
	}
	right, known := nativeRights[bare]
	if !known {
		right = protocol.ScopeAdmin
	}
	if bare == "Transfer" {
		var in native.TransferIn
		if json.Unmarshal(args, &in) != nil {
			return nil // it is refused where it is read
		}
		return mayMove(who, append(in.Sources, in.Source), in.Destination)
	}
	return has(who, right, fmt.Sprintf("%s needs the right to %s, which this device does not have", name, right))
}

// mayMove refuses files of the agent's workspace to who may not read it, or change it.
func mayMove(who auth.Principal, sources []string, destination string) error {
	for _, source := range sources {
		if e, err := protocol.ParseEndpoint(source, true); err == nil && e.Node == protocol.NativePrefix {
			if err := has(who, protocol.ScopeRead, "this device may not read the agent's workspace"); err != nil {
				return err
			}
		}
	}
	if e, err := protocol.ParseEndpoint(destination, true); err == nil && e.Node == protocol.NativePrefix {
		return has(who, protocol.ScopeAdmin, "this device may not change the agent's workspace")
	}
	return nil
}

func has(who auth.Principal, right protocol.Scope, otherwise string) error {
	if !who.Has(right) {
		return protocol.ErrForbidden.With(otherwise)
	}
	return nil
}
