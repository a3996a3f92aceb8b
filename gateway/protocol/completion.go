package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Events of NodeExecEvent.
const (
	ExecStarted  = "started"
	ExecFinished = "finished"
	ExecFailed   = "failed"
	ExecTimedOut = "timed_out"
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
