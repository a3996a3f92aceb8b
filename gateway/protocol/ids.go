package protocol

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// IDs. They are opaque to everyone but the side that creates them.
type (
	// SessionKey names a conversation permanently ("agent:main:main"); it survives resets.
	SessionKey string
	// SessionID names the part of a conversation between two resets.
	SessionID string
	// RunID names one run of the agent loop, from a user message to its final answer.
	RunID string
	// CallID names one tool call. A gateway never uses it twice.
	CallID string
	// NodeID names a machine. [ParseNodeID] describes its syntax.
	NodeID string
	// QuestionID names a question to the person.
	QuestionID string
	// ConnID names one connection of a peer.
	ConnID string
	// AgentID names an agent with its own workspace; "main" is the default.
	AgentID string
	// MessageID names a stored message.
	MessageID string
)

// Agent returns the agent of a session's key agent:NAME:…; [MainAgent] for any other key.
func (k SessionKey) Agent() AgentID {
	if p := strings.SplitN(string(k), ":", 3); len(p) == 3 && p[0] == "agent" && p[1] != "" {
		return AgentID(p[1])
	}
	return MainAgent
}

// IsShared reports whether other people than the person take part in a chat, over a channel.
func (k SessionKey) IsShared() bool {
	p := strings.Split(string(k), ":")
	if len(p) < 4 || p[0] != "agent" {
		return false
	}
	kinds := []string{PeerDM, PeerGroup, PeerChannel, PeerThread}
	return p[2] == PeerDM || len(p) > 4 && (p[4] == PeerDM || slices.Contains(kinds, p[3]))
}

// ScheduleChat returns the key of the chat in which an agent runs a schedule.
func ScheduleChat(agent AgentID, id CronJobID) SessionKey {
	return SessionKey(fmt.Sprintf("agent:%s:cron:%s", agent, id))
}

// HeartbeatChat returns the key of the chat of an agent's heartbeat.
func HeartbeatChat(agent AgentID) SessionKey {
	return SessionKey(fmt.Sprintf("agent:%s:heartbeat:system:internal", agent))
}

// HeartbeatSchedule stands for the heartbeat where a schedule is named.
const HeartbeatSchedule CronJobID = "heartbeat"

// Schedule returns the schedule whose chat has this key, [HeartbeatSchedule] for the chat of a
// heartbeat, and "" for all other chats.
func (k SessionKey) Schedule() CronJobID {
	p := strings.Split(string(k), ":")
	switch {
	case k == HeartbeatChat(k.Agent()):
		return HeartbeatSchedule
	case len(p) == 4 && p[0] == "agent" && p[2] == "cron":
		return CronJobID(p[3])
	}
	return ""
}

// MainAgent is the default agent.
const MainAgent AgentID = "main"

// MainSession is the default conversation of the default agent.
const MainSession SessionKey = "agent:main:main"

// NativePrefix is the reserved node name of the gateway's own tools.
const NativePrefix = "gsv"

// toolSep separates node and tool in the full name of a tool.
const toolSep = "__"

// maxAgentID is the maximum length of an agent's ID.
const maxAgentID = 64

// MaxNodeID is the maximum length of the IDs of Fairlead's own nodes, so that "{node}__{tool}" fits
// into [MaxModelTool].
const MaxNodeID = 40

// MaxModelTool is the maximum length of a tool name in the APIs of model providers.
const MaxModelTool = 64

// NewCallID returns a UUID that sorts by creation time (RFC 9562, version 7), so that new rows are
// appended at the end of the journal's index.
func NewCallID() CallID {
	now := uint64(time.Now().UnixMilli())
	id := NewID()
	stamp := hex.EncodeToString([]byte{byte(now >> 40), byte(now >> 32), byte(now >> 24), byte(now >> 16), byte(now >> 8), byte(now)})
	return CallID(stamp[:8] + "-" + stamp[8:] + "-7" + id[15:])
}

// NewID returns a random UUID (version 4).
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // cannot fail: crypto/rand panics instead
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// maxPeerNodeID is the maximum length of IDs that other programs choose: those of GSV are "node-"
// and the host name, which has at most 253 characters.
const maxPeerNodeID = 258

// ParseNodeID checks the ID of one of Fairlead's own nodes: 1 to [MaxNodeID] characters of A-Z a-z
// 0-9 _ -, without "__", and not "gsv". Any gateway can offer the tools of such a node to models
// under their own names.
func ParseNodeID(s string) (NodeID, error) {
	return parseNodeID(s, MaxNodeID, "", "letters, digits, _ and -")
}

