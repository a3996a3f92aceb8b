package session

import (
	"strings"

	"fairlead/gateway/protocol"
)

// Canonical maps the spellings of a session key to one. With the default scope every direct conversation, whatever client it comes
// from, is the agent's main one (gsv interop notes 6.1): "", "main" and "agent:main:cli:dm:main" are all "agent:main:main".
func Canonical(key protocol.SessionKey) protocol.SessionKey {
	s := strings.TrimSpace(string(key))
	if s == "" || strings.EqualFold(s, "main") {
		return protocol.MainSession
	}
	parts := strings.Split(s, ":")
	if len(parts) < 3 || parts[0] != "agent" {
		return protocol.SessionKey(s)
	}
	agent := strings.ToLower(parts[1])
	if agent == "" {
		agent = string(protocol.MainAgent)
	}
	rest := parts[2:]
	if len(rest) == 1 && strings.EqualFold(rest[0], "main") {
		return protocol.SessionKey("agent:" + agent + ":main")
	}
	for i, p := range rest {
		if strings.EqualFold(p, "dm") && i <= 2 && i+1 < len(rest) {
			return protocol.SessionKey("agent:" + agent + ":main")
		}
	}
	parts[1] = agent
	return protocol.SessionKey(strings.Join(parts, ":"))
}

// newKey is the key of a new chat of a window.
func newKey() protocol.SessionKey {
	return protocol.SessionKey("agent:main:app:chat:" + protocol.NewID()[:13])
}
