package protocol

import (
	"encoding/json"
	"slices"
)

// JournalListParams requests rows of the journal of calls, newest first (extension). An empty field
// does not filter. Limit 0 means 100; at most 1000.
type JournalListParams struct {
	CallID     CallID     `json:"callId,omitempty"`
	Node       NodeID     `json:"nodeId,omitempty"`
	SessionKey SessionKey `json:"sessionKey,omitempty"`
	RunID      RunID      `json:"runId,omitempty"`
	App        AppID      `json:"appId,omitempty"` // a connected app (extension)
	Tool       string     `json:"tool,omitempty"`  // bare name
	State      string     `json:"state,omitempty"` // as CallInfo.State
	Effect     Effect     `json:"effect,omitempty"`
	After      int64      `json:"after,omitempty"`  // Unix milliseconds, inclusive
	Before     int64      `json:"before,omitempty"` // Unix milliseconds, exclusive
	Offset     int        `json:"offset,omitempty"`
	Limit      int        `json:"limit,omitempty"`
}

// Limits of one page of the journal.
const (
	DefaultJournal = 100
	MaxJournal     = 1000
)

// JournalListResult is one page. It has fewer rows than requested when they would be too large
// together. More reports that there are older rows.
type JournalListResult struct {
	Calls []JournalEntry `json:"calls"`
	More  bool           `json:"more"`
}

// JournalEntry is one call in the journal. Status is one of the call states. Input is the
// arguments, with every file content replaced by its SHA-256 and size. Output is the result. A very
// long Input or Output is replaced by a note with its beginning.
type JournalEntry struct {
	CallID         CallID          `json:"callId"`
	RunID          RunID           `json:"runId,omitempty"`
	SessionKey     SessionKey      `json:"sessionKey,omitempty"`
	Node           NodeID          `json:"nodeId"`
	Iteration      int             `json:"iteration"`
	Attempt        int             `json:"attempt"`
	Seq            int64           `json:"seq"`
	Tool           string          `json:"toolName"`
	ToolCallID     string          `json:"toolCallId,omitempty"`
	Effect         Effect          `json:"effect"` // read, write, exec, network; empty is unknown
	Idempotent     bool            `json:"idempotent"`
	IdempotencyKey string          `json:"idempotencyKey"`
	Input          json.RawMessage `json:"input"`
	InputSHA256    string          `json:"inputSha256"`
	InputBytes     int             `json:"inputBytes"`
	Output         json.RawMessage `json:"output,omitempty"`
	OutputSHA256   string          `json:"outputSha256,omitempty"`
	OutputBytes    int             `json:"outputBytes"`
	Truncated      bool            `json:"truncated,omitempty"`
	RequestedAt    int64           `json:"requestedAtMs"`
	StartedAt      int64           `json:"startedAtMs,omitempty"`
	EndedAt        int64           `json:"finishedAtMs,omitempty"`
	Status         string          `json:"status"` // as CallInfo.State
	Error          string          `json:"error,omitempty"`
	ExitCode       *int            `json:"exitCode,omitempty"`
	Principal      string          `json:"principal"`
	App            AppID           `json:"appId,omitempty"` // the connected app that called (extension)
	AskedBy        AskedBy         `json:"askedBy"`
	ApprovalID     QuestionID      `json:"approvalId,omitempty"`
	Direct         bool            `json:"direct,omitempty"`
	Undo           bool            `json:"undo,omitempty"` // as CallInfo.Undo (extension)
	// Preview is the preview of the call, without the diff.
	Preview *CallPreview `json:"preview,omitempty"`
	// Continued counts what passed after the call; nil if nothing did (extension).
	Continued *Continuation `json:"continued,omitempty"`
}

// Continuation counts what passed after a call in what it opened: further parts of a file, the
// output and the signals of a command, the states of a watched file, the messages of a server
// (extension).
type Continuation struct {
	Steps int   `json:"steps"`
	Bytes int64 `json:"bytes,omitempty"` // of content, output and messages, in both directions
	// SHA256 is the checksum of the file's content so far, as its machine reports it. For anything
	// but files it is that of the checksum before, followed by the arguments and the result of the
	// step.
	SHA256 string `json:"sha256"`
	At     int64  `json:"at"` // of the last step, in Unix milliseconds
	// Judged are the later decisions about what the call has queued, the newest last: a transfer that
	// waited is judged again when the rules have changed, and when it continues after a restart.
	Judged []Judgement `json:"judged,omitempty"`
	// Ended is how the transfer that the call has queued ended after the call; nil before that, and if
	// the call ended with it.
	Ended *Ending `json:"ended,omitempty"`
	// UndoneAt is when files that the transfer had replaced were restored, in Unix milliseconds; 0 if
	// none were. The call that did it has an entry of its own.
	UndoneAt int64 `json:"undoneAt,omitempty"`
}

// IsEmpty reports whether nothing passed after the call.
func (c Continuation) IsEmpty() bool {
	return c.Steps == 0 && len(c.Judged) == 0 && c.Ended == nil && c.UndoneAt == 0
}

// Ending is the end of what a call has queued (extension).
type Ending struct {
	At     int64           `json:"at"`     // Unix milliseconds
	State  string          `json:"state"`  // as CallInfo.State
	Output json.RawMessage `json:"output"` // as that of a call that has waited for it
	Error  string          `json:"error,omitempty"`
}

// Judgement is a later decision about what a call has queued (extension).
type Judgement struct {
	At      int64  `json:"at"` // Unix milliseconds
	Verdict string `json:"verdict"`
	Why     string `json:"why,omitempty"`
	By      string `json:"by"` // a person, a rule or the default
	// ApprovalID is the answered question; empty if none was needed.
	ApprovalID QuestionID `json:"approvalId,omitempty"`
	Resumed    bool       `json:"resumed,omitempty"` // it is from an earlier start of the gateway
}

// maxJudged is the number of later decisions that a call's entry holds.
const maxJudged = 20

// Add returns the continuation with one more decision. The oldest ones give way.
func (c Continuation) Add(j Judgement) Continuation {
	c.Judged = append(slices.Clone(c.Judged), j)
	c.Judged = c.Judged[max(0, len(c.Judged)-maxJudged):]
	return c
}

// IsApproved reports whether a person has allowed by the latest decision what the call has queued.
func (c Continuation) IsApproved() bool {
	n := len(c.Judged)
	return n > 0 && c.Judged[n-1].ApprovalID != "" && c.Judged[n-1].Verdict == "allow"
}
