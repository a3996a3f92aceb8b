package policy

import (
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// The tools of MCP servers. Whoever writes a server chooses the names of its tools and what it says
// about them. So nothing of that allows a call: only a rule that names the server, a permission of a
// chat, or a chat that the person trusts.

// ServerMatch is the text of a chat's permission for every call of a server's tool.
const ServerMatch = "any"

// EveryCall describes a rule or a permission about every call of the tools of a pattern, whatever
// their arguments: "any call of echo (everything)".
func EveryCall(pattern string) string {
	server, name, ok := strings.Cut(pattern, "__")
	switch {
	case pattern == "*":
		return "any call of any tool"
	case !ok || name == "":
		return "any call of " + pattern
	case server == "*":
		return "any call of " + name + ", wherever it runs"
	case name == "*":
		return "any call of any tool of " + server
	}
	return "any call of " + name + " (" + server + ")"
}

// AnyArguments ends the description of a permission whose calls may have any arguments.
const AnyArguments = ", with any arguments"

// namesServer reports whether the pattern of an allowing rule was written with this server in mind:
// its part before the tool is not a pattern itself. A rule about Read is not about a server's Read.
func namesServer(pattern string, server protocol.NodeID) bool {
	name, _, ok := strings.Cut(pattern, "__")
	return ok && name == string(server)
}

// decideServer decides about a call of a server's tool.
func (ev *evaluation) decideServer() {
	full := string(protocol.NewToolName(ev.call.Node, ev.call.Tool))
	p := Part{Kind: "call", Text: full, Verdict: ev.set.fallback, Reason: ev.rules.defaultReason(full), Risk: ev.call.Risk}
	var allowed *rule
	for _, r := range ev.set.files {
		switch {
		case !ev.rules.applies(r, ev.call.Tool) || r.path != nil:
		case r.Verdict == Deny:
			ev.offers.isBarred = true
			p.set(Deny, r.ID, r.reason)
			ev.addPart(p)
			return
		case r.Verdict == Ask:
			ev.offers.isBarred, p.byRule = true, true
			p.set(Ask, r.ID, r.reason)
		case allowed == nil && namesServer(r.Tool, ev.call.Node):
			allowed = r
		}
	}
	if allowed != nil && !p.byRule {
		p.set(Allow, allowed.ID, allowed.reason)
	}
	if p.Verdict == Ask && ev.call.Tool != "Bash" { // a rule for that needs the words of a command
		ev.offers.list = append(ev.offers.list, Offer{Rule: Rule{Tool: full, Verdict: Allow, Source: SourceUser}, Text: full})
	}
	ev.addPart(p)
}

// askServerReason returns the reason for a question about a server's tool that no rule requires.
func (q Request) askServerReason() string {
	server := "“" + string(q.Server) + "”"
	switch {
	case q.Risk != "":
		return server + " says " + q.Risk
	case q.Effect == protocol.EffectRead:
		return server + " says this only reads. Fairlead cannot check that."
	case q.Effect == protocol.EffectNetwork:
		return server + " says this uses the network"
	}
	return "Tools of " + server + " need your approval"
}

// withoutBroadAllows returns the settings without allowing rules that do not name the server.
func (s Settings) withoutBroadAllows(server protocol.NodeID) Settings {
	s.Rules = slices.DeleteFunc(slices.Clone(s.Rules), func(r SettingsRule) bool {
		return r.Verdict == Allow && r.Tool != "*" && !namesServer(r.Tool, server)
	})
	return s
}
