package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"fairlead/gateway/protocol"
)

// hasChat reports whether a chat is stored under exactly this key. Only the store decides, so the
// answer is the same before and after a restart.
func (m *Manager) hasChat(key protocol.SessionKey) bool {
	_, err := m.store.Sessions.Get(context.WithoutCancel(m.ctx), key)
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		slog.Error("Looking up a chat failed", "session", key, "err", err)
	}
	return err == nil
}

// MainKeyChanged posts a notice in every agent's former main chat if session.mainKey has changed
// since the last call.
func (m *Manager) MainKeyChanged(ctx context.Context) error {
	cfg := m.opts.Config().Session
	m.mu.Lock()
	before := m.mainName
	m.mainName = cfg.MainName()
	m.mu.Unlock()
	if before == cfg.MainName() {
		return nil
	}
	all, err := m.store.Sessions.Keys(ctx)
	if err != nil {
		return err
	}
	for _, key := range all {
		agent := agentOf(key)
		if !strings.EqualFold(string(key), prefix+string(agent)+":"+before) {
			continue
		}
		s, err := m.store.Sessions.Get(ctx, key)
		if err != nil || s.MessageCount == 0 || s.DeletedAt > 0 {
			continue
		}
		text := fmt.Sprintf("This was the main chat until session.mainKey was changed. It stays in the list as a chat of its own, %s. The main chat is %s now; messages from channels go there.",
			key, cfg.Main(agent))
		stored, err := m.store.Messages.Append(ctx, key, protocol.Message{
			Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text(text)}, Timestamp: m.now(),
		})
		if err != nil {
			return m.stored(err)
		}
		m.publishMessage(key, stored[0])
		m.publishSession(key) // windows no longer show it as the main chat
		m.bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{
			Level: "info", At: m.now(), Text: fmt.Sprintf("The main chat is %s now. The one until now stays in the list.", cfg.Main(agent)),
		}})
	}
	return nil
}
