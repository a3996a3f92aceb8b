package session

import (
	"errors"
	"strings"
	"sync"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// progress is what people see of a run: its state, its tokens, and the text that the model is
// writing. It implements agent.Progress. It is safe for concurrent use.
type progress struct {
	chats *Chats

	mu   sync.Mutex // guards the fields below, except the IDs in info, which do not change
	info protocol.RunInfo
	// text and thinking are the text that snapshot adds to info. They are builders because an
	// answer arrives in thousands of pieces.
	text, thinking strings.Builder
	lastTextStep   int // step of the last chat delta, or 0
}

// update changes the fields that mu guards.
func (p *progress) update(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *progress) snapshot() protocol.RunInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	info := p.info
	info.Text, info.Thinking = p.text.String(), p.thinking.String()
	return info
}

// publish publishes the state of the run to windows.
func (p *progress) publish() {
	info := p.snapshot()
	info.Text, info.Thinking = "", "" // they are sent as deltas
	p.chats.bus.Publish(protocol.Change{Kind: protocol.ChangeRun, SessionKey: info.SessionKey, Run: &info})
}

// publishChat publishes a chat event, which clients of GSV understand.
func (p *progress) publishChat(e protocol.ChatEvent) {
	id := p.info.RunID
	e.RunID, e.SessionKey = &id, p.info.SessionKey
	p.chats.bus.Publish(protocol.Change{Kind: protocol.ChangeChat, SessionKey: e.SessionKey, Chat: &e})
}

// setModel sets the model that the next publish shows.
func (p *progress) setModel(ref protocol.ModelRef) { p.update(func() { p.info.Model = ref }) }

// Step implements agent.Progress.
func (p *progress) Step(step int) {
	p.clearText()
	p.update(func() { p.info.Step = step })
}

// clearText discards the streamed text.
func (p *progress) clearText() {
	p.update(func() {
		p.text.Reset()
		p.thinking.Reset()
	})
}

// Delta implements agent.Progress.
func (p *progress) Delta(thinking bool, text string) {
	if text == "" {
		return
	}
	d := protocol.Delta{RunID: p.info.RunID, Thinking: thinking, Text: text}
	separator := ""
	p.update(func() {
		d.Step = p.info.Step
		to := &p.text
		if thinking {
			to = &p.thinking
		} else {
			if p.lastTextStep != 0 && p.lastTextStep != d.Step {
				separator = "\n\n" // chat events carry no step; clients concatenate their texts
			}
			p.lastTextStep = d.Step
		}
		d.Offset = to.Len()
		to.WriteString(text)
	})
	p.chats.bus.Publish(protocol.Change{Kind: protocol.ChangeDelta, SessionKey: p.info.SessionKey, Delta: &d})
	if !thinking {
		p.publishChat(protocol.ChatEvent{State: protocol.ChatDelta, Text: separator + text})
	}
}

// State implements agent.Progress.
func (p *progress) State(state, notice string) {
	p.update(func() { p.info.State, p.info.Notice = state, notice })
	p.publish()
}

// Used implements agent.Progress.
func (p *progress) Used(u protocol.Usage) {
	p.update(func() {
		sum := u // a new one, because a published one must not change
		if p.info.Usage != nil {
			sum.Add(*p.info.Usage)
		}
		p.info.Usage = &sum
	})
	p.publish()
	p.chats.publishSession(p.info.SessionKey)
}

// OnAsk implements agent.Progress.
func (p *progress) OnAsk(q protocol.Question) {
	if q.State != "" && q.State != protocol.QuestionPending {
		p.State(protocol.RunTools, "")
		return
	}
	p.State(protocol.RunWaiting, "")
	p.publishChat(protocol.ChatEvent{State: protocol.ChatWaiting, Message: &protocol.Message{
		Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text(questionText(q))}, Timestamp: now(),
	}})
}

// end sets the final state and the answer, and returns what the next publish shows.
func (p *progress) end(err error, answer string) protocol.RunInfo {
	p.clearText()
	p.update(func() {
		p.info.EndedAt, p.info.Notice, p.info.Answer = now(), "", format.FirstLine(answer, maxFirstLine)
		switch {
		case err == nil:
			p.info.State = protocol.RunDone
		case errors.Is(err, errCancelled):
			p.info.State = protocol.RunCancelled
		default:
			p.info.State, p.info.Error = protocol.RunFailed, protocol.AsError(err)
		}
	})
	return p.snapshot()
}
