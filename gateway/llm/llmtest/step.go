package llmtest

import (
	"context"
	"encoding/json"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// Step is one answer. Its methods append to it and return the longer step; the zero Step is an
// empty answer.
type Step struct {
	acts []act
	stop string
}

// act is a part of an answer. It returns false to end the answer without a stop event.
type act func(p *player) bool

func (s Step) add(a act) Step {
	s.acts = append(s.acts[:len(s.acts):len(s.acts)], a)
	return s
}

// Say returns a step with text, which streams word by word.
func Say(text string) Step { return Step{}.Say(text) }

// Think returns a step with a thought.
func Think(thought string) Step { return Step{}.Think(thought) }

// Call returns a step with a tool call. args is the model's output; anything but a JSON object
// arrives as bad arguments.
func Call(tool protocol.ToolName, args string) Step { return Step{}.Call(tool, args) }

// Fail returns a step that ends in err.
func Fail(err error) Step { return Step{}.Fail(err) }

// Hang returns a step that waits until the request is cancelled.
func Hang() Step { return Step{}.Hang() }

// Emit returns a step of the given events.
func Emit(events ...llm.Event) Step { return Step{}.Emit(events...) }

// Say adds text.
func (s Step) Say(text string) Step { return s.pieces(llm.EventText, text) }

// Think adds a thought with a signature.
func (s Step) Think(thought string) Step {
	return s.pieces(llm.EventThinking, thought).add(func(p *player) bool {
		return p.emit(llm.Event{Type: llm.EventSignature, Block: protocol.Block{Type: protocol.BlockThinking, Thinking: thought, Signature: "signed"}})
	})
}

func (s Step) pieces(kind llm.EventType, text string) Step {
	return s.add(func(p *player) bool {
		for _, word := range strings.SplitAfter(text, " ") {
			if word != "" && !p.emit(llm.Event{Type: kind, Text: word}) {
				return false
			}
		}
		return true
	})
}

// Call adds a tool call. IDs count up over the whole script: call_1, call_2 …
func (s Step) Call(tool protocol.ToolName, args string) Step {
	return s.add(func(p *player) bool {
		id, index := p.nextCall()
		b := protocol.Block{Type: protocol.BlockToolCall, ID: id, Name: string(tool)}
		whole := llm.Event{Type: llm.EventCall, Index: index, Block: b}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(args), &object) == nil {
			whole.Block.Arguments = json.RawMessage(args)
		} else {
			whole.BadArgs = args
		}
		half := len(args) / 2
		return p.emit(llm.Event{Type: llm.EventCallStart, Index: index, Block: b}) &&
			p.emit(llm.Event{Type: llm.EventCallDelta, Index: index, Text: args[:half]}) &&
			p.emit(llm.Event{Type: llm.EventCallDelta, Index: index, Text: args[half:]}) &&
			p.emit(whole)
	})
}

// Emit adds the given events unchanged.
func (s Step) Emit(events ...llm.Event) Step {
	return s.add(func(p *player) bool {
		for _, ev := range events {
			if !p.emit(ev) {
				return false
			}
		}
		return true
	})
}

// Usage adds a token count; without one, each step counts 10 in and 5 out.
func (s Step) Usage(u protocol.Usage) Step {
	return s.Emit(llm.Event{Type: llm.EventUsage, Usage: u})
}

// Check adds a function that inspects the request.
func (s Step) Check(look func(llm.Request)) Step {
	return s.add(func(p *player) bool { look(p.req); return true })
}

// Wait pauses the answer until ready is closed or the request is cancelled.
func (s Step) Wait(ready <-chan struct{}) Step {
	return s.add(func(p *player) bool {
		select {
		case <-ready:
			return true
		case <-p.ctx.Done():
			return p.fail(context.Cause(p.ctx))
		}
	})
}

// Hang pauses the answer until the request is cancelled.
func (s Step) Hang() Step { return s.Wait(nil) }

// Fail ends the answer with err.
func (s Step) Fail(err error) Step { return s.add(func(p *player) bool { return p.fail(err) }) }

// Stop ends the answer with a stop reason.
func (s Step) Stop(reason string) Step {
	s.stop = reason
	return s
}
