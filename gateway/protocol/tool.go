package protocol

import (
	"encoding/json"
	"strings"
)

// Effect is what a call can do to the world (seed 001, Side Effects; DESIGN 5).
type Effect string

const (
	EffectRead    Effect = "read"
	EffectWrite   Effect = "write"
	EffectExec    Effect = "exec"
	EffectNetwork Effect = "network"
	// EffectUnknown is every tool whose maker did not say. It is always asked about.
	EffectUnknown Effect = ""
)

// ToolSpec is ToolDefinition of seed 004 with extensions from Effect on. Over tools.list Name is the full name; in connect it is
// the bare one.
type ToolSpec struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Effect       Effect          `json:"effect,omitempty"`
	Idempotent   bool            `json:"idempotent,omitempty"`
	// SideEffect is what seed 001 calls it: whether a call changes anything. It says what Effect says, less exactly, and counts where that is missing.
	SideEffect *bool `json:"sideEffect,omitempty"`
	// AcceptsKey says that the tool passes its idempotency key on to what it changes.
	AcceptsKey bool `json:"acceptsKey,omitempty"`
	// OwnTime says that the tool, one of the gateway's own, sees by itself that it comes to an end: no time limit applies.
	OwnTime bool `json:"-"`
	// EffectOf, when set, says what a call with these arguments can do, for a tool of the gateway's own that can do more than one thing.
	EffectOf func(args json.RawMessage) Effect `json:"-"`
}

// ToolsListResult holds native tools first, then each node's in the order the node gave them.
type ToolsListResult struct {
	Tools []ToolSpec `json:"tools"`
}

// ToolInvokeParams calls a tool (seed 004, tool.invoke, C -> G).
type ToolInvokeParams struct {
	Tool ToolName        `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"`
}

// ToolInvokeResult wraps what the node returned.
type ToolInvokeResult struct {
	Result json.RawMessage `json:"result"`
}

// ToolInvoke is the tool.invoke event to a node. Tool is the bare name; Args is always present.
type ToolInvoke struct {
	CallID CallID          `json:"callId"`
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	// Preview asks what the call would do, without doing it: the result is a [CallPreview] (extension).
	Preview bool `json:"preview,omitempty"`
	// Expect is the preview's FileSHA256 that the person saw: the node refuses when the file is another by now (extension).
	Expect string `json:"expect,omitempty"`
	// Approved is the hash of what the person allowed ([CallHash]): the node refuses when what it is about to do has another (extension).
	Approved string `json:"approved,omitempty"`
	// Policy is the version of the rules under which it was asked about; it is part of the hash (extension).
	Policy string `json:"policy,omitempty"`
	// Network says that the person allowed the network for this call (extension).
	Network bool `json:"network,omitempty"`
	// Direct says that the call is the person's own act: their commands keep their configuration of
	// git (extension).
	Direct bool `json:"direct,omitempty"`
	// Folders are the folders that the person opened for this call. They are part of Approved, and each must be one that the call needs (extension).
	Folders []FolderAccess `json:"folders,omitempty"`
	// IdempotencyKey is stable over retries of the same call (seed 001; extension).
	IdempotencyKey string `json:"idempotencyKey,omitempty"`
	// SessionKey and RunID say on whose behalf (extension).
	SessionKey SessionKey `json:"sessionKey,omitempty"`
	RunID      RunID      `json:"runId,omitempty"`
}

// CallPreview is what a call would touch (extension). Every field may be empty.
type CallPreview struct {
	Path       string    `json:"path,omitempty"`       // resolved absolute path of a file tool
	Outside    bool      `json:"outside,omitempty"`    // the path lies outside the workspace
	Personal   bool      `json:"personal,omitempty"`   // others take part in the chat, and the call reads what only the person's own chats are told
	Secret     string    `json:"secret,omitempty"`     // the path lies where people keep keys and tokens: in which place, such as ~/.ssh
	Folder     string    `json:"folder,omitempty"`     // absolute working folder of a command
	Shell      string    `json:"shell,omitempty"`      // what would run the command
	Diff       string    `json:"diff,omitempty"`       // unified diff of a Write or Edit
	Added      int       `json:"added,omitempty"`      // lines
	Removed    int       `json:"removed,omitempty"`    // lines
	NewFile    bool      `json:"newFile,omitempty"`    // the file does not exist yet
	FileSHA256 string    `json:"fileSha256,omitempty"` // of the file as it is; "absent" when there is none
	Programs   []Program `json:"programs,omitempty"`   // a command's programs
	Truncated  bool      `json:"truncated,omitempty"`  // Diff was cut: it may not be approved for more than once
	Network    bool      `json:"network,omitempty"`    // the call wants the network
	// Folders are those outside that the call needs; it runs into a wall unless the person opens them for it.
	Folders []FolderAccess `json:"folders,omitempty"`
	Problem string         `json:"problem,omitempty"` // why the call would fail, such as "oldString not found"
}

