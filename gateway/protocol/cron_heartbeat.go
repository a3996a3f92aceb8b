package protocol

// The heartbeat (seed 004, heartbeat.*).
var (
	HeartbeatStatus  = Method[Empty, HeartbeatStatusResult]{"heartbeat.status"}
	HeartbeatStart   = Method[Empty, HeartbeatStartResult]{"heartbeat.start"}
	HeartbeatTrigger = Method[HeartbeatTriggerParams, HeartbeatTriggerResult]{"heartbeat.trigger"}
)

// Reasons why a heartbeat is left out (gsv interop notes 8.3).
const (
	SkipOutsideHours = "outside_active_hours"
	SkipNoFile       = "no_heartbeat_file"
	SkipEmptyFile    = "empty_heartbeat_file"
	SkipBusy         = "session_busy"
)

// HeartbeatState is where an agent's heartbeat stands. Times are Unix milliseconds; null is never.
type HeartbeatState struct {
	AgentID             AgentID     `json:"agentId"`
	NextHeartbeatAt     *int64      `json:"nextHeartbeatAt"`
	LastHeartbeatAt     *int64      `json:"lastHeartbeatAt"`
	LastHeartbeatText   string      `json:"lastHeartbeatText,omitempty"`   // what was delivered last
	LastHeartbeatSentAt int64       `json:"lastHeartbeatSentAt,omitempty"` // and when
	LastActive          *LastActive `json:"lastActive,omitempty"`
	// What became of the last one (extension): "ok", "error", or "skipped" with the reason as the error.
	LastStatus string `json:"lastStatus,omitempty"`
	LastError  string `json:"lastError,omitempty"`
}

// LastActive is where the person wrote last.
type LastActive struct {
	Channel   string `json:"channel"`
	AccountID string `json:"accountId"`
	Peer      Peer   `json:"peer"`
	Timestamp int64  `json:"timestamp"`
}

// HeartbeatStatusResult is heartbeat.status of seed 004.
type HeartbeatStatusResult struct {
	Agents map[AgentID]HeartbeatState `json:"agents"`
}

// HeartbeatStartResult is heartbeat.start of seed 004.
type HeartbeatStartResult struct {
	Message string                     `json:"message"`
	Agents  map[AgentID]HeartbeatState `json:"agents"`
}

// HeartbeatTriggerParams names the agent; empty is the main one.
type HeartbeatTriggerParams struct {
	AgentID AgentID `json:"agentId,omitempty"`
}

// HeartbeatTriggerResult is heartbeat.trigger of seed 004.
type HeartbeatTriggerResult struct {
	OK         bool   `json:"ok"`
	Message    string `json:"message"`
	Skipped    bool   `json:"skipped"`
	SkipReason string `json:"skipReason,omitempty"`
}
