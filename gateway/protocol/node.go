package protocol

// NodeExecEvent reports on a background command (seed 004, node.exec.event).
type NodeExecEvent struct {
	EventID    string `json:"eventId"`
	SessionID  string `json:"sessionId"` // of the Bash tool, not of a chat
	Event      string `json:"event"`     // started, finished, failed or timed_out
	CallID     CallID `json:"callId,omitempty"`
	ExitCode   *int   `json:"exitCode,omitempty"`
	Signal     string `json:"signal,omitempty"`
	OutputTail string `json:"outputTail,omitempty"`
	StartedAt  int64  `json:"startedAt,omitempty"`
	EndedAt    int64  `json:"endedAt,omitempty"`
}

// LogsGetParams asks for log lines (seed 004, logs.get, C -> G). Lines: absent 100, at most 5,000.
type LogsGetParams struct {
	NodeID NodeID   `json:"nodeId,omitempty"`
	Lines  *float64 `json:"lines,omitempty"`
}

// LogsGetResult answers logs.get.
type LogsGetResult struct {
	NodeID    NodeID   `json:"nodeId"`
	Lines     []string `json:"lines"`
	Count     int      `json:"count"`
	Truncated bool     `json:"truncated"`
}

// Limits of logs.get.
const (
	DefaultLogLines = 100
	MaxLogLines     = 5000
)

// LogsGet is the logs.get event to a node.
type LogsGet struct {
	CallID CallID `json:"callId"`
	Lines  int    `json:"lines"`
}

// LogsResultParams is a node's answer (seed 004, logs.result).
type LogsResultParams struct {
	CallID    CallID   `json:"callId"`
	Lines     []string `json:"lines,omitempty"`
	Truncated bool     `json:"truncated,omitempty"`
	Error     string   `json:"error,omitempty"`
}

// NodeInfo is what windows show of a machine (extension).
type NodeInfo struct {
	ID          NodeID    `json:"id"`
	Online      bool      `json:"online"`
	Local       bool      `json:"local,omitempty"` // the node in the gateway's own process
	Platform    string    `json:"platform,omitempty"`
	Version     string    `json:"version,omitempty"`
	Host        *HostInfo `json:"host,omitempty"`
	Tools       []string  `json:"tools,omitempty"` // bare names
	Caps        []string  `json:"capabilities,omitempty"`
	ConnectedAt int64     `json:"connectedAt,omitempty"`
	LastSeenAt  int64     `json:"lastSeenAt,omitempty"`
}

// NodesListResult lists machines, online first (extension).
type NodesListResult struct {
	Nodes []NodeInfo `json:"nodes"`
}
