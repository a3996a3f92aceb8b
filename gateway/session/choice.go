package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Limits of a chat's settings. Every window receives the settings with the list of chats.
const (
	maxModel  = 200     // bytes of the name of a provider or model
	maxPrompt = 100_000 // bytes of a system prompt, the same as for all files of a prompt together
)

// agentEntry returns the configuration of a session's agent.
func (m *Manager) agentEntry(key protocol.SessionKey) config.AgentEntry {
	for _, a := range m.opts.Config().Agents.List {
		if config.AgentName(a.ID) == agentOf(key) {
			return a
		}
	}
	return config.AgentEntry{}
}

// modelOf returns the model and thinking level for the next message. The message's own settings
// take precedence over the chat's, the agent's and the gateway's, in this order.
func (m *Manager) modelOf(s store.Session, d *protocol.Directives) (protocol.ModelRef, string) {
	cfg := m.opts.Config().Model
	if own := m.agentEntry(s.Key).Model; own != nil && own.Provider != "" {
		cfg = *own
	}
	ref, thinking := protocol.ModelRef{Provider: cfg.Provider, ID: cfg.ID}, cfg.ThinkingLevel
	// Provider and ID may be set one after the other.
	if own := s.Prefs.Model; own != nil && own.Provider != "" && own.ID != "" {
		ref = *own
	}
	if s.Prefs.ThinkingLevel != "" {
		thinking = s.Prefs.ThinkingLevel
	}
	if d != nil {
		if d.Model != nil {
			ref = protocol.ModelRef{Provider: cmp.Or(d.Model.Provider, ref.Provider), ID: d.Model.ID}
		}
		if d.ThinkLevel != "" {
			thinking = d.ThinkLevel
		}
	}
	return ref, thinking
}

// told returns a message's settings for the response to the client, with the provider filled in for
// a model that was named without one.
func (m *Manager) told(ctx context.Context, key protocol.SessionKey, d *protocol.Directives) *protocol.Directives {
	if d == nil || d.Model == nil || d.Model.Provider != "" {
		return d
	}
	s, err := m.store.Sessions.Peek(ctx, key, m.now())
	if err != nil {
		return d
	}
	out := *d
	ref, _ := m.modelOf(s, d)
	out.Model = &ref
	return &out
}

// parseModel parses "provider/id", or the ID of a model of the current provider.
func (m *Manager) parseModel(s store.Session, text string) (protocol.ModelRef, error) {
	if strings.ContainsAny(text, " \t\n") {
		return protocol.ModelRef{}, errors.New("a model is written PROVIDER/ID, without spaces")
	}
	if len(text) > maxModel {
		return protocol.ModelRef{}, fmt.Errorf("the name of a model may have %d bytes", maxModel)
	}
	if provider, id, ok := strings.Cut(text, "/"); ok {
		if provider == "" || id == "" {
			return protocol.ModelRef{}, errors.New("a model is written PROVIDER/ID")
		}
		return protocol.ModelRef{Provider: strings.ToLower(provider), ID: id}, nil
	}
	ref, _ := m.modelOf(s, nil)
	return protocol.ModelRef{Provider: ref.Provider, ID: text}, nil
}
