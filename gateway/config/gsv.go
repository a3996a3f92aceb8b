package config

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// The other configuration keys of GSV, with its defaults where those are safe. They are validated
// and stored, so that a client that sets them reads them back; each takes effect in the part of the
// gateway that uses it.

// Agents lists agents besides the main one.
type Agents struct {
	List             []AgentEntry   `json:"list"`
	Bindings         []AgentBinding `json:"bindings"`
	DefaultHeartbeat Heartbeat      `json:"defaultHeartbeat"`
}

// AgentEntry is one agent.
type AgentEntry struct {
	ID           string       `json:"id"`
	Default      bool         `json:"default,omitempty"`
	Model        *ModelConfig `json:"model,omitempty"`
	SystemPrompt string       `json:"systemPrompt,omitempty"`
	Heartbeat    *Heartbeat   `json:"heartbeat,omitempty"`
}

// AgentBinding assigns matching messages to an agent.
type AgentBinding struct {
	AgentID string     `json:"agentId"`
	Match   AgentMatch `json:"match"`
}

// AgentMatch selects messages; an empty field matches any.
type AgentMatch struct {
	Channel   string    `json:"channel,omitempty"`
	AccountID string    `json:"accountId,omitempty"`
	Peer      *PeerInfo `json:"peer,omitempty"`
}

// PeerInfo names a sender.
type PeerInfo struct {
	Kind string `json:"kind,omitempty"`
	ID   string `json:"id,omitempty"`
}

// Heartbeat wakes an agent regularly. Every is a duration such as "30m"; "0m" means never.
type Heartbeat struct {
	Every       string       `json:"every"`
	Prompt      string       `json:"prompt,omitempty"`
	Target      string       `json:"target"` // last, none or a channel
	ActiveHours *ActiveHours `json:"activeHours,omitempty"`
}

// ActiveHours are times of day as HH:MM.
type ActiveHours struct {
	Start    string `json:"start"`
	End      string `json:"end"`
	Timezone string `json:"timezone,omitempty"`
}

// Compaction shortens a chat before it exceeds the model's context.
type Compaction struct {
	Enabled          bool `json:"enabled"`
	ReserveTokens    int  `json:"reserveTokens" min:"0" max:"10000000"`
	KeepRecentTokens int  `json:"keepRecentTokens" min:"0" max:"10000000"`
	ExtractMemories  bool `json:"extractMemories"`
}

// Cron limits the schedules.
type Cron struct {
	Enabled       bool `json:"enabled"`
	MaxJobs       int  `json:"maxJobs" min:"0" max:"100000"`
	MaxRuns       int  `json:"maxRunsPerJobHistory" min:"0" max:"100000"`
	MaxConcurrent int  `json:"maxConcurrentRuns" min:"1" max:"1000"`
}

// Channel defines who may write to the agent over a chat channel. By default, only paired senders
// may; in GSV, everybody may on a channel that is not listed.
type Channel struct {
	DMPolicy  string   `json:"dmPolicy,omitempty" oneof:",open,allowlist,pairing"`
	AllowFrom []string `json:"allowFrom,omitempty"`
	// Owners are sender IDs of the owner. They may write, and use the commands of a chat in direct
	// messages.
	Owners []string `json:"owners,omitempty"`
}

// Skills holds the settings by skill.
type Skills struct {
	Entries map[string]Skill `json:"entries"`
}

// Skill holds the settings of one skill; nil means the skill's own value.
type Skill struct {
	Enabled  *bool          `json:"enabled,omitempty"`
	Always   *bool          `json:"always,omitempty"`
	Requires *SkillRequires `json:"requires,omitempty"`
}

// SkillRequires names a skill's requirements of a machine.
type SkillRequires struct {
	Capabilities []string `json:"capabilities"`
}

