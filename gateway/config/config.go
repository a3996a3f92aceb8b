// Package config holds the gateway's configuration: typed, with defaults and validation. Values are
// changed by dotted path (config.get and config.set of the protocol) and take effect at once.
// Secrets are never stored in it as plain text: they go to the keychain and read as "***".
package config

import (
	"cmp"
	"sync"
	"time"

	"github.com/thlib/go-timezone-local/tzlocal"

	"fairlead/gateway/protocol"
)

// Config is the whole configuration. The order of the fields is the order of config.get. Tags:
// "min" and "max" limit numbers, "oneof" lists the valid texts, "secret" marks values that are
// stored in the keychain.
type Config struct {
	Model        ModelConfig               `json:"model"`
	APIKeys      map[string]string         `json:"apiKeys" secret:"key-"`
	Providers    map[string]ProviderConfig `json:"providers"`
	Timeouts     Timeouts                  `json:"timeouts"`
	Auth         AuthConfig                `json:"auth"`
	Agent        AgentConfig               `json:"agent"`
	Budget       protocol.Budget           `json:"budget"`
	Approvals    Approvals                 `json:"approvals"`
	ToolApproval ToolApproval              `json:"toolApproval"`
	SystemPrompt string                    `json:"systemPrompt,omitempty"`
	Session      SessionConfig             `json:"session"`
	UserTimezone string                    `json:"userTimezone"`
	UI           UI                        `json:"ui"`
	Notify       Notifications             `json:"notifications"`
	Network      Network                   `json:"network"`
	Services     Services                  `json:"services"`
	API          API                       `json:"api"`
	Owner        Owner                     `json:"owner"`
	MCP          MCP                       `json:"mcp"`

	Agents        Agents             `json:"agents"`
	Compaction    Compaction         `json:"compaction"`
	Cron          Cron               `json:"cron"`
	Channels      map[string]Channel `json:"channels"`
	Skills        Skills             `json:"skills"`
	Transcription Transcription      `json:"transcription"`
	LocalModels   LocalModels        `json:"localModels"`
}

// ModelConfig is the default model of a session.
type ModelConfig struct {
	Provider string `json:"provider"`
	ID       string `json:"id"`
	// ThinkingLevel is one of protocol.ThinkingLevels; empty means the model's default.
	ThinkingLevel string `json:"thinkingLevel,omitempty" oneof:",none,minimal,low,medium,high,xhigh"`
}

// ProviderConfig holds a person's settings of a provider.
type ProviderConfig struct {
	BaseURL string `json:"baseUrl,omitempty" url:"true"`
	// Wire is "chat" or "responses" for OpenAI-compatible servers; empty means that the address
	// decides.
	Wire string `json:"wire,omitempty" oneof:",chat,responses"`
}

// LocalModels are the models that this computer runs.
type LocalModels struct {
	// Serve is the model that llama-server runs while the gateway does: one of the list, or the full
	// path of a GGUF file. Empty means none.
	Serve         string `json:"serve"`
	ContextTokens int    `json:"contextTokens" min:"2048" max:"1048576"`
	Mirror        string `json:"mirror" url:"true"`
}

// Timeouts are in milliseconds.
type Timeouts struct {
	LLM  int `json:"llmMs" min:"1000" max:"86400000"`
	Tool int `json:"toolMs" min:"1000" max:"86400000"`
}

// AuthConfig holds the gateway's token.
type AuthConfig struct {
	Token string `json:"token" secret:"gateway-token"`
}

// AgentConfig limits a run.
type AgentConfig struct {
	// MaxSteps is the number of model steps of a run after which the person is asked whether to
	// continue.
	MaxSteps int `json:"maxSteps" min:"1" max:"1000"`
	// Paused means that the person paused the agent: nothing new starts, also after a restart.
	Paused bool `json:"paused"`
}

// Approvals configures approvals.
type Approvals struct {
	// Timeout is the time in milliseconds after which an unanswered approval expires; 0 means
	// never, see [Approvals.Limit].
	Timeout int `json:"timeoutMs" min:"0" max:"86400000"`
	// Tell is the address on a channel that is notified of an approval which no window shows.
	// Without a channel nobody is.
	Tell Recipient `json:"tell"`
}

// maxUnattendedWait is the time after which an unattended run's approval expires even if the
// settings let approvals wait forever. Otherwise neither the job nor its chat could continue. It is
// the longest time that can be set.
const maxUnattendedWait = 24 * time.Hour

// Limit returns the time until an approval for a caller expires. 0 means never, which an unattended
// run does not get.
func (a Approvals) Limit(by protocol.AskedBy) time.Duration {
	if a.Timeout == 0 && by.IsUnattended() {
		return maxUnattendedWait
	}
	return time.Duration(a.Timeout) * time.Millisecond
}

// Recipient is an address on a channel.
type Recipient struct {
	Channel string `json:"channel"`
	Account string `json:"accountId"`
	To      string `json:"to"`
}

// ToolApproval is the approval policy in the form of GSV. The default asks.
type ToolApproval struct {
	DefaultDecision string     `json:"defaultDecision" oneof:"allow,ask,deny"`
	Rules           []ToolRule `json:"rules"`
}

// ToolRule decides calls whose full tool name matches Tool ("*" stands for any text) and whose
// arguments meet every condition.
type ToolRule struct {
	ID       string     `json:"id"`
	Tool     string     `json:"tool"`
	When     []ToolWhen `json:"when,omitempty"`
	Decision string     `json:"decision" oneof:"allow,ask,deny"`
	Reason   string     `json:"reason,omitempty"`
}

