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

// Bounds of what a chat is set to. Every window has it with the list of chats.
const (
	maxModel  = 200     // bytes of a provider's name, and of a model's
	maxPrompt = 100_000 // bytes of a system prompt: as many as of all files that are read into one
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
			ref = protocol.ModelRef{Provider: cmp.Or(d.Model.Provider, ref.Provider), ID: d.Model.ID}
		}
		if d.ThinkLevel != "" {
			thinking = d.ThinkLevel
		}
	}
	return ref, thinking
}

// told is a message's settings as they are told to whoever wrote it: with the provider of a model that was named without one.
func (m *Manager) told(ctx context.Context, key protocol.SessionKey, d *protocol.Directives) *protocol.Directives {
	if d == nil || d.Model == nil || d.Model.Provider != "" {
		return d
	}
	s, err := m.store.PeekSession(ctx, key, m.now())
	if err != nil {
		return d
	}
	out := *d
	ref, _ := m.modelOf(s, d)
	out.Model = &ref
	return &out
}

// parseModel reads "provider/id", or an id of the present provider.
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
