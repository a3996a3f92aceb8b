package config

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

var notName = regexp.MustCompile(`[^a-z0-9_-]+`)

// Name normalizes the ID of an agent or an account for session keys and folder names, as the
// original system does. The result may be empty.
func Name(id string) string {
	id = strings.Trim(notName.ReplaceAllString(strings.ToLower(strings.TrimSpace(id)), "-"), "-")
	return strings.TrimRight(id[:min(len(id), 64)], "-")
}

// AgentName returns the ID of the agent that a setting names.
func AgentName(id string) protocol.AgentID {
	return protocol.AgentID(cmp.Or(Name(id), string(protocol.MainAgent)))
}

// Default returns the agent for everything that no binding assigns: the one marked as default, or
// else the main one.
func (a Agents) Default() protocol.AgentID {
	for _, e := range a.List {
		if e.Default {
			return AgentName(e.ID)
		}
	}
	return protocol.MainAgent
}

// Has reports whether an agent exists: the main one, or one of the list.
func (a Agents) Has(id protocol.AgentID) bool {
	return id == protocol.MainAgent || slices.ContainsFunc(a.List, func(e AgentEntry) bool { return AgentName(e.ID) == id })
}

// MainSession returns the key of the default agent's main chat.
func (c Config) MainSession() protocol.SessionKey { return c.Session.Main(c.Agents.Default()) }

// MainName returns the last part of a main chat's key.
func (c SessionConfig) MainName() string {
	return cmp.Or(strings.ToLower(strings.TrimSpace(c.MainKey)), "main")
}

// Main returns the key of an agent's main chat.
func (c SessionConfig) Main(agent protocol.AgentID) protocol.SessionKey {
	return protocol.SessionKey("agent:" + string(agent) + ":" + c.MainName())
}

var (
	phoneForm = regexp.MustCompile(`^\+?[0-9][0-9 ()./-]{6,}$`)
	// phoneChannels are the channels that identify people by telephone number. On others, digits
	// are a name like any other.
	phoneChannels = []string{"whatsapp", "signal", "sms"}
)

// SenderID normalizes a sender's ID for comparison, wherever a setting names people:
// channels.NAME.allowFrom and owners, and session.identityLinks. Telephone numbers, on a channel
// that has them or with a leading +, lose their punctuation and WhatsApp's suffixes, as in the
// original system. Any other ID changes in case only, so that no two people share one.
func SenderID(channel, id string) string {
	id = strings.ToLower(strings.TrimSpace(id))
	number := id
	onPhone := slices.Contains(phoneChannels, channel)
	for _, suffix := range []string{"@s.whatsapp.net", "@c.us"} {
		if cut, ok := strings.CutSuffix(id, suffix); ok && onPhone {
			number, _, _ = strings.Cut(cut, ":") // removes the device number, too
		}
	}
	if !phoneForm.MatchString(number) || !onPhone && number[0] != '+' {
		return id
	}
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
	international, abroad := strings.CutPrefix(digits, "00")
	if abroad || number[0] == '+' || len(digits) >= 10 {
		return "+" + international
	}
	return digits
}
