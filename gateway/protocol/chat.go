package protocol

// ChatSendParams sends a message to the agent (seed 004, chat.send).
type ChatSendParams struct {
	SessionKey SessionKey `json:"sessionKey"`
	Message    string     `json:"message"`
	RunID      RunID      `json:"runId,omitempty"`
	// Attachments are images for the model (extension). Total size is bounded by the frame.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Node is where a "!command" runs and what "@node" of the composer means; empty is the only or first node (extension).
	Node NodeID `json:"node,omitempty"`
	// Remind has a message that comes while its chat waits for the person's answer answered by that question (status "paused"), not queued: for a
	// client that sees no questions of its own. The gateway sets it.
	Remind bool `json:"-"`
}

// Attachment is a file sent with a message.
type Attachment struct {
	Filename string `json:"filename,omitempty"`
	MimeType string `json:"mimeType"`
	Data     string `json:"data"` // base64
}

// Values of ChatSendResult.Status.
const (
	ChatStarted       = "started"
	ChatCommand       = "command"
	ChatDirectiveOnly = "directive-only"
	ChatPaused        = "paused"
)

// ChatSendResult has one of four shapes, told apart by Status (seed 004, chat.send).
type ChatSendResult struct {
	Status string `json:"status"`
	RunID  RunID  `json:"runId,omitempty"`
	// Queued is present and true when the message waits behind another run.
	Queued     bool        `json:"queued,omitempty"`
	Directives *Directives `json:"directives,omitempty"`
	Command    string      `json:"command,omitempty"`
	Response   string      `json:"response,omitempty"`
	Error      string      `json:"error,omitempty"`
	ApprovalID ApprovalID  `json:"approvalId,omitempty"`
}

// Directives are settings for one message.
type Directives struct {
	ThinkLevel string    `json:"thinkLevel,omitempty"`
	Model      *ModelRef `json:"model,omitempty"`
}

// ModelRef names a model of a provider.
type ModelRef struct {
	Provider string `json:"provider"`
	ID       string `json:"id"`
}

func (m ModelRef) String() string { return m.Provider + "/" + m.ID }

// Values of ChatEvent.State (seed 004, chat event).
const (
	ChatPartial  = "partial" // the assistant said something and now calls tools; Message is set
	ChatDelta    = "delta"   // Text is the next piece of the answer; only for clients that name [ExtDeltas]
	ChatWaiting  = "paused"  // a tool call waits for the person; Message says what to answer
	ChatFinal    = "final"   // Message is the answer; the run is over
	ChatErrState = "error"   // Error says why; the run is over
)

// ChatEvent is the chat event of seed 004. Every runId gets exactly one final or error.
type ChatEvent struct {
	RunID      *RunID     `json:"runId"` // null when the run is not known
	SessionKey SessionKey `json:"sessionKey"`
	State      string     `json:"state"`
	Message    *Message   `json:"message,omitempty"`
	Text       string     `json:"text,omitempty"`
	Error      string     `json:"error,omitempty"`
}

// ChatCancelParams stops a run, or takes a waiting message out of the queue (extension).
type ChatCancelParams struct {
	SessionKey SessionKey `json:"sessionKey"`
	// RunID empty means the run in progress; the queue stays.
	RunID RunID `json:"runId,omitempty"`
}

// ChatCancelResult says what was stopped.
type ChatCancelResult struct {
	OK        bool  `json:"ok"`
	RunID     RunID `json:"runId,omitempty"`
	Cancelled bool  `json:"cancelled"`
}

// Run states (extension, feed).
const (
	RunQueued    = "queued"
	RunThinking  = "thinking" // the model works, no text yet
	RunStreaming = "streaming"
	RunTools     = "tools"
	RunWaiting   = "waiting" // a question is open
	RunRetrying  = "retrying"
	RunDone      = "done"
	RunFailed    = "failed"
	RunCancelled = "cancelled"
)

// RunInfo is what a window shows of a run (extension, feed). Text and Thinking are what the current model step has said so far
// and is not yet stored as a message; deltas continue them.
type RunInfo struct {
	RunID      RunID      `json:"runId"`
	SessionKey SessionKey `json:"sessionKey"`
	State      string     `json:"state"`
	Step       int        `json:"step,omitempty"` // model step, from 1
	StartedAt  int64      `json:"startedAt,omitempty"`
	EndedAt    int64      `json:"endedAt,omitempty"`
	// Message is what the person wrote, for runs that wait in the queue.
	Message  string   `json:"message,omitempty"`
	Text     string   `json:"text,omitempty"`
	Thinking string   `json:"thinking,omitempty"`
	Notice   string   `json:"notice,omitempty"` // such as "Retrying in 4 s: the provider is overloaded"
	Error    *Error   `json:"error,omitempty"`
	Model    ModelRef `json:"model"`
	Usage    *Usage   `json:"usage,omitempty"` // of the run so far
}

// Over reports whether the run has ended.
func (r RunInfo) Over() bool {
	return r.State == RunDone || r.State == RunFailed || r.State == RunCancelled
}
