package session

import (
	"fmt"
	"strings"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// agentEntry is what is configured for the agent of a session.
func (m *Manager) agentEntry(key protocol.SessionKey) config.AgentEntry {
	for _, a := range m.opts.Config().Agents.List {
		if config.AgentName(a.ID) == agentOf(key) {
			return a
		}
	}
	return config.AgentEntry{}
}

// modelOf is the model and thinking level of the next message: the message's own, else the chat's, else the agent's, else the gateway's.
func (m *Manager) modelOf(s store.Session, d *protocol.Directives) (protocol.ModelRef, string) {
	cfg := m.opts.Config().Model
	if own := m.agentEntry(s.Key).Model; own != nil && own.Provider != "" {
		cfg = *own
	}
	ref, thinking := protocol.ModelRef{Provider: cfg.Provider, ID: cfg.ID}, cfg.ThinkingLevel
	if own := s.Prefs.Model; own != nil && own.Provider != "" && own.ID != "" { // one of them may be set after the other
		ref = *own
	}
	if s.Prefs.ThinkingLevel != "" {
		thinking = s.Prefs.ThinkingLevel
	}
	if d != nil {
		if d.Model != nil {
			ref = *d.Model
		}
		if d.ThinkLevel != "" {
			thinking = d.ThinkLevel
		}
	}
	return ref, thinking
}

// parseModel reads "provider/id", or an id of the present provider.
func (m *Manager) parseModel(s store.Session, text string) (protocol.ModelRef, error) {
	if strings.ContainsAny(text, " \t\n") {
		return protocol.ModelRef{}, fmt.Errorf("a model is written PROVIDER/ID, without spaces")
	}
	if provider, id, ok := strings.Cut(text, "/"); ok && id != "" {
		return protocol.ModelRef{Provider: strings.ToLower(provider), ID: id}, nil
	}
	ref, _ := m.modelOf(s, nil)
	return protocol.ModelRef{Provider: ref.Provider, ID: text}, nil
}