// Transcription configures the transcription of speech.
type Transcription struct {
	Provider string `json:"provider" oneof:"workers-ai,openai"`
	// BaseURL is a server with an OpenAI-compatible transcription API; empty means
	// providers.openai.baseUrl, or else OpenAI itself.
	BaseURL string `json:"baseUrl,omitempty" url:"true"`
	// Model is the transcription model; empty means whisper-1.
	Model string `json:"model,omitempty"`
}

// Network configures how other machines reach this gateway. It does not affect the loopback
// listener.
type Network struct {
	// Enabled opens the listener: TLS, for paired devices only.
	Enabled bool `json:"enabled"`
	// Listen is host:port; an empty host means every interface, port 0 a free one.
	Listen string `json:"listen"`
	// Discovery announces the gateway on the local network (mDNS) by an opaque tag, while the
	// listener is open.
	Discovery bool `json:"discovery"`
}

// DefaultNetworkListen listens on every interface.
const DefaultNetworkListen = ":8788"

var notName = regexp.MustCompile(`[^a-z0-9_-]+`)

// Name normalizes the ID of an agent or an account for session keys and folder names, as GSV does.
// The result may be empty.
func Name(id string) string {
	id = strings.Trim(notName.ReplaceAllString(strings.ToLower(strings.TrimSpace(id)), "-"), "-")
	return strings.TrimRight(id[:min(len(id), 64)], "-")
}

// AgentName returns the ID of the agent that a setting names.
func AgentName(id string) protocol.AgentID {
	return protocol.AgentID(cmp.Or(Name(id), string(protocol.MainAgent)))
}

// Default returns the agent for everything that no binding assigns: the one marked as default, or
// else the main one.
func (a Agents) Default() protocol.AgentID {
	for _, e := range a.List {
		if e.Default {
			return AgentName(e.ID)
		}
	}
	return protocol.MainAgent
}

// Has reports whether an agent exists: the main one, or one of the list.
func (a Agents) Has(id protocol.AgentID) bool {
	return id == protocol.MainAgent || slices.ContainsFunc(a.List, func(e AgentEntry) bool { return AgentName(e.ID) == id })
}

// MainSession returns the key of the default agent's main chat.
func (c Config) MainSession() protocol.SessionKey { return c.Session.Main(c.Agents.Default()) }

// MainName returns the last part of a main chat's key.
func (c SessionConfig) MainName() string {
	return cmp.Or(strings.ToLower(strings.TrimSpace(c.MainKey)), "main")
}

// Main returns the key of an agent's main chat.
func (c SessionConfig) Main(agent protocol.AgentID) protocol.SessionKey {
	return protocol.SessionKey("agent:" + string(agent) + ":" + c.MainName())
}

var (
	phoneForm = regexp.MustCompile(`^\+?[0-9][0-9 ()./-]{6,}$`)
	// phoneChannels are the channels that identify people by telephone number. On others, digits
	// are a name like any other.
	phoneChannels = []string{"whatsapp", "signal", "sms"}
)

// SenderID normalizes a sender's ID for comparison, wherever a setting names people:
// channels.NAME.allowFrom and owners, and session.identityLinks. Telephone numbers, on a channel
// that has them or with a leading +, lose their punctuation and WhatsApp's suffixes, as in GSV.
// Any other ID changes in case only, so that no two people share one.
func SenderID(channel, id string) string {
	id = strings.ToLower(strings.TrimSpace(id))
	number := id
	onPhone := slices.Contains(phoneChannels, channel)
	for _, suffix := range []string{"@s.whatsapp.net", "@c.us"} {
		if cut, ok := strings.CutSuffix(id, suffix); ok && onPhone {
			number, _, _ = strings.Cut(cut, ":") // removes the device number, too
		}
	}
	if !phoneForm.MatchString(number) || !onPhone && number[0] != '+' {
		return id
	}
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
	international, abroad := strings.CutPrefix(digits, "00")
	if abroad || number[0] == '+' || len(digits) >= 10 {
		return "+" + international
	}
	return digits
}