// Program is one program of a command and where it was found.
type Program struct {
	Name string `json:"name"`
	Path string `json:"path,omitempty"` // empty: not found, or a shell built-in
}

// ToolResultParams returns a call's result (seed 004, tool.result). Result holds what the tool returned, or Error is not empty.
type ToolResultParams struct {
	CallID CallID          `json:"callId"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// NativeResult is what every gsv__* tool returns.
type NativeResult struct {
	OK     bool            `json:"ok"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// FailureText is what a model reads of a call that failed without a result: for a gsv__* tool a
// NativeResult, else an error text.
func FailureText(node NodeID, problem string) string {
	if node == NativePrefix {
		if raw, err := Marshal(NativeResult{Error: problem}); err == nil {
			return string(raw)
		}
	}
	return "Error: " + problem
}

// Ack confirms; Dropped says that nobody waited any more.
type Ack struct {
	OK      bool `json:"ok"`
	Dropped bool `json:"dropped,omitempty"`
}

// ToolProgress is a node's report on a running call (extension, N -> G, sent at most ten times a second per call).
type ToolProgress struct {
	CallID CallID `json:"callId"`
	Tail   string `json:"tail"`  // the last part of the output so far, at most 4,000 characters
	Bytes  int64  `json:"bytes"` // of output so far
}

// ToolCancel is the tool.cancel event: the node stops the call and still sends its tool.result (extension, G -> N).
type ToolCancel struct {
	CallID CallID `json:"callId"`
}

// ToolRequestParams dispatches a call on behalf of a session (seed 004, tool.request).
type ToolRequestParams struct {
	CallID     CallID          `json:"callId"`
	Tool       ToolName        `json:"tool"`
	Args       json.RawMessage `json:"args"`
	SessionKey SessionKey      `json:"sessionKey"`
}

// ToolRequestResult confirms that the call is under way.
type ToolRequestResult struct {
	Status string `json:"status"` // "sent"
}

// CallCancelParams stops one running tool call; the run goes on (extension).
type CallCancelParams struct {
	CallID CallID `json:"callId"`
}

// Call states (extension, feed and Message.Call).
const (
	CallWaiting   = "waiting" // a question is open
	CallRunning   = "running"
	CallDone      = "done"
	CallFailed    = "failed"
	CallDenied    = "denied"
	CallCancelled = "cancelled"
	CallUnknown   = "unknown" // it had started and nobody knows how it ended
)

// CallInfo is what a tool card shows (extension).
type CallInfo struct {
	CallID     CallID          `json:"callId"`
	ToolCallID string          `json:"toolCallId,omitempty"` // the model's id
	SessionKey SessionKey      `json:"sessionKey,omitempty"`
	RunID      RunID           `json:"runId,omitempty"`
	Node       NodeID          `json:"node,omitempty"`
	Tool       string          `json:"tool"` // bare name
	Args       json.RawMessage `json:"args,omitempty"`
	Effect     Effect          `json:"effect,omitempty"`
	State      string          `json:"state"`
	ApprovalID ApprovalID      `json:"approvalId,omitempty"`
	StartedAt  int64           `json:"startedAt,omitempty"`
	EndedAt    int64           `json:"endedAt,omitempty"`
	// Tail is the last part of a running command's output.
	Tail     string       `json:"tail,omitempty"`
	Bytes    int64        `json:"bytes,omitempty"`
	ExitCode *int         `json:"exitCode,omitempty"`
	Preview  *CallPreview `json:"preview,omitempty"`
	Error    string       `json:"error,omitempty"`
	// Direct marks the person's own act.
	Direct bool `json:"direct,omitempty"`
}

// NobodyAnswered is how Error begins where the call was not run because its question expired: that is no denial by the person.
const NobodyAnswered = "Nobody answered"

// Unanswered reports whether the call was not run because nobody answered the question about it.
func (c CallInfo) Unanswered() bool {
	return c.State == CallDenied && strings.HasPrefix(c.Error, NobodyAnswered)
}

// Over reports whether the call has ended.
func (c CallInfo) Over() bool { return c.State != CallWaiting && c.State != CallRunning }
