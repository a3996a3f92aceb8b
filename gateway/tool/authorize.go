package tool

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// authorize decides whether the caller may use the tool at all. It is the only place that does:
// a tool states its scopes, and the rules decide later about what the call would do.
func (a *activeCall) authorize(context.Context) error {
	return authorize(a.call, a.target, a.lookupErr)
}

// authorize returns why the caller may not use a tool. A caller that is limited to some machines has
// neither servers nor the gateway's own tools, which reach every machine, and does not learn which
// others exist: err, the failure of the lookup, is for everybody else.
func authorize(c Call, t Target, err error) error {
	node, _, ok := c.Tool.Split()
	switch {
	case ok && !c.Principal.MayUse(node):
		return noTool(c.Tool)
	case err != nil:
		return err
	case c.Principal.Kind == auth.KindApp:
		if need := t.appScopes(); !slices.ContainsFunc(need, c.Principal.Has) {
			return CheckScopes(c.Principal, need[:1])
		}
	case c.Principal.Kind == auth.KindOwner && t.own != nil:
		return t.own.authorizeDevice(c)
	}
	return nil // an agent's calls are for the rules; a device's, for the method that makes them
}

// appScopes returns the scopes of which an app needs one.
func (t Target) appScopes() []protocol.Scope {
	if t.own != nil || t.Spec.Server != "" {
		return []protocol.Scope{protocol.ScopeAllTools}
	}
	return protocol.ScopesOf(t.Spec.Name)
}

// authorizeDevice returns why a device of the owner may not use one of the gateway's own tools. A
// device that may run tools on nodes must not do with them what it may not do by a method: read all
// chats, or change the agent's identity.
func (t Own) authorizeDevice(c Call) error {
	need := cmp.Or(t.Scope, protocol.ScopeAdmin)
	if !c.Principal.Has(need) {
		return protocol.ErrForbidden.With(fmt.Sprintf("%s needs the right to %s, which this device does not have", c.Tool, need))
	}
	if t.Files == nil {
		return nil
	}
	for _, f := range t.Files(c.Args) {
		switch {
		case f.Node != protocol.NativePrefix:
		case f.Effect == protocol.EffectRead && !c.Principal.Has(protocol.ScopeRead):
			return protocol.ErrForbidden.With("this device may not read the agent's workspace")
		case f.Effect != protocol.EffectRead && !c.Principal.Has(protocol.ScopeAdmin):
			return protocol.ErrForbidden.With("this device may not change the agent's workspace")
		}
	}
	return nil
}

// CheckScopes refuses a caller that lacks one of the scopes that a tool for programs states. The
// owner has all of them.
func CheckScopes(p auth.Principal, need []protocol.Scope) error {
	if p.Kind == auth.KindOwner {
		return nil
	}
	missing := slices.DeleteFunc(slices.Clone(need), p.Has)
	if len(missing) == 0 {
		return nil
	}
	var granted []protocol.Scope
	for s, ok := range p.Scopes {
		if ok {
			granted = append(granted, s)
		}
	}
	slices.Sort(granted)
	f := protocol.NewFault(protocol.FaultForbidden, fmt.Sprintf("the token has no permission for this call: it needs the scope %s", missing[0]))
	return f.With(map[string]any{"required_scopes": need, "granted_scopes": granted})
}

// Check returns why a call cannot be made now: its tool does not exist, its machine is offline, or
// its caller may not use it. The rules say only in Run whether it is allowed.
func (p *Pipeline) Check(c Call) error {
	t, err := p.Registry.Lookup(c.Tool)
	return authorize(c, t, err)
}
