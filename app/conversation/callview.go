package conversation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// callView is a tool call merged from the assistant's block, live call, stored result and approval.
type callView struct {
	block    *protocol.Block // nil for a call by the person
	info     *protocol.CallInfo
	result   *protocol.Message
	approval *protocol.Question
	seen     sighting // of the approval
	offline  bool     // its machine is not connected
	whole    string   // the output, if the reader has loaded all of it
	undo     undo     // of its change of a file
}

// call adds a card. open reports that the call may be in progress without a record of it.
func (p *pass) call(key string, v callView, fresh, open bool) {
	if v.approval != nil {
		v.seen = p.seen[v.approval.ID]
	}
	if info := v.callInfo(); info != nil {
		v.whole, v.undo = p.outputs[info.CallID], p.undos[info.CallID]
	}
	card := v.card(p.machines, p.now)
	if v.info == nil && v.result == nil && v.approval == nil {
		card.Time, card.CanStop = "", false
		if open {
			card.Time = "starting"
		} else {
			card.State, card.Status = transcript.CallStopped, "not run"
		}
	}
	d := toolData{id: key, card: card}
	info := v.callInfo()
	if card.Undo != "" {
		d.info = info
	}
	if info != nil && info.CallID != "" {
		d.call, d.id = info.CallID, string(info.CallID)
	}
	if v.approval != nil {
		d.approval, d.hash = v.approval.ID, v.approval.Hash
	}
	isCommand := card.Verb == "Bash" || info != nil && info.Effect == protocol.EffectExec
	d.open = v.approval != nil || fresh && isCommand && card.State != transcript.CallDenied && card.State != transcript.CallWaiting
	p.add(key, kindTool, widgets.Choose[float32](d.open, 160, 44), d)
	if v.result != nil {
		if images := ImageKeys(v.result.Content); images != "" {
			p.add(key+"/images", kindMessage, 140, messageData{id: v.result.ID, images: images})
		}
	}
}

// callInfo returns the record of the call; nil if none exists.
func (v callView) callInfo() *protocol.CallInfo {
	if v.info == nil && v.result != nil {
		return v.result.Call
	}
	return v.info
}

func (v callView) card(machines *style.Machines, now time.Time) transcript.Call {
	info := v.callInfo()
	node, verb, args := v.target(info)
	c := transcript.Call{Verb: verb, Machine: machines.Name(string(node)), Color: machines.Color(string(node)), State: transcript.CallRunning}
	c.Argument, c.Input = argument(args)
	switch {
	case v.approval != nil:
		c.State, c.CanAnswer, c.AllowEnabled = transcript.CallWaiting, true, v.seen.allows(*v.approval, now)
		c.AllowHint = allowHint(c)
	case info != nil:
		c.State = callStates[info.State]
	case v.result != nil && v.result.IsError:
		c.State = transcript.CallFailed
	case v.result != nil:
		c.State = transcript.CallDone
	}
	var preview *protocol.CallPreview
	if info != nil {
		preview = info.Preview
	}
	if v.approval != nil && v.approval.Preview != nil {
		preview = v.approval.Preview
	}
	if preview != nil {
		c.Diff, c.Added, c.Removed = preview.Diff, preview.Added, preview.Removed
	}
	if v.approval != nil {
		showWholeCall(&c, *v.approval)
	}
	v.output(&c, info)
	v.describe(&c, info, now)
	v.undoable(&c, info)
	return c
}

// output sets what a call has printed or returned, and how much of it there is.
func (v callView) output(c *transcript.Call, info *protocol.CallInfo) {
	switch {
	case v.whole != "":
		c.Output = v.whole
	case v.result != nil:
		text := v.result.Content.ResultText()
		if c.State != transcript.CallUnknown || strings.Contains(text, protocol.OutputSoFar) { // else it is the reason only
			c.Output = display.Readable(text)
		}
		var left int64
		c.Output, left = display.LeftOut(c.Output)
		if c.Diff != "" && c.State == transcript.CallDone {
			c.Output = "" // the diff says it all
		}
		if left > 0 {
			c.Size, c.CanLoad = format.Size(int64(len(c.Output))+left), info != nil && info.CallID != ""
		}
	case info != nil:
		c.Output = info.Tail
		if info.Bytes > int64(len(c.Output)) && c.Output != "" {
			c.Size = "The end of " + format.Size(info.Bytes)
			if _, whole, ok := strings.Cut(c.Output, "\n"); ok { // the first line may begin in a colour's code
				c.Output = whole
			}
		}
	}
	if len(c.Output) > maxOutput {
		c.Size = "The end of " + format.Size(int64(len(c.Output)))
		c.Output = outputEnd(c.Output)
	}
}

