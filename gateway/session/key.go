package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// Peer identifies the sender of a message, or the room it was written in.
type Peer struct {
	Channel, Account string
	Kind             string // empty means a direct conversation
	ID               string
}

const prefix = "agent:"

// Canonical maps the spellings of a session key to the key of one chat. The key of a stored chat
// names that chat regardless of the current settings, so every chat in the list can be reached.
// Under the default scope "", "main" and "agent:main:cli:dm:main" all mean "agent:main:main". A key
// of another form is returned unchanged.
func (c *Chats) Canonical(key protocol.SessionKey) protocol.SessionKey {
	to := canonical(c.settings.config().Session, key)
	if to != key && c.isStored(key) {
		return key
	}
	return to
}

func canonical(cfg config.SessionConfig, key protocol.SessionKey) protocol.SessionKey {
	s := strings.TrimSpace(string(key))
	if s == "" || isMain(cfg, s) {
		return cfg.Main(protocol.MainAgent)
	}
	parts := strings.Split(s, ":")
	if len(parts) < 3 || parts[0] != "agent" {
		return protocol.SessionKey(s)
	}
	agent, rest := config.AgentName(parts[1]), parts[2:]
	if len(rest) == 1 && isMain(cfg, rest[0]) {
		return cfg.Main(agent)
	}
	for i, p := range rest {
		if !strings.EqualFold(p, protocol.PeerDM) || i > 2 || i+1 == len(rest) {
			continue
		}
		peer := Peer{Kind: protocol.PeerDM, ID: strings.Join(rest[i+1:], ":")}
		if i > 0 {
			peer.Channel = rest[0]
		}
		if i > 1 {
			peer.Account = rest[1]
		}
		return build(cfg, agent, peer)
	}
	if len(rest) >= 3 {
		return build(cfg, agent, Peer{Channel: rest[0], Kind: rest[1], ID: strings.Join(rest[2:], ":")})
	}
	return protocol.SessionKey(prefix + string(agent) + ":" + strings.Join(rest, ":"))
}

// build returns the key of a peer's conversation. Missing parts of the scope are left out.
func build(cfg config.SessionConfig, agent protocol.AgentID, p Peer) protocol.SessionKey {
	key := []string{"agent", string(agent)}
	if kind := token(p.Kind, protocol.PeerDM); kind != protocol.PeerDM {
		return protocol.SessionKey(strings.Join(append(key, token(p.Channel, "unknown"), kind, peerID(p.ID)), ":"))
	}
	switch cfg.DMScope {
	case "per-peer":
	case "per-channel-peer", "per-account-channel-peer":
		if p.Channel != "" {
			key = append(key, token(p.Channel, "unknown"))
		}
		if p.Channel != "" && cfg.DMScope == "per-account-channel-peer" {
			key = append(key, cmp.Or(config.Name(p.Account), "default"))
		}
	default:
		return cfg.Main(agent)
	}
	return protocol.SessionKey(strings.Join(append(key, protocol.PeerDM, peerID(p.ID)), ":"))
}

func isMain(cfg config.SessionConfig, s string) bool {
	return strings.EqualFold(s, "main") || strings.EqualFold(s, cfg.MainName())
}

var invalidInToken = regexp.MustCompile(`[^a-z0-9+\-_@.]`)

// token normalizes a channel, kind or peer for use in a key.
func token(s, empty string) string {
	return cmp.Or(invalidInToken.ReplaceAllString(strings.ToLower(strings.TrimSpace(s)), "_"), empty)
}

// hashedID matches the result of [peerID] for an ID that needed a hash.
var hashedID = regexp.MustCompile(`^[a-z0-9+\-_@.]+~[0-9a-f]{16}$`)

// peerID returns a peer's ID for use in a key: normalized by [token], plus a hash when that changed
// more than the case, because two peers must not share a conversation. Tokens never contain a
// tilde, so an ID that already has this form comes from a key.
func peerID(id string) string {
	id = strings.ToLower(strings.TrimSpace(id))
	form := token(id, "unknown")
	switch {
	case hashedID.MatchString(id):
		return id
	case id == form || id == "":
		return form
	}
	return withHash(form, id)
}

func withHash(form, id string) string {
	sum := sha256.Sum256([]byte(id))
	return form + "~" + hex.EncodeToString(sum[:8])
}

// windowChat follows the agent in the keys of chats that were created in a window.
const windowChat = "app:chat:"

// isPrivate reports whether only the person takes part in a conversation, so that it may contain
// the agent's memories of the person: the main chats, including that from before session.mainKey
// was set, and the chats of windows. Schedules and heartbeats have only the input they were given.
func isPrivate(cfg config.SessionConfig, key protocol.SessionKey) bool {
	agent := key.Agent()
	return key == cfg.Main(agent) || key == prefix+protocol.SessionKey(agent)+":main" || strings.HasPrefix(string(key), prefix+string(agent)+":"+windowChat)
}

// Shared reports whether other people than the person take part in a conversation.
func (c *Chats) Shared(key protocol.SessionKey) bool { return c.Canonical(key).IsShared() }

// newKey returns the key of a new chat that a window creates with an agent.
func newKey(agent protocol.AgentID) protocol.SessionKey {
	return protocol.SessionKey(prefix + string(agent) + ":" + windowChat + protocol.NewID()[:13])
}

// isStored reports whether a chat is stored under exactly this key.
func (c *Chats) isStored(key protocol.SessionKey) bool {
	_, err := c.sessions.Get(context.Background(), key)
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		slog.Error("Looking up a chat failed", "session", key, "err", err)
	}
	return err == nil
}

// Route returns the agent and the session key for a message from a channel. The first binding whose
// fields all match names the agent, otherwise the default agent is used. In direct messages, a
// sender who is linked to an identity is that identity on all channels.
func (c *Chats) Route(channel, account, kind, id string) (protocol.AgentID, protocol.SessionKey) {
	return route(c.settings.config(), Peer{Channel: channel, Account: account, Kind: kind, ID: id})
}

func route(cfg config.Config, p Peer) (protocol.AgentID, protocol.SessionKey) {
	p.Kind = token(p.Kind, protocol.PeerDM)
	agent := agentFor(cfg.Agents, p)
	links := cfg.Session.IdentityLinks
	who := ""
	if p.Kind == protocol.PeerDM {
		who = identity(links, p.Channel, p.ID)
	}
	switch id := strings.ToLower(strings.TrimSpace(p.ID)); {
	case who != "":
		p.ID = who
	case hashedID.MatchString(id) || p.Kind == protocol.PeerDM && isIdentity(links, id):
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

// identity returns the identity that a sender is linked to, or "". A link is "id" or "channel:id".
func identity(links map[string][]string, channel, id string) string {
	id = config.SenderID(channel, id)
	if id == "" {
		return ""
	}
	for _, who := range slices.Sorted(maps.Keys(links)) { // deterministic when two identities claim a sender
		if slices.ContainsFunc(links[who], func(link string) bool {
			on, rest, ok := strings.Cut(strings.TrimSpace(link), ":")
			return config.SenderID(channel, link) == id ||
				ok && strings.EqualFold(on, channel) && config.SenderID(channel, rest) == id
		}) {
			return who
		}
	}
	return ""
}
