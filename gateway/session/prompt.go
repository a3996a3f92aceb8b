package session

import (
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/workspace"
)

// prompt is the session's system prompt.
func (m *Manager) prompt(s store.Session, ref protocol.ModelRef, node protocol.NodeID) string {
	cfg := m.opts.Config()
	base := s.Prefs.SystemPrompt
	if base == "" {
		base = cfg.SystemPrompt
	}
	now := time.Now()
	if zone, err := time.LoadLocation(cfg.UserTimezone); err == nil {
		now = now.In(zone)
	}
	nodes := m.opts.Nodes()
	if node == "" {
		node = defaultNode(nodes)
	}
	// Every session of this person is private; only the main one and the windows' chats exist in this version.
	return m.opts.Workspace.Prompt(workspace.Facts{Session: s.Key, Main: true, Nodes: nodes, Default: node, Model: ref, Now: now, Base: base})
}

// defaultNode is the machine that is meant when none is named: the gateway's own, else the first that is online.
func defaultNode(nodes []protocol.NodeInfo) protocol.NodeID {
	first := protocol.NodeID("")
	for _, n := range nodes {
		if n.Online && n.Local {
			return n.ID
		}
		if n.Online && first == "" {
			first = n.ID
		}
	}
	return first
}
