package session

import (
	"maps"
	"slices"
	"strings"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// Route returns the agent and the session key for a message from a channel. The first binding whose
// fields all match names the agent, otherwise the default agent is used, otherwise the main one. In
// direct messages, a sender who is linked to an identity is that identity on all channels. A room
// is a conversation of its own regardless of who writes in it.
func (m *Manager) Route(channel, account, kind, id string) (protocol.AgentID, protocol.SessionKey) {
	return route(m.opts.Config(), Peer{Channel: channel, Account: account, Kind: kind, ID: id})
}

func route(cfg config.Config, p Peer) (protocol.AgentID, protocol.SessionKey) {
	p.Kind = token(p.Kind, KindDM)
	agent := agentFor(cfg.Agents, p)
	links := cfg.Session.IdentityLinks
	who := ""
	if p.Kind == KindDM {
		who = identity(links, p.Channel, p.ID)
	}
	switch id := strings.ToLower(strings.TrimSpace(p.ID)); {
	case who != "":
		p.ID = who
	case hashedID.MatchString(id) || p.Kind == KindDM && isIdentity(links, id):
		p.ID = withHash(token(id, "unknown"), "peer "+id) // the ID looks like somebody else's
	}
	return agent, build(cfg.Session, agent, p)
}

// isIdentity reports whether an ID would look like a linked identity in a session key.
func isIdentity(links map[string][]string, id string) bool {
	for who := range links {
		if peerID(who) == peerID(id) {
			return true
		}
	}
	return false
}

// agentFor returns the agent of the first binding whose fields all match, or the default agent.
func agentFor(agents config.Agents, p Peer) protocol.AgentID {
	agree := func(want, got string) bool { return want == "" || strings.EqualFold(want, got) }
	for _, b := range agents.Bindings {
		if agree(b.Match.Channel, p.Channel) && agree(b.Match.AccountID, p.Account) &&
			(b.Match.Peer == nil || agree(b.Match.Peer.Kind, p.Kind) && agree(b.Match.Peer.ID, p.ID)) {
			return config.AgentName(b.AgentID)
		}
	}
	return agents.Default()
}

// identity returns the identity that a sender is linked to, or "". A link is "id", for any channel,
// or "channel:id".
func identity(links map[string][]string, channel, id string) string {
	id = config.SenderID(channel, id)
	if id == "" {
		return ""
	}
	for _, who := range slices.Sorted(maps.Keys(links)) { // deterministic when two identities claim a sender
		for _, link := range links[who] {
			if config.SenderID(channel, link) == id {
				return who
			}
			if on, rest, ok := strings.Cut(strings.TrimSpace(link), ":"); ok && strings.EqualFold(on, channel) && config.SenderID(channel, rest) == id {
				return who
			}
		}
	}
	return ""
}
