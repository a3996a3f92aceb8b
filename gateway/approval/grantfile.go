package approval

import (
	"encoding/json"
	"strings"
	"time"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// SessionGrants returns the permissions of a chat in the form that decisions use.
func SessionGrants(grants []store.Grant) (list []policy.SessionGrant) {
	for _, g := range grants {
		list = append(list, policy.SessionGrant{Node: g.Node, Tool: g.Tool, Match: g.Match})
	}
	return list
}

// exportGrant converts a chat's permission to the form of an exported file of rules; ok is false
// for one that cannot be read.
func exportGrant(g store.Grant) (out policy.Grant, ok bool) {
	out = policy.Grant{Scope: policy.ScopeSession, Tool: g.Tool, Node: string(g.Node), Session: string(g.Session)}
	if path, ok := strings.CutPrefix(g.Match, policy.PathMatch); ok {
		out.Path = path
		return out, true
	}
	rest, ok := strings.CutPrefix(g.Match, policy.CallMatch)
	if !ok {
		return out, false
	}
	at := strings.Index(rest, " {")
	for at >= 0 && !json.Valid([]byte(rest[at+1:])) { // it belongs to the folder's name
		next := strings.Index(rest[at+1:], " {")
		if next < 0 {
			return out, false
		}
		at += 1 + next
	}
	if at < 0 {
		return out, false
	}
	out.Cwd = rest[:at]
	args := json.RawMessage(rest[at+1:])
	var all map[string]json.RawMessage
	if json.Unmarshal(args, &all) != nil {
		return out, false
	}
	if json.Unmarshal(all["command"], &out.Command) != nil || len(all) > 1 {
		out.Args = args
	}
	return out, true
}

// importGrant is the inverse of carried. ok is false for a permission that is not for a chat on one
// machine, or does not name a whole call: a chat's permissions are compared with whole calls only.
func importGrant(g policy.Grant) (out store.Grant, ok bool) {
	if g.Scope == policy.ScopeOnce || g.Node == "" || g.Node == "*" || g.Session == "" || g.Session == "*" || g.Shell != "" || !g.Expires.IsZero() {
		return out, false
	}
	out = store.Grant{
		ID: protocol.NewID(), Session: protocol.SessionKey(g.Session), Node: protocol.NodeID(g.Node), Tool: g.Tool, CreatedAt: time.Now().UnixMilli(),
	}
	switch {
	case g.Path != "":
		out.Match, out.Words = policy.PathMatch+g.Path, policy.AnyAccess(g.Tool, g.Path)
		return out, true
	case g.Command == "" && len(g.Args) == 0:
		return out, false
	case len(g.Args) == 0:
		var err error
		if g.Args, err = protocol.Marshal(map[string]string{"command": g.Command}); err != nil {
			return out, false
		}
	}
	args, err := protocol.Canonical(g.Args)
	if err != nil {
		return out, false
	}
	out.Match, out.Words = policy.CallMatch+g.Cwd+" "+string(args), policy.ExactCommand
	return out, true
}
