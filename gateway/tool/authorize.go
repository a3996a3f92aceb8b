package tool

import (
	"context"
	"fmt"
	"slices"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// authorize decides whether the caller may use the tool at all.
func (a *activeCall) authorize(context.Context) error {
	return authorize(a.subject.call, a.subject.target, a.lookupErr)
}

// authorize returns why the caller may not use a tool. This file alone decides that: a tool states
// its scopes, and the rules decide later about what the call would do. A caller that is
// limited to some machines has neither servers nor the gateway's own tools, which reach every
// machine, except those for one machine, and does not learn which others exist: err, the failure of
// the lookup, is for everybody else.
func authorize(c Call, t resolved, err error) error {
	node := t.Node
	if err != nil {
		node, _, _ = c.Tool.Split()
	} else if m := t.Resources(c).Machine; m != "" {
		node = m
	}
	switch {
	case !mayUse(c.Principal, node):
		return noTool(c.Tool)
	case err != nil:
		return err
	}
	needs := t.Resources(c)
	switch c.Principal.Kind {
	case auth.KindApp:
		if !HasAnyScope(c.Principal, needs.Apps) {
			return checkScopes(c.Principal, needs.Apps[:1])
		}
	case auth.KindOwner:
		return authorizeDevice(c, needs)
	}
	return nil // what an agent calls is for the rules
}

// authorizeDevice returns why a device of the owner may not use a tool. A device that may run tools
// on nodes must not do with the gateway's own what it may not do by a method: read all chats, or
// change the agent's identity.
func authorizeDevice(c Call, needs Resources) error {
	if !c.Principal.Has(needs.Device) {
		return protocol.ErrForbidden.With(fmt.Sprintf("%s needs the right to %s, which this device does not have", c.Tool, needs.Device))
	}
	for _, f := range needs.Files {
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

// mayUse reports whether a caller may use a machine, or the gateway's own tools
// ([protocol.NativePrefix]).
func mayUse(p auth.Principal, node protocol.NodeID) bool {
	l := p.LimitedTo
	if l.IsAll() || slices.Contains(l.Nodes, node) {
		return true
	}
	return l.NetworkOf != nil && mayUseNetwork(p, l.NetworkOf(node))
}

// mayUseNetwork reports whether a caller may use every machine of a network, also those that join it
// later.
func mayUseNetwork(p auth.Principal, id protocol.NetworkID) bool {
	return p.LimitedTo.IsAll() || id != "" && slices.Contains(p.LimitedTo.Networks, id)
}

// HasAnyScope reports whether a caller has one of the scopes with which a tool does something. A tool
// that states none is for everybody.
func HasAnyScope(p auth.Principal, of []protocol.Scope) bool {
	return p.Kind == auth.KindOwner || len(of) == 0 || slices.ContainsFunc(of, p.Has)
}

// CheckAccess returns why a caller with the rights of now may not use a machine, unless that is
// empty, or lacks one of the scopes that are needed there. It is for what goes on without a new call,
// such as a waiting job or a queued transfer, and for what programs read beside calls.
func CheckAccess(p auth.Principal, node protocol.NodeID, need ...protocol.Scope) error {
	if node != "" && !mayUse(p, node) {
		return protocol.NewFault(protocol.FaultForbidden, "the token is limited to other machines")
	}
	return checkScopes(p, need)
}

// CheckDevice returns why a device of the owner may not do something that needs a right. Other callers
// may: what they call is for their scopes and the rules.
func CheckDevice(p auth.Principal, need protocol.Scope, what string) error {
	if p.Kind == auth.KindOwner && !p.Has(need) {
		return protocol.NewFault(protocol.FaultForbidden, fmt.Sprintf("this device may not %s: it needs the right to %s", what, need))
	}
	return nil
}

// checkScopes refuses a caller that lacks one of the scopes that a tool for programs states. The
// owner has all of them.
func checkScopes(p auth.Principal, need []protocol.Scope) error {
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
	message := fmt.Sprintf("the token has no permission for this call: it needs the scope %s", missing[0])
	details := map[string]any{"required_scopes": need, "granted_scopes": granted}
	if missing[0] == protocol.ScopeProvision {
		message = "Node provisioning requires special account permissions"
		details["required_permission"] = missing[0]
	}
	return protocol.NewFault(protocol.FaultForbidden, message).With(details)
}

// Check returns why a call cannot be made now: its tool does not exist, its machine is offline, or
// its caller may not use it. The rules say only in Run whether it is allowed.
func (p *Pipeline) Check(c Call) error {
	t, err := p.Registry.Lookup(c.Tool)
	return authorize(c, t, err)
}
