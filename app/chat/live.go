package chat

import (
	"fmt"
	"strings"
	"time"

	"fairlead/app/state"
	"fairlead/app/transcript"
	"fairlead/gateway/protocol"
)

// live adds the activity in progress: streamed text, calls without a stored message, approvals, and
// the runs' states.
func (p *pass) live() {
	p.shown = map[string]bool{}
	for _, it := range p.items[min(len(p.settled), len(p.items)):] {
		p.shown[it.Key] = true
		if d, ok := it.Data.(toolData); ok {
			p.shown["call/"+string(d.call)], p.shown["ask/"+string(d.approval)] = true, true
		}
	}
	for _, r := range p.state.Runs {
		p.liveRun(r)
	}
	for i := range p.state.Calls { // a call by the person, outside any run
		c := p.state.Calls[i]
		if key := "call/" + string(c.CallID); !p.shown[key] {
			p.shown[key] = true
			p.liveCall("own/"+string(c.CallID), &c)
		}
	}
	for _, q := range p.state.Approvals {
		if q.Kind == protocol.AskContinue {
			card := transcript.Call{
				Verb: "Continue?", Argument: q.Why, State: transcript.CallWaiting, Status: state.WaitingWord(q), CanAnswer: true,
				AllowEnabled: p.seen[q.ID].allows(q, p.now),
			}
			p.add("ask/"+string(q.ID), kindTool, 80, toolData{id: string(q.ID), card: card, approval: q.ID, hash: q.Hash, open: true})
		}
	}
}

// liveRun adds what a run has streamed, its calls and its state.
func (p *pass) liveRun(r protocol.RunInfo) {
	step := r.Step
	if step == 0 {
		step = p.cursor.steps[r.RunID] + 1
	}
	base := fmt.Sprintf("r/%s/%d", r.RunID, step)
	m := protocol.Message{RunID: r.RunID, Timestamp: r.StartedAt}
	if !r.Over() {
		if strings.TrimSpace(r.Thinking) != "" && !p.shown[base+"/think0"] {
			p.sender(base+"/head", m)
		}
		p.thinking(base+"/think0", r.Thinking, false, r.Text == "" && r.State != protocol.RunTools)
		if strings.TrimSpace(r.Text) != "" && !p.shown[base+"/text0"] {
			p.answer(base+"/text0", m, r.Text)
		}
	}
	for i := range p.state.Calls {
		c := p.state.Calls[i]
		if key := "call/" + string(c.CallID); c.RunID == r.RunID && !p.shown[key] {
			if !c.Direct {
				p.sender(base+"/head", m)
			}
			p.liveCall(key, &c)
		}
	}
	p.runState(r)
}

func (p *pass) liveCall(key string, c *protocol.CallInfo) {
	p.call(key, callView{info: c, approval: p.state.pendingApproval(*c), offline: p.state.isOffline(c.Node)}, true, true)
}

// runState adds the row of a run's state.
func (p *pass) runState(r protocol.RunInfo) {
	key := "run/" + string(r.RunID)
	notice := func(icon, text string) { p.add(key, kindNotice, 32, noticeData{icon: icon, text: text}) }
	switch r.State {
	case protocol.RunQueued:
		p.add(key, kindQueued, 40, queuedData{r.RunID, r.Message})
	case protocol.RunThinking:
		if r.Thinking != "" {
			return
		}
		text := "Working…"
		if d := time.Duration(p.now.UnixMilli()-r.StartedAt) * time.Millisecond; r.StartedAt > 0 && d >= 3*time.Second {
			text += " " + formatSeconds(d)
		}
		notice("activity", text)
	case protocol.RunRetrying:
		text := r.Notice
		if text == "" {
			text = "Trying again…"
		}
		notice("reset", text)
	case protocol.RunFailed:
		problem, action := runProblem(r.Error)
		p.add(key, kindProblem, 90, problemData{problem, action, r.RunID})
	case protocol.RunCancelled:
		notice("stop", "Stopped.")
	default:
		if r.Notice != "" && !r.Over() {
			notice("info", r.Notice)
		}
	}
}
