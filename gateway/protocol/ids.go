package protocol

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Ids. They are opaque to everyone but their maker.
type (
	// SessionKey names a conversation for good ("agent:main:main"); it survives resets.
	SessionKey string
	// SessionID names one stretch of a conversation, from one reset to the next.
	SessionID string
	// RunID names one run of the agent loop: from a user message to its final answer.
	RunID string
	// CallID names one tool call. It is unique in a gateway's life.
	CallID string
	// NodeID names a machine. See [ParseNodeID] for what is legal.
	NodeID string
	// ApprovalID names a question to the person.
	ApprovalID string
	// ConnID names one connection of a peer.
	ConnID string
	// AgentID names an agent with its own workspace; "main" is the default.
	AgentID string
	// MessageID names a stored message.
	MessageID string
)

// MainAgent is the default agent.
const MainAgent AgentID = "main"

// MainSession is the default conversation of the default agent.
const MainSession SessionKey = "agent:main:main"

// NativePrefix is the reserved node name of the gateway's own tools (seed 002).
const NativePrefix = "gsv"

// toolSep stands between node and tool in a tool's full name (seed 000, Tool Namespacing).
const toolSep = "__"

// maxAgentID is how long an agent's id may be (gsv interop notes 6.1).
const maxAgentID = 64

// MaxNodeID keeps "{node}__{tool}" of our own nodes within [MaxModelTool].
const MaxNodeID = 40

// MaxModelTool is how long a tool name may be for model APIs.
const MaxModelTool = 64

// NewCallID returns a UUID that sorts by the time it was made (RFC 9562, version 7): the journal grows at its end.
func NewCallID() CallID {
	now := uint64(time.Now().UnixMilli())
	id := NewID()
	stamp := hex.EncodeToString([]byte{byte(now >> 40), byte(now >> 32), byte(now >> 24), byte(now >> 16), byte(now >> 8), byte(now)})
	return CallID(stamp[:8] + "-" + stamp[8:] + "-7" + id[15:])
}

// NewID returns a random UUID (version 4).
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand panics instead
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// maxPeerNodeID bounds the IDs that other programs choose: the original's is "node-" and the host
// name, which has at most 253 characters.
const maxPeerNodeID = 258

// ParseNodeID checks the ID of one of our nodes: 1 to [MaxNodeID] of A-Z a-z 0-9 _ -, no "__", not
// "gsv". Any gateway can offer the tools of such a node to models under their own names.
func ParseNodeID(s string) (NodeID, error) {
	return parseNodeID(s, MaxNodeID, "", "letters, digits, _ and -")
}

// ParsePeerNodeID checks the ID of a node that connects: it may be longer than one of ours, and
// hold dots inside, as node-mac.local does. [NodeID.ToolPrefix] makes it fit for models.
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

// Lengths of the parts of a tool prefix that is made for a node.
const (
	prefixWords = 15
	prefixHash  = 8
)

// ToolPrefix stands for the node in tool names that models see: the ID itself where models accept
// it, else its beginning and a part of its SHA-256. It is always the same for an ID.
func (id NodeID) ToolPrefix() NodeID {
	if _, err := ParseNodeID(string(id)); err == nil || id == NativePrefix {
		return id
	}
	words := CleanNodeID(string(id))
	sum := sha256.Sum256([]byte(id))
	return NodeID(strings.TrimRight(string(words[:min(len(words), prefixWords)]), "-_") + "-" + hex.EncodeToString(sum[:])[:prefixHash])
}

// ParseAgentID checks the agent that a request names, and brings it into the form that session keys and workspaces have: letters in lower case. "" is
// [MainAgent].
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

// CleanNodeID makes a legal node id out of any text, such as a host name.
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

// ToolName is a tool's full name, "{node}__{tool}". Only this type takes it apart.
type ToolName string

// NewToolName joins a node and its tool.
func NewToolName(node NodeID, tool string) ToolName { return ToolName(string(node) + toolSep + tool) }

// Split gives node and bare tool name, cut at the first "__". ok is false for a name without both parts. "node:Tool", which
// the help text of the original shows, is understood too.
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

// ForModel is the name under which models see the tool: [NodeID.ToolPrefix] in the place of the
// node.
func (n ToolName) ForModel() ToolName {
	node, tool, ok := n.Split()
	if !ok || node.ToolPrefix() == node {
		return n
	}
	return NewToolName(node.ToolPrefix(), tool)
}