// target returns machine, tool and arguments; those of the call's record are what really runs.
func (v callView) target(info *protocol.CallInfo) (node protocol.NodeID, verb string, args json.RawMessage) {
	name := protocol.ToolName("")
	switch {
	case v.block != nil:
		name, args = protocol.ToolName(v.block.Name), v.block.Arguments
	case v.result != nil:
		name = v.result.ToolName
	}
	if node, verb, _ = name.Split(); verb == "" {
		verb = string(name)
	}
	if info != nil {
		node, verb = cmp.Or(info.Node, node), cmp.Or(info.Tool, verb)
		if len(info.Args) > 0 {
			args = info.Args
		}
	}
	if v.approval != nil && len(v.approval.Args) > 0 {
		args = v.approval.Args
	}
	return node, verb, args
}

var callStates = map[string]transcript.CallState{
	protocol.CallWaiting:   transcript.CallWaiting,
	protocol.CallRunning:   transcript.CallRunning,
	protocol.CallDone:      transcript.CallDone,
	protocol.CallFailed:    transcript.CallFailed,
	protocol.CallDenied:    transcript.CallDenied,
	protocol.CallCancelled: transcript.CallStopped,
	protocol.CallUnknown:   transcript.CallUnknown,
}

func (v callView) describe(c *transcript.Call, info *protocol.CallInfo, now time.Time) {
	exit := ""
	if info != nil && info.ExitCode != nil {
		exit = fmt.Sprintf("exit %d", *info.ExitCode)
		if *info.ExitCode != 0 && c.State == transcript.CallDone {
			c.State = transcript.CallFailed
		}
	}
	c.Status = v.status(c.State, info, exit)
	c.Time = callTime(c.State, info, now)
	c.CanStop = c.State == transcript.CallRunning && info != nil && info.CallID != ""

	var brief, notes []string
	switch edited := editedNote(info); {
	case edited != "" && c.Status == "":
		c.Status = edited
	case edited != "":
		brief = append(brief, edited)
	}
	if v.isLate(info) {
		notes = append(notes, "The machine reported this result after its connection had been lost.")
	}
	if v.result != nil && info != nil && info.Effect == protocol.EffectExec {
		notes = append(notes, display.ResultNote(v.result.Content.ResultText()))
	}
	if c.State == transcript.CallRunning && v.offline {
		notes = append(notes, "The outcome will be known when the machine reconnects.")
	}
	if exit != "" && exit != c.Status && c.State != transcript.CallWaiting {
		brief = append(brief, exit)
	}
	if c.Output == "" && c.Diff == "" && c.State == transcript.CallDone {
		brief = append(brief, "no output")
	}
	switch {
	case c.State == transcript.CallUnknown:
		notes = append(notes, display.UnknownOutcome(c.Machine))
	case info != nil && info.Error != "" && !strings.Contains(c.Output, protocol.ForPerson(info.Error)):
		if c.Output == "" {
			c.Output = protocol.ForPerson(info.Error)
		} else {
			notes = append(notes, protocol.ForPerson(info.Error))
		}
	}
	c.Brief, c.Note = strings.Join(brief, " · "), strings.TrimSpace(strings.Join(notes, " "))
}

// isLate reports whether the result came after the call's outcome had been unknown.
func (v callView) isLate(info *protocol.CallInfo) bool {
	return v.result != nil && info != nil && !info.Edited &&
		slices.ContainsFunc(v.result.Content, func(b protocol.Block) bool { return b.Aside })
}

// editedNote says that the person changed the call before it ran; empty if not.
func editedNote(info *protocol.CallInfo) string {
	switch {
	case info == nil || !info.Edited:
		return ""
	case info.Partial != nil:
		return fmt.Sprintf("%d of %d changes allowed", info.Partial.Allowed, info.Partial.Total)
	}
	return "edited by you"
}

// status returns the word for a state; empty if the icon suffices.
func (v callView) status(s transcript.CallState, info *protocol.CallInfo, exit string) string {
	switch s {
	case transcript.CallWaiting:
		if v.approval != nil {
			return question.WaitingText
		}
		return "waiting for you"
	case transcript.CallRunning:
		if v.offline {
			return "machine offline"
		}
	case transcript.CallFailed:
		return widgets.Choose(exit != "" && *info.ExitCode != 0, exit, "failed")
	case transcript.CallDenied:
		return widgets.Choose(info != nil && info.Unanswered(), "not answered", "denied")
	case transcript.CallStopped:
		return "stopped"
	case transcript.CallUnknown:
		return "outcome unknown"
	}
	return ""
}

// callTime formats how long a call took, or has been running.
func callTime(s transcript.CallState, info *protocol.CallInfo, now time.Time) string {
	var took time.Duration
	if info != nil && info.StartedAt > 0 && (info.EndedAt > 0 || s != transcript.CallDone) {
		end := cmp.Or(info.EndedAt, now.UnixMilli())
		took = time.Duration(end-info.StartedAt) * time.Millisecond
	}
	switch s {
	case transcript.CallRunning:
		return widgets.Choose(took >= time.Second, "running "+formatSeconds(took), "running")
	case transcript.CallDone, transcript.CallFailed, transcript.CallStopped:
		if took > 0 || info != nil && info.StartedAt > 0 && info.EndedAt > 0 {
			return formatDuration(took)
		}
	}
	return ""
}
