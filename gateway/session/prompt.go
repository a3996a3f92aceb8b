package session

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/workspace"
)

// Prompts builds the system prompts of chats. It is safe for concurrent use.
type Prompts struct {
	chats  *Chats
	files  *workspace.Files // of all agents
	skills Skills
	nodes  func() []protocol.NodeInfo
	tools  *tool.Pipeline
}

// Skills are the skills of agents; *skills.Catalog implements it.
type Skills interface {
	// Prompt returns the list of an agent's skills for its system prompt; empty without any.
	Prompt(agent protocol.AgentID) (string, error)
}

// text returns the system prompt. Only private chats get memories of the person.
func (p *Prompts) text(s store.Session, ref protocol.ModelRef, node protocol.NodeID) string {
	cfg := p.chats.settings.config()
	nodes := p.nodes()
	node = cmp.Or(node, defaultNode(nodes))
	files, err := p.files.Of(s.Key.Agent())
	if err != nil {
		slog.Error("Opening the agent's folder failed", "session", s.Key, "err", err)
		files = new(workspace.Workspace)
	}
	skills, err := p.skills.Prompt(s.Key.Agent())
	if err != nil {
		slog.Warn("Reading skills for the prompt failed", "session", s.Key, "err", err)
	}
	return files.Prompt(workspace.Facts{
		Skills: skills, Session: s.Key, Agent: s.Key.Agent(), Private: isPrivate(cfg.Session, s.Key), Nodes: nodes, Default: node, Model: ref,
		Now: time.Now().In(p.chats.settings.zone()), Base: cmp.Or(s.Prefs.SystemPrompt, p.chats.settings.agent(s.Key).SystemPrompt, cfg.SystemPrompt),
		Heartbeat: p.chats.settings.heartbeat(s.Key),
	})
}

// Tokens estimates the tokens of the system prompt and of the tools' descriptions in a chat.
func (p *Prompts) Tokens(ctx context.Context, key protocol.SessionKey) int64 {
	s, err := p.chats.peek(ctx, key)
	if err != nil {
		return 0
	}
	ref, _ := p.chats.settings.model(s, nil)
	n := len(p.text(s, ref, ""))
	for _, t := range p.tools.Tools(key, 0) {
		n += len(t.Name) + len(t.Description) + len(t.InputSchema)
	}
	return int64(n) / 4
}

// withTimes returns copies of the messages with the time prepended to what the person wrote. The
// text for a message never changes, so that providers can cache the conversation.
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

// defaultNode returns the node to use when none is named: the gateway's own, or the first online.
func defaultNode(nodes []protocol.NodeInfo) protocol.NodeID {
	at := slices.IndexFunc(nodes, func(n protocol.NodeInfo) bool { return n.Online && n.Local })
	if at < 0 {
		at = slices.IndexFunc(nodes, func(n protocol.NodeInfo) bool { return n.Online })
	}
	if at < 0 {
		return ""
	}
	return nodes[at].ID
}
