package protocol

// Methods of the heartbeat.
var (
	HeartbeatStatus  = Method[Empty, HeartbeatStatusResult]{"heartbeat.status", ScopeRead, clients, gsv}
	HeartbeatStart   = Method[Empty, HeartbeatStartResult]{"heartbeat.start", ScopeChat, clients, gsv}
	HeartbeatTrigger = Method[HeartbeatTriggerParams, HeartbeatTriggerResult]{"heartbeat.trigger", ScopeChat, clients, gsv}
)

// Reasons for skipping a heartbeat.
const (
	SkipOutsideHours = "outside_active_hours"
	SkipNoFile       = "no_heartbeat_file"
	SkipEmptyFile    = "empty_heartbeat_file"
	SkipBusy         = "session_busy"
)

// HeartbeatState is the state of an agent's heartbeat. Times are Unix milliseconds; null means
// never.
type HeartbeatState struct {
	AgentID             AgentID     `json:"agentId"`
	NextHeartbeatAt     *int64      `json:"nextHeartbeatAt"`
	LastHeartbeatAt     *int64      `json:"lastHeartbeatAt"`
	LastHeartbeatText   string      `json:"lastHeartbeatText,omitempty"`   // the last delivered text
	LastHeartbeatSentAt int64       `json:"lastHeartbeatSentAt,omitempty"` // time of the last delivery
	LastActive          *LastActive `json:"lastActive,omitempty"`
	// Result of the last heartbeat (extension): "ok", "error", or "skipped" with the reason as the
	// error.
	LastStatus string `json:"lastStatus,omitempty"`
	LastError  string `json:"lastError,omitempty"`
	// Runs is the number of heartbeats that asked the model; Usage is the sum of their tokens and cost
	// (extension).
	Runs  int    `json:"runs,omitempty"`
	Usage *Usage `json:"usage,omitempty"`
	// EstimatedTokens is an estimate of the tokens of one heartbeat, before the first (extension).
	EstimatedTokens int64 `json:"estimatedTokens,omitempty"`
}

// LastActive is where the person last sent a message.
type LastActive struct {
	Channel   string `json:"channel"`
	AccountID string `json:"accountId"`
	Peer      Peer   `json:"peer"`
	Timestamp int64  `json:"timestamp"`
}

// HeartbeatStatusResult answers heartbeat.status.
type HeartbeatStatusResult struct {
	Agents map[AgentID]HeartbeatState `json:"agents"`
}

// HeartbeatStartResult answers heartbeat.start.
type HeartbeatStartResult struct {
	Message string                     `json:"message"`
	Agents  map[AgentID]HeartbeatState `json:"agents"`
}

// HeartbeatTriggerParams selects the agent; empty is the main agent.
type HeartbeatTriggerParams struct {
	AgentID AgentID `json:"agentId,omitempty"`
}

// HeartbeatTriggerResult answers heartbeat.trigger.
type HeartbeatTriggerResult struct {
	OK         bool   `json:"ok"`
	Message    string `json:"message"`
	Skipped    bool   `json:"skipped"`
	SkipReason string `json:"skipReason,omitempty"`
}
