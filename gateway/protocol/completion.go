package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Events of NodeExecEvent (seed 004).
const (
	ExecStarted  = "started"
	ExecFinished = "finished"
	ExecFailed   = "failed"
	ExecTimedOut = "timed_out"
)

// ExecCompletion is what a chat is told of a background command that has ended (gsv interop notes 2.2). Command is an extension.
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
	Command    string `json:"command,omitempty"` // one line, cut
}

// completionMark is the first line of the message.
const completionMark = "System event: async_exec_completion"

// Message is the text that goes into the chat: a line that says what it is, and the event as JSON.
func (c ExecCompletion) Message() string {
	raw, err := Marshal(c)
	if err != nil {
		return completionMark // it has no field that JSON cannot hold
	}
	return completionMark + "\n" + string(raw)
}

// Completion reads what the gateway has told a chat of a background command. Only a message with OriginEvent comes from the gateway.
func (m Message) Completion() (c ExecCompletion, ok bool) {
	if m.Role != RoleUser || m.Origin != OriginEvent {
		return c, false
	}
	text, ok := strings.CutPrefix(m.Content.Text(), completionMark+"\n")
	return c, ok && json.Unmarshal([]byte(text), &c) == nil
}

// Outcome says in a few words how the command ended, such as "failed with exit code 2".
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

// Words tells a person of it in one sentence; machine is what they call the node.
func (c ExecCompletion) Words(machine string) string {
	what := "A background command"
	if c.Command != "" {
		what = fmt.Sprintf("The background command “%s”", c.Command)
	}
	return fmt.Sprintf("%s on %s %s.", what, machine, c.Outcome())
}
