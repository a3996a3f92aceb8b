package protocol

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// NodeExecEvent reports on a background command (docs/protocol.md#background-commands).
type NodeExecEvent struct {
	EventID    string `json:"eventId"`
	SessionID  string `json:"sessionId"` // of the command, as in the results of Bash and Process; not a chat's session
	Event      string `json:"event"`     // started, finished, failed or timed_out
	CallID     CallID `json:"callId,omitempty"`
	ExitCode   *int   `json:"exitCode,omitempty"`
	Signal     string `json:"signal,omitempty"`
	OutputTail string `json:"outputTail,omitempty"`
	StartedAt  int64  `json:"startedAt,omitempty"`
	EndedAt    int64  `json:"endedAt,omitempty"`
	// Caller is the program that started the command, Tool the tool, and Text the command line
	// (extension). They are in the events of commands of programs only; such a command is reported as
	// started again after each reconnection.
	Caller *ToolCaller `json:"caller,omitempty"`
	Tool   string      `json:"tool,omitempty"`
	Text   string      `json:"text,omitempty"`
	// PutBack is the subject of the event put_back (extension).
	PutBack *PutBack `json:"putBack,omitempty"`
}

// LogsGetParams requests log lines. Lines is 100 when missing, and at most 5,000.
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

// LogsGet is the payload of the logs.get event to a node (docs/protocol.md#logs).
type LogsGet struct {
	CallID CallID `json:"callId"`
	Lines  int    `json:"lines"`
}

// LogsResultParams is the node's answer to a logs.get event.
type LogsResultParams struct {
	CallID    CallID   `json:"callId"`
	Lines     []string `json:"lines,omitempty"`
	Truncated bool     `json:"truncated,omitempty"`
	Error     string   `json:"error,omitempty"`
}

// NodeInfo describes a machine (extension).
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
	// Name and Colour are chosen by the person; both may be empty. Colour is blue, pink, teal, green,
	// purple, olive, brown or grey.
	Name   string `json:"name,omitempty"`
	Colour string `json:"colour,omitempty"`
	// Network is the one network that the machine is in.
	Network NetworkID `json:"network,omitempty"`
	// PingMs is the round-trip time in milliseconds measured at PingAt, 0 if not measured.
	PingMs float64 `json:"pingMs,omitempty"`
	PingAt int64   `json:"pingAt,omitempty"`
	// Device is the paired device of the node; empty for a node that used the gateway's own token.
	Device DeviceID `json:"deviceId,omitempty"`
	// Warnings are about problems that the node has met since it connected, one sentence each.
	Warnings []string `json:"warnings,omitempty"`
	// Held are tools that cannot be used until the person approves them, because the node offers
	// more than when it was paired.
	Held []string `json:"held,omitempty"`
	// Files reports that the machine serves the file browser (extension "files").
	Files bool `json:"files,omitempty"`
	// Direct reports that its owner allows direct transfers with other machines that allow them too
	// (extension "transfer.direct").
	Direct bool `json:"direct,omitempty"`
	// Terminals reports that the machine has terminals (extension "terminal").
	Terminals bool `json:"terminals,omitempty"`
}

// DisplayName returns the name that the person gave the machine, or its ID.
func (n NodeInfo) DisplayName() string { return cmp.Or(n.Name, string(n.ID)) }

// NodeColours are the colours that a machine can have.
var NodeColours = []string{"blue", "pink", "teal", "green", "purple", "olive", "brown", "grey"}

// NodeForgetParams removes a machine from the registry.
type NodeForgetParams struct {
	NodeID NodeID `json:"nodeId"`
	Force  bool   `json:"force,omitempty"` // disconnect a connected node first
}

// NodeForgetResult answers node.forget.
type NodeForgetResult struct {
	OK           bool   `json:"ok"`
	NodeID       NodeID `json:"nodeId"`
	Removed      bool   `json:"removed"`
	Disconnected bool   `json:"disconnected"`
}

// NodesUpdateParams changes the name and colour that the person gave to a machine. A missing field
// stays as it is; an empty one is removed (extension).
type NodesUpdateParams struct {
	NodeID NodeID  `json:"nodeId"`
	Name   *string `json:"name,omitempty"` // at most 60 characters
	Colour *string `json:"colour,omitempty"`
}

// NodesListResult lists machines, online first (extension).
type NodesListResult struct {
	Nodes []NodeInfo `json:"nodes"`
}

// Events of NodeExecEvent.
const (
	ExecStarted  = "started"
	ExecFinished = "finished"
	ExecFailed   = "failed"
	ExecTimedOut = "timed_out"
	// ExecPutBack reports that changes of a command were put back (extension).
	ExecPutBack = "put_back"
)

// ExecCompletion is posted to a chat when a background command has finished
// (docs/protocol.md#background-commands). Command is an extension.
type ExecCompletion struct {
	EventID    string `json:"eventId"`
	NodeID     NodeID `json:"nodeId"`
	SessionID  string `json:"sessionId"` // of the Bash tool
	CallID     CallID `json:"callId,omitempty"`
	Event      string `json:"event"` // finished, failed or timed_out
	ExitCode   *int   `json:"exitCode,omitempty"`
	Signal     string `json:"signal,omitempty"`
	OutputTail string `json:"outputTail,omitempty"`
	StartedAt  int64  `json:"startedAt,omitempty"`
	EndedAt    int64  `json:"endedAt,omitempty"`
	Command    string `json:"command,omitempty"` // one line, truncated
}

// completionMark is the first line of the message.
const completionMark = "System event: async_exec_completion"

// Message returns the text for the chat: a line that identifies it, and the event as JSON.
func (c ExecCompletion) Message() string {
	raw, err := Marshal(c)
	if err != nil {
		return completionMark // cannot happen: every field can be encoded as JSON
	}
	return completionMark + "\n" + string(raw)
}

// Completion parses a message that the gateway posted about a background command. Only messages
// with OriginEvent come from the gateway.
func (m Message) Completion() (c ExecCompletion, ok bool) {
	if m.Role != RoleUser || m.Origin != OriginEvent {
		return c, false
	}
	text, ok := strings.CutPrefix(m.Content.Text(), completionMark+"\n")
	return c, ok && json.Unmarshal([]byte(text), &c) == nil
}

// Outcome returns how the command ended in a few words, such as "failed with exit code 2".
func (c ExecCompletion) Outcome() string {
	switch {
	case c.Event == ExecFinished:
		return "has finished"
	case c.Event == ExecTimedOut:
		return "took too long and was ended"
	case c.Signal != "":
		return "was ended by " + c.Signal
	case c.ExitCode != nil:
		return fmt.Sprintf("failed with exit code %d", *c.ExitCode)
	}
	return "failed"
}

// Words describes it to a person in one sentence; machine is the person's name for the node.
func (c ExecCompletion) Words(machine string) string {
	what := "A background command"
	if c.Command != "" {
		what = fmt.Sprintf("The background command “%s”", c.Command)
	}
	return fmt.Sprintf("%s on %s %s.", what, machine, c.Outcome())
}
