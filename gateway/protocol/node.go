package protocol

// NodeExecEvent reports on a background command (seed 004, node.exec.event).
type NodeExecEvent struct {
	EventID    string `json:"eventId"`
	SessionID  string `json:"sessionId"` // of the Bash tool, not of a chat
	Event      string `json:"event"`     // ExecStarted, ExecFinished, ExecFailed or ExecTimedOut
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
	// Name and Colour are the person's own; both may be empty. Colour is one of [NodeColours].
	Name   string `json:"name,omitempty"`
	Colour string `json:"colour,omitempty"`
	// PingMs is the last measured round trip in milliseconds; 0 is not measured. PingAt is when it was.
	PingMs float64 `json:"pingMs,omitempty"`
	PingAt int64   `json:"pingAt,omitempty"`
	// Device is the paired device behind the node; empty for one that came with the gateway's own token.
	Device DeviceID `json:"deviceId,omitempty"`
	// Held are tools that are not used before the person allows them: the node offers more than when it was paired.
	Held []string `json:"held,omitempty"`
	// Files says that the machine serves the browser of its files ([ExtFiles]).
	Files bool `json:"files,omitempty"`
	// Direct says that its owner lets files go straight between it and machines that may too ([ExtDirect]).
	Direct bool `json:"direct,omitempty"`
}

// NodeColours are the colours a machine may have.
var NodeColours = []string{"red", "orange", "yellow", "green", "teal", "blue", "purple", "pink", "grey"}

// NodeForgetParams removes a machine from the registry (seed 004, node.forget).
type NodeForgetParams struct {
	NodeID NodeID `json:"nodeId"`
	Force  bool   `json:"force,omitempty"` // a connected one is disconnected first
}

// NodeForgetResult answers node.forget.
type NodeForgetResult struct {
	OK           bool   `json:"ok"`
	NodeID       NodeID `json:"nodeId"`
	Removed      bool   `json:"removed"`
	Disconnected bool   `json:"disconnected"`
}

// NodesUpdateParams changes what the person says of a machine; absent fields stay, empty ones are taken away (extension).
type NodesUpdateParams struct {
	NodeID NodeID  `json:"nodeId"`
	Name   *string `json:"name,omitempty"` // at most 60 characters
	Colour *string `json:"colour,omitempty"`
}

// NodesListResult lists machines, online first (extension).
type NodesListResult struct {
	Nodes []NodeInfo `json:"nodes"`
}
