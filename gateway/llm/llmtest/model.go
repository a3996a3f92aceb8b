// Package llmtest provides a [llm.Model] for tests that plays a script, such as
// Script(Say("I will look.").Call("laptop__Bash", `{"command":"ls"}`), Say("Two files.")). Each
// request plays the next step.
package llmtest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// Model plays a script. It is safe for concurrent use; requests play the steps in the order of
// their arrival.
type Model struct {
	// Info is the description that Open returns. Set it before use.
	Info protocol.ModelInfo

	mu       sync.Mutex
	steps    []Step
	requests []llm.Request
	calls    int
}

// Script returns a model with the given steps. A request after the last step fails with ErrModel.
func Script(steps ...Step) *Model {
	return &Model{
		Info:  protocol.ModelInfo{ID: "scripted", Name: "Scripted", ContextWindow: 200_000, MaxOutput: 8192, Tools: true, Images: true, Thinking: true},
		steps: steps,
	}
}

// Add appends steps.
func (m *Model) Add(steps ...Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = append(m.steps, steps...)
}

// Requests returns the received requests.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Left returns the number of steps that have not been played.
func (m *Model) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.steps)
}

// Open returns the model for every reference, as a registry would.
func (m *Model) Open(_ context.Context, ref protocol.ModelRef) (llm.Model, protocol.ModelInfo, error) {
	info := m.Info
	info.ID = cmp.Or(ref.ID, info.ID)
	return m, info, nil
}

// Stream implements [llm.Model].
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		m.mu.Lock()
		req.Messages = slices.Clone(req.Messages)
		m.requests = append(m.requests, req)
		n := len(m.requests)
		var step Step
		found := len(m.steps) > 0
		if found {
			step, m.steps = m.steps[0], m.steps[1:]
		}
		m.mu.Unlock()
		p := &player{ctx: ctx, req: req, model: m, yield: yield}
		if !found {
			p.fail(protocol.ErrModel.With(fmt.Sprintf("The test's script has no step for request %d.", n)))
			return
		}
		p.play(step)
	}
}

type player struct {
	ctx     context.Context
	req     llm.Request
	model   *Model
	yield   func(llm.Event, error) bool
	index   int
	counted bool
	over    bool
}

func (p *player) play(s Step) {
	for _, a := range s.acts {
		if !a(p) {
			return
		}
	}
	if !p.counted && !p.emit(llm.Event{Type: llm.EventUsage, Usage: protocol.Usage{Input: 10, Output: 5, Total: 15}}) {
		return
	}
	stop := s.stop
	switch {
	case stop != "":
	case p.index > 0:
		stop = llm.StopToolUse
	default:
		stop = llm.StopEnd
	}
	p.emit(llm.Event{Type: llm.EventStop, Stop: stop})
}

// emit reports whether the answer continues.
func (p *player) emit(ev llm.Event) bool {
	if err := p.ctx.Err(); err != nil {
		return p.fail(err)
	}
	p.counted = p.counted || ev.Type == llm.EventUsage
	p.over = !p.yield(ev, nil)
	return !p.over
}

func (p *player) fail(err error) bool {
	if !p.over {
		p.over = true
		p.yield(llm.Event{}, err)
	}
	return false
}

func (p *player) nextCall() (id string, index int) {
	p.model.mu.Lock()
	p.model.calls++
	id = fmt.Sprintf("call_%d", p.model.calls)
	p.model.mu.Unlock()
	index = p.index
	p.index++
	return id, index
}

// Answer is the assembled result of a stream.
type Answer struct {
	Text, Thinking string
	Content        protocol.Content // thoughts, text, images and calls in their order
	Calls          []protocol.Block
	BadArgs        []string       // of each call
	Deltas         map[int]string // streamed arguments, by call
	Images         []protocol.Block
	Usage          protocol.Usage
	Retries        []llm.Retry
	Stop           string
	StopText       string
	Err            error
}

// Collect reads a complete answer.
func Collect(ctx context.Context, m llm.Model, req llm.Request) Answer {
	a := Answer{Deltas: map[int]string{}}
	for ev, err := range m.Stream(ctx, req) {
		if err != nil {
			a.Err = err
			break
		}
		switch ev.Type {
		case llm.EventText:
			a.Text += ev.Text
			if n := len(a.Content); n > 0 && a.Content[n-1].Type == protocol.BlockText {
				a.Content[n-1].Text += ev.Text
			} else {
				a.Content = append(a.Content, protocol.Text(ev.Text))
			}
		case llm.EventThinking:
			a.Thinking += ev.Text
		case llm.EventSignature:
			a.Content = append(a.Content, ev.Block)
		case llm.EventCallDelta:
			a.Deltas[ev.Index] += ev.Text
		case llm.EventCall:
			a.Content = append(a.Content, ev.Block)
			a.Calls = append(a.Calls, ev.Block)
			a.BadArgs = append(a.BadArgs, ev.BadArgs)
		case llm.EventImage:
			a.Content = append(a.Content, ev.Block)
			a.Images = append(a.Images, ev.Block)
		case llm.EventUsage:
			a.Usage = ev.Usage
		case llm.EventRetry:
			a.Retries = append(a.Retries, ev.Retry)
		case llm.EventStop:
			a.Stop, a.StopText = ev.Stop, ev.Text
		}
	}
	return a
}