// ParsePeerNodeID checks the ID of a node that connects. It may be longer than [MaxNodeID] and have
// dots inside, as in node-mac.local. [NodeID.ToolPrefix] shortens it for models.
func ParsePeerNodeID(s string) (NodeID, error) {
	return parseNodeID(s, maxPeerNodeID, ".", "letters, digits, dots, _ and -")
}

func parseNodeID(s string, limit int, more, legal string) (NodeID, error) {
	switch {
	case s == "":
		return "", errors.New("a node id must not be empty")
	case len(s) > limit:
		return "", fmt.Errorf("node id %.80q is longer than %d characters", s, limit)
	case strings.Contains(s, toolSep):
		return "", fmt.Errorf("node id %q contains %q", s, toolSep)
	case strings.HasSuffix(s, "_"):
		return "", fmt.Errorf("node id %q ends with _", s)
	case strings.Trim(s, ".") != s:
		return "", fmt.Errorf("node id %q begins or ends with a dot", s)
	case strings.EqualFold(s, NativePrefix):
		return "", fmt.Errorf("node id %q is reserved for the gateway's own tools", s)
	}
	for _, r := range s {
		if !isWord(r) && !strings.ContainsRune(more, r) {
			return "", fmt.Errorf("node id %q may hold only %s", s, legal)
		}
	}
	return NodeID(s), nil
}

// Lengths of the parts of a generated tool prefix.
const (
	prefixWords = 15
	prefixHash  = 8
)

// ToolPrefix returns the prefix for the node in the tool names that models see: the ID if models
// accept it, otherwise its beginning and part of its SHA-256. The prefix of an ID never changes.
func (id NodeID) ToolPrefix() NodeID {
	if _, err := ParseNodeID(string(id)); err == nil || id == NativePrefix {
		return id
	}
	words := CleanNodeID(string(id))
	sum := sha256.Sum256([]byte(id))
	return NodeID(strings.TrimRight(string(words[:min(len(words), prefixWords)]), "-_") + "-" + hex.EncodeToString(sum[:])[:prefixHash])
}

// ParseAgentID checks the agent ID of a request and converts it to lower case, as in session keys
// and workspaces. "" is [MainAgent].
func ParseAgentID(s AgentID) (AgentID, error) {
	s = AgentID(strings.ToLower(string(s)))
	switch {
	case s == "":
		return MainAgent, nil
	case len(s) > maxAgentID || strings.ContainsFunc(string(s), func(r rune) bool { return !isWord(r) }) || s[0] == '-' || s[0] == '_':
		return "", ErrBadRequest.With(fmt.Sprintf("agentId %.80q may hold only letters, digits, _ and -, at most %d, and begins with a letter or digit", s, maxAgentID))
	}
	return s, nil
}

// CleanNodeID converts any text, such as a host name, to a valid node ID.
func CleanNodeID(s string) NodeID {
	var b strings.Builder
	for _, r := range s {
		if !isWord(r) {
			r = '-'
		}
		b.WriteRune(r)
	}
	id := b.String()
	for strings.Contains(id, toolSep) {
		id = strings.ReplaceAll(id, toolSep, "_")
	}
	if len(id) > MaxNodeID {
		id = id[:MaxNodeID]
	}
	id = strings.Trim(id, "-_")
	if id == "" || strings.EqualFold(id, NativePrefix) {
		id = "node-" + id
		id = strings.TrimSuffix(id, "-")
	}
	return NodeID(id)
}

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// ToolName is the full name of a tool, "{node}__{tool}". Only this type parses it.
type ToolName string

// NewToolName joins a node and its tool.
func NewToolName(node NodeID, tool string) ToolName { return ToolName(string(node) + toolSep + tool) }

// Split returns the node and the bare tool name, cut at the first "__". ok is false for a name
// without both parts. It accepts "node:Tool" too, as in GSV's help text.
func (n ToolName) Split() (node NodeID, tool string, ok bool) {
	a, b, found := strings.Cut(string(n), toolSep)
	if !found {
		a, b, found = strings.Cut(string(n), ":")
	}
	if !found || a == "" || b == "" {
		return "", "", false
	}
	return NodeID(a), b, true
}

// ForModel returns the name under which models see the tool, with [NodeID.ToolPrefix].
func (n ToolName) ForModel() ToolName {
	node, tool, ok := n.Split()
	if !ok || node.ToolPrefix() == node {
		return n
	}
	return NewToolName(node.ToolPrefix(), tool)
}
