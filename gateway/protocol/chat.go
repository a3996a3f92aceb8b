package protocol

// ChatSendParams sends a message to the agent (docs/protocol.md#chat).
type ChatSendParams struct {
	SessionKey SessionKey `json:"sessionKey"`
	Message    string     `json:"message"`
	RunID      RunID      `json:"runId,omitempty"`
	// Attachments are images for the model (extension). The frame limit bounds their total size.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Node is the machine on which a "!command" runs and to which "@node" in a message refers;
	// empty is the only or first node (extension).
	Node NodeID `json:"node,omitempty"`
	// Remind makes a message that arrives while its chat waits for an approval count as an answer
	// to that approval (status "paused") instead of being queued. The gateway sets it for clients
	// that cannot show approvals.
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

// ChatSendResult has one of four shapes; Status determines which.
type ChatSendResult struct {
	Status string `json:"status"` // started, command, directive-only or paused
	RunID  RunID  `json:"runId,omitempty"`
	// Queued is true when the message waits for another run to finish.
	Queued     bool        `json:"queued,omitempty"`
	Directives *Directives `json:"directives,omitempty"`
	Command    string      `json:"command,omitempty"`
	Response   string      `json:"response,omitempty"`
	Error      string      `json:"error,omitempty"`
	ApprovalID QuestionID  `json:"approvalId,omitempty"`
}

// Directives are settings that apply to one message.
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

// Values of ChatEvent.State.
const (
	ChatPartial  = "partial" // the assistant's text before tool calls is in Message
	ChatDelta    = "delta"   // Text is the next piece of the answer; only for clients that name "deltas"
	ChatWaiting  = "paused"  // a tool call waits for an approval; Message explains how to answer
	ChatFinal    = "final"   // Message is the answer; the run is over
	ChatErrState = "error"   // Error says why; the run is over
)

// ChatEvent is the payload of the chat event (docs/protocol.md#chat). Every runId gets exactly one
// final or error.
type ChatEvent struct {
	RunID      *RunID     `json:"runId"` // null when the run is not known
	SessionKey SessionKey `json:"sessionKey"`
	State      string     `json:"state"` // partial, delta, paused, final or error
	Message    *Message   `json:"message,omitempty"`
	Text       string     `json:"text,omitempty"`
	Error      string     `json:"error,omitempty"`
}

// ChatCancelParams cancels a run or removes a queued message (extension).
type ChatCancelParams struct {
	SessionKey SessionKey `json:"sessionKey"`
	// RunID, when empty, selects the run in progress; queued messages stay.
	RunID RunID `json:"runId,omitempty"`
}

// ChatCancelResult reports the cancelled run.
type ChatCancelResult struct {
	OK        bool  `json:"ok"`
	RunID     RunID `json:"runId,omitempty"`
	Cancelled bool  `json:"cancelled"`
}

// Run states (extension, feed).
const (
	RunQueued    = "queued"
	RunThinking  = "thinking" // the model is working; no text yet
	RunStreaming = "streaming"
	RunTools     = "tools"
	RunWaiting   = "waiting" // waits for an approval
	RunRetrying  = "retrying"
	RunDone      = "done"
	RunFailed    = "failed"
	RunCancelled = "cancelled"
)

// RunInfo describes a run for display (extension, feed). Text and Thinking are the output of the
// current model step, which is not yet stored as a message; deltas extend them.
type RunInfo struct {
	RunID      RunID      `json:"runId"`
	SessionKey SessionKey `json:"sessionKey"`
	State      string     `json:"state"`          // queued, thinking, streaming, tools, waiting, retrying, done, failed or cancelled
	Step       int        `json:"step,omitempty"` // model step, from 1
	StartedAt  int64      `json:"startedAt,omitempty"`
	EndedAt    int64      `json:"endedAt,omitempty"`
	// Message is the person's message, for queued runs.
	Message  string   `json:"message,omitempty"`
	Text     string   `json:"text,omitempty"`
	Thinking string   `json:"thinking,omitempty"`
	Notice   string   `json:"notice,omitempty"` // such as "Retrying in 4 s: the provider is overloaded"
	Error    *Error   `json:"error,omitempty"`
	Model    ModelRef `json:"model"`
	Usage    *Usage   `json:"usage,omitempty"` // of the run so far
	// By is who sent the message, such as "owner this computer". Answer is the first line of the final
	// answer, once the run has ended.
	By     string `json:"by,omitempty"`
	Answer string `json:"answer,omitempty"`
}

// Over reports whether the run has ended.
func (r RunInfo) Over() bool {
	return r.State == RunDone || r.State == RunFailed || r.State == RunCancelled
}