// ToolWhen is a condition on an argument.
type ToolWhen struct {
	Path  string `json:"path"`
	Op    string `json:"op" oneof:"equals,contains,startsWith,regex"`
	Value any    `json:"value"`
	Flags string `json:"flags,omitempty"`
}

// SessionConfig configures how conversations start and how their keys are formed.
type SessionConfig struct {
	MainKey            string               `json:"mainKey"`
	DMScope            string               `json:"dmScope" oneof:"main,per-peer,per-channel-peer,per-account-channel-peer"`
	IdentityLinks      map[string][]string  `json:"identityLinks"`
	DefaultResetPolicy protocol.ResetPolicy `json:"defaultResetPolicy"`
	// AutoTitle lets the model name new chats.
	AutoTitle bool `json:"autoTitle"`
}

// API configures how programs call tools over MCP and REST.
type API struct {
	Enabled bool `json:"enabled"`
	// Network also serves programs on other machines, once other machines can connect at all.
	Network bool `json:"network"`
	// PublicURL is the address under which a reverse proxy serves the API; empty without a proxy.
	PublicURL string `json:"publicUrl" url:"true"`
	// WaitMs is how long a call waits for the person's answer, in milliseconds.
	WaitMs int `json:"waitMs" min:"1000" max:"3600000"`
	// Streams bounds the streaming calls in progress.
	Streams int       `json:"streams" min:"1" max:"100"`
	Limits  APILimits `json:"limits"`
}

// APILimits bound the calls of each app, to each machine and of each tool.
type APILimits struct {
	App     RateLimit `json:"app"`
	Machine RateLimit `json:"machine"`
	Tool    RateLimit `json:"tool"`
}

// RateLimit allows a number of calls a minute, and some at once after a pause. PerMinute 0 means no
// limit.
type RateLimit struct {
	PerMinute int `json:"perMinute" min:"0" max:"1000000"`
	Burst     int `json:"burst" min:"0" max:"1000000"`
}

// Owner describes the person to programs.
type Owner struct {
	Email string `json:"email"`
}

// UI holds settings of the windows that every window on every machine shares.
type UI struct {
	Theme    string  `json:"theme" oneof:"system,light,dark"`
	TextSize float64 `json:"textSize" min:"0.75" max:"2"`
	FirstRun bool    `json:"firstRunDone"`
}

// Default returns the configuration of a new installation: everything with an effect needs an
// approval, and the built-in operator answers.
func Default() Config {
	return Config{
		Model:        ModelConfig{Provider: "operator", ID: "built-in"},
		APIKeys:      map[string]string{},
		Providers:    map[string]ProviderConfig{},
		Timeouts:     Timeouts{LLM: 300_000, Tool: 600_000},
		Agent:        AgentConfig{MaxSteps: 40},
		Approvals:    Approvals{Timeout: int((5 * time.Minute).Milliseconds())},
		ToolApproval: ToolApproval{DefaultDecision: "ask", Rules: []ToolRule{}},
		Session: SessionConfig{
			MainKey: "main", DMScope: "main", IdentityLinks: map[string][]string{},
			DefaultResetPolicy: protocol.ResetPolicy{Mode: "manual"}, AutoTitle: true,
		},
		UserTimezone: localZone(),
		UI:           UI{Theme: "system", TextSize: 1},
		Notify:       DefaultNotifications(),
		Network:      Network{Listen: DefaultNetworkListen, Discovery: true},
		Services:     DefaultServices(),
		API:          API{Enabled: true, WaitMs: int((45 * time.Second).Milliseconds()), Streams: 8},
		MCP:          MCP{Servers: map[string]protocol.ServerSpec{}, ToolBudget: 60_000},
		Agents: Agents{List: []AgentEntry{}, Bindings: []AgentBinding{}, DefaultHeartbeat: Heartbeat{
			Every: "0m", Target: "last", // off, because each heartbeat costs tokens
			ActiveHours: &ActiveHours{Start: "08:00", End: "23:00"},
		}},
		Compaction:    Compaction{Enabled: true, ReserveTokens: 20_000, KeepRecentTokens: 20_000, ExtractMemories: true},
		Cron:          Cron{Enabled: true, MaxJobs: 200, MaxRuns: 200, MaxConcurrent: 4},
		Channels:      map[string]Channel{},
		Skills:        Skills{Entries: map[string]Skill{}},
		Transcription: Transcription{Provider: "workers-ai"},
		LocalModels:   LocalModels{ContextTokens: 16_384, Mirror: "https://huggingface.co"},
	}
}

// Zone returns the person's time zone. An unknown one counts as UTC, as in GSV.
func (c Config) Zone() *time.Location {
	zone, err := time.LoadLocation(c.UserTimezone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// localZone returns the name of this computer's time zone, or UTC if it is unknown. Go itself knows
// the name only where the variable TZ has it.
var localZone = sync.OnceValue(func() string {
	name := time.Local.String()
	if name == "Local" {
		name, _ = tzlocal.LocalTZ() // an unknown name is empty, which is UTC
	}
	if zone, err := time.LoadLocation(name); err != nil || zone == time.Local {
		return "UTC"
	}
	if name == "Etc/UTC" {
		name = "UTC"
	}
	return cmp.Or(name, "UTC")
})
