package session

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/workspace"
)

// prompt returns the session's system prompt. Memories of the person are included only in private
// chats.
func (m *Manager) prompt(s store.Session, ref protocol.ModelRef, node protocol.NodeID) string {
	cfg := m.opts.Config()
	nodes := m.opts.Nodes()
	if node == "" {
		node = defaultNode(nodes)
	}
	files, err := m.opts.Files.Of(agentOf(s.Key))
	if err != nil {
		slog.Error("Opening the agent's folder failed", "session", s.Key, "err", err)
		files = new(workspace.Workspace)
	}
	return files.Prompt(workspace.Facts{
		Session: s.Key, Agent: agentOf(s.Key), Private: private(cfg.Session, s.Key), Nodes: nodes, Default: node, Model: ref,
		Now: time.Now().In(m.settings.zone()), Base: cmp.Or(s.Prefs.SystemPrompt, m.settings.agent(s.Key).SystemPrompt, cfg.SystemPrompt),
		Heartbeat: m.settings.heartbeat(s.Key),
	})
}

// withTimes returns copies of the messages with the time prepended to what the person wrote, in
// their time zone. The text for a message never changes, so that providers can cache the
// conversation.
func withTimes(msgs []protocol.Message, zone *time.Location) []protocol.Message {
	out := slices.Clone(msgs)
	for i, msg := range out {
		if msg.Role == protocol.RoleUser && msg.Origin == protocol.OriginPerson && msg.Compaction == nil && msg.Timestamp > 0 {
			at := time.UnixMilli(msg.Timestamp).In(zone).Format("[Mon 2006-01-02 15:04 MST]")
			out[i].Content = append(protocol.Content{protocol.Text(at)}, msg.Content...)
		}
	}
	return out
}

// defaultNode returns the node to use when none is named: the gateway's own, otherwise the first
// that is online.
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
