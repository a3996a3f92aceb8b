package session

import (
	"context"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

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
		text := fmt.Sprintf("This was the main chat until session.mainKey was changed. It stays in the list as a chat of its own, %s. The main chat is now %s; messages from channels go there.",
			key, cfg.Main(agent))
		stored, err := m.store.Messages.Append(ctx, key, notice("", text))
		if err != nil {
			return m.pauseOnStoreError(err)
		}
		m.publishMessage(key, stored[0])
		m.publishSession(key) // windows no longer show it as the main chat
		m.bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{
			Level: "info", At: now(), Text: fmt.Sprintf("The main chat is now %s. The previous one stays in the list.", cfg.Main(agent)),
		}})
	}
	return nil
}
