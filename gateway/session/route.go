package session

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// Route finds the agent and the conversation of a message that came over a channel: the first binding whose fields all agree names the agent, else the
// agent that is marked as default has it, else the main one. Somebody who is linked to an identity is that identity in direct conversations,
// over whatever channel they write; a room stays the room it is, whoever speaks in it.
func (m *Manager) Route(p Peer) (protocol.AgentID, protocol.SessionKey) {
	return route(m.opts.Config(), p)
}

func route(cfg config.Config, p Peer) (protocol.AgentID, protocol.SessionKey) {
	p.Kind = token(p.Kind, KindDM)
	agent := routed(cfg.Agents, p)
	if p.Kind == KindDM {
		p.ID = cmp.Or(identity(cfg.Session.IdentityLinks, p.Channel, p.ID), p.ID)
	}
	return agent, build(cfg.Session, agent, p)
}

func routed(agents config.Agents, p Peer) protocol.AgentID {
	agree := func(want, got string) bool { return want == "" || strings.EqualFold(want, got) }
	for _, b := range agents.Bindings {
		if agree(b.Match.Channel, p.Channel) && agree(b.Match.AccountID, p.Account) &&
			(b.Match.Peer == nil || agree(b.Match.Peer.Kind, p.Kind) && agree(b.Match.Peer.ID, p.ID)) {
			return agentName(b.AgentID)
		}
	}
	for _, a := range agents.List {
		if a.Default {
			return agentName(a.ID)
		}
	}
	return protocol.MainAgent
}

// identity is the name that a sender is linked to, or empty. A link is "id", for any channel, or "channel:id".
func identity(links map[string][]string, channel, id string) string {
	for _, who := range slices.Sorted(maps.Keys(links)) { // the same one whenever two claim a sender
		for _, link := range links[who] {
			if same(link, id) {
				return who
			}
			if on, rest, ok := strings.Cut(link, ":"); ok && strings.EqualFold(on, channel) && same(rest, id) {
				return who
			}
		}
	}
	return ""
}

// same compares the ids of people: telephone numbers by their digits, whatever stands between them; anything else letter by letter, without regard to case.
func same(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	if x, y := phone(a), phone(b); x != "" || y != "" {
		return x == y
	}
	return a != "" && strings.EqualFold(a, b)
}

// phone returns the digits of a telephone number, which may have a domain as in WhatsApp's ids, or nothing.
func phone(s string) string {
	s, _, _ = strings.Cut(s, "@")
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune("+ ()-./", r) {
			return -1
		}
		return r
	}, s)
	if strings.Trim(digits, "0123456789") != "" || len(digits) < 5 || len(digits) > 18 {
		return ""
	}
	return strings.TrimPrefix(digits, "00")
}
