package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/gateway/protocol"
)

// callView is a tool call merged from its parts: the assistant's block, the live call, the stored
// result, the approval.
type callView struct {
	block    *protocol.Block // nil for a call by the person
	info     *protocol.CallInfo
	result   *protocol.Message
	question *protocol.Approval
	seen     sight // visibility of the approval
	away     bool  // its machine is offline
}

// tool returns the content of a card.
func (c callView) tool(machines *style.Machines, now time.Time) transcript.Call {
	var t transcript.Call
	var args json.RawMessage
	var node protocol.NodeID
	if c.block != nil {
		node, t.Verb, _ = protocol.ToolName(c.block.Name).Split()
		if t.Verb == "" {
			t.Verb = c.block.Name
		}
		args = c.block.Arguments
	}
	if c.result != nil && t.Verb == "" {
		node, t.Verb, _ = c.result.ToolName.Split()
		if t.Verb == "" {
			t.Verb = string(c.result.ToolName)
		}
	}
	info := c.info
	if info == nil && c.result != nil {
		info = c.result.Call
	}
	if info != nil {
		if info.Tool != "" {
			t.Verb = info.Tool
		}
		if info.Node != "" {
			node = info.Node
		}
		if len(info.Args) > 0 {
			args = info.Args
		}
	}
	t.Machine, t.Color = machines.Name(string(node)), machines.Color(string(node))
	if c.question != nil && len(c.question.Args) > 0 {
		args = c.question.Args
	}
	t.Argument, t.Input = argument(t.Verb, args)

	t.State = transcript.CallRunning
	switch {
	case info != nil:
		t.State = states[info.State]
	case c.result != nil && c.result.IsError:
		t.State = transcript.CallFailed
	case c.result != nil:
		t.State = transcript.CallDone
	}
	if c.question != nil {
		t.State = transcript.CallWaiting
		t.CanAnswer = true
		t.AllowEnabled = c.seen.armed(*c.question, now)
	}
	var preview *protocol.CallPreview
	if info != nil {
		preview = info.Preview
	}
	if c.question != nil && c.question.Preview != nil {
		preview = c.question.Preview
	}
	if preview != nil {
		t.Diff, t.Added, t.Removed = preview.Diff, preview.Added, preview.Removed
	}
	if c.question != nil {
		ask(&t, *c.question, args)
	}
	if c.result != nil {
		t.Output = state.Readable(c.result.Content.Text())
	} else if info != nil {
		t.Output = info.Tail
	}
	cut := len(t.Output) > maxOutput
	if cut {
		t.Output = ending(t.Output)
	}
	c.describe(&t, info, now)
	if cut && !strings.Contains(t.Note, endShown) {
		t.Note = strings.TrimPrefix(t.Note+" · "+endShown, " · ")
	}
	return t
}

var states = map[string]transcript.CallState{
	protocol.CallWaiting:   transcript.CallWaiting,
	protocol.CallRunning:   transcript.CallRunning,
	protocol.CallDone:      transcript.CallDone,
	protocol.CallFailed:    transcript.CallFailed,
	protocol.CallDenied:    transcript.CallDenied,
	protocol.CallCancelled: transcript.CallStopped,
	protocol.CallUnknown:   transcript.CallUnknown,
}

// endShown marks a card that shows only the end of the output.
const endShown = "showing the end"

// describe sets the text of the state.
func (c callView) describe(t *transcript.Call, info *protocol.CallInfo, now time.Time) {
	var took time.Duration
	if info != nil && info.StartedAt > 0 {
		end := info.EndedAt
		if end == 0 {
			end = now.UnixMilli()
		}
		took = time.Duration(end-info.StartedAt) * time.Millisecond
	}
	var notes []string
	exit := ""
	if info != nil && info.ExitCode != nil {
		exit = fmt.Sprintf("exit %d", *info.ExitCode)
	}
	switch t.State {
	case transcript.CallWaiting:
		t.Status = "waiting for you"
		if c.question != nil {
			t.Status = state.WaitingWord(*c.question)
		}
	case transcript.CallRunning:
		t.Time = "running"
		if took >= time.Second {
			t.Time = "running " + span(took.Truncate(time.Second))
			if took < 10*time.Second {
				t.Time = fmt.Sprintf("running %d s", int(took.Seconds()))
			}
		}
		t.CanStop = info != nil && info.CallID != ""
		if c.away {
			t.Status = "machine offline"
			notes = append(notes, "The outcome will be known when the machine reconnects")
		}
	case transcript.CallDone:
		if info != nil && info.EndedAt > 0 && info.StartedAt > 0 {
			t.Time = span(took)
		}
		if info != nil && info.ExitCode != nil && *info.ExitCode != 0 {
			t.State, t.Status = transcript.CallFailed, exit
		}
	case transcript.CallFailed:
		t.Status = "failed"
		if exit != "" && *info.ExitCode != 0 {
			t.Status = exit
		}
		if took > 0 {
			t.Time = span(took)
		}
	case transcript.CallDenied:
		t.Status = "denied"
		if info != nil && info.Unanswered() {
			t.Status = "not answered"
		}
	case transcript.CallStopped:
		t.Status = "stopped"
		if took > 0 {
			t.Time = span(took)
		}
	case transcript.CallUnknown:
		t.Status = "outcome unknown"
	}
	if exit != "" && exit != t.Status && t.State != transcript.CallWaiting {
		notes = append(notes, exit)
	}
	if info != nil && info.Bytes > int64(len(t.Output)) && t.Output != "" {
		notes = append(notes, size(info.Bytes)+", "+endShown)
	}
	if t.Output == "" && t.State == transcript.CallDone {
		notes = append(notes, "no output")
	}
	if info != nil && info.Error != "" && !strings.Contains(t.Output, info.Error) {
		if t.Output == "" {
			t.Output = info.Error
		} else {
			notes = append(notes, info.Error)
		}
	}
	t.Note = strings.Join(notes, " · ")
}
