package session

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// former are the chats that exist and whose keys mean another chat under the present settings: the main chat from before session.mainKey was changed,
// and direct conversations from before session.dmScope was. They stay what they are, each under its own key.
type former struct {
	mu    sync.Mutex
	known bool
	main  string // the settings they were found under
	scope string
	keys  map[protocol.SessionKey]bool
}

// isFormer reports whether there is such a chat. The first time after a change of the settings it reads the keys of all chats.
func (m *Manager) isFormer(cfg config.SessionConfig, key protocol.SessionKey) bool {
	f := &m.former
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.known || f.main != cfg.MainName() || f.scope != cfg.DMScope {
		all, err := m.store.SessionKeys(context.WithoutCancel(m.ctx))
		if err != nil {
			slog.Error("The keys of the chats could not be read", "err", err)
			return false
		}
		f.known, f.main, f.scope, f.keys = true, cfg.MainName(), cfg.DMScope, make(map[protocol.SessionKey]bool)
		for _, k := range all {
			if canonical(cfg, k) != k {
				f.keys[k] = true
			}
		}
	}
	return f.keys[key]
}

// forgetFormer has the keys read again: some chats are gone.
func (m *Manager) forgetFormer() {
	m.former.mu.Lock()
	defer m.former.mu.Unlock()
	m.former.known = false
}

// MainMoved tells in every agent's main chat of before that it is the main chat no more. before is the main chats' name until now.
func (m *Manager) MainMoved(ctx context.Context, before string) error {
	cfg := m.opts.Config().Session
	if before == cfg.MainName() {
		return nil
	}
	all, err := m.store.SessionKeys(ctx)
	if err != nil {
		return err
	}
	for _, key := range all {
		agent := agentOf(key)
		if !strings.EqualFold(string(key), prefix+string(agent)+":"+before) {
			continue
		}
		s, err := m.store.Session(ctx, key)
		if err != nil || s.MessageCount == 0 || s.DeletedAt > 0 {
			continue
		}
		text := fmt.Sprintf("This was the main chat until session.mainKey was changed. It stays in the list as a chat of its own, %s. The main chat is %s now; messages from channels go there.",
			key, cfg.Main(agent))
		stored, err := m.store.Append(ctx, key, protocol.Message{
			Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text(text)}, Timestamp: m.now(),
		})
		if err != nil {
			return m.stored(err)
		}
		m.publishMessage(key, stored[0])
		m.publishSession(key) // it is not shown as the main chat any more
		m.bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{
			Level: "info", At: m.now(), Text: fmt.Sprintf("The main chat is %s now. The one until now stays in the list.", cfg.Main(agent)),
		}})
	}
	return nil
}
