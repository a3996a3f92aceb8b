package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// fakeHistory is a conversation in memory.
type fakeHistory struct {
	shorten func(keep int64) []protocol.Message
	mu      sync.Mutex
	msgs    []protocol.Message
	states  []string
	notices []string
	asked   []string
	more    bool          // the person's answer to AskContinue
	spoke   chan struct{} // closed on the first piece of text
	once    sync.Once
	fail    error
}

func (b *fakeHistory) Append(_ context.Context, msgs ...protocol.Message) ([]protocol.Message, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return nil, b.fail
	}
	for i := range msgs {
		msgs[i].ID = protocol.MessageID(fmt.Sprintf("m%d", len(b.msgs)))
		b.msgs = append(b.msgs, msgs[i])
	}
	return msgs, nil
}

func (b *fakeHistory) Step(int) {}

func (b *fakeHistory) Delta(_ bool, text string) {
	if b.spoke != nil {
		b.once.Do(func() { close(b.spoke) })
	}
}

func (b *fakeHistory) State(state, notice string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.states = append(b.states, state)
	if notice != "" {
		b.notices = append(b.notices, notice)
	}
}

func (b *fakeHistory) Used(protocol.Usage) {}

func (b *fakeHistory) AskContinue(_ context.Context, why string) (bool, error) {
	b.asked = append(b.asked, why)
	return b.more, nil
}

func (b *fakeHistory) OnAsk(protocol.Question) {}

func (b *fakeHistory) Shorten(_ context.Context, keep int64) ([]protocol.Message, error) {
	if b.shorten == nil {
		return nil, nil
	}
	return b.shorten(keep), nil
}

func (b *fakeHistory) Hydrate(_ context.Context, msgs []protocol.Message) []protocol.Message {
	return msgs
}

// words summarizes the messages: role, then text or IDs of calls.
func (b *fakeHistory) words() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, m := range b.msgs {
		w := string(m.Role) + ": " + m.Content.Text()
		for _, c := range m.Content.Calls() {
			w += " <" + c.ID + ">"
		}
		if m.ToolCallID != "" {
			w += " for " + m.ToolCallID
		}
		out = append(out, w)
	}
	return out
}

// caller runs tools as the test defines.
type caller func(ctx context.Context, c tool.Call) (tool.Result, error)

func (f caller) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	c.OnStart()
	return f(ctx, c)
}

func succeed(_ context.Context, c tool.Call) (tool.Result, error) {
	return tool.Result{Info: protocol.CallInfo{CallID: c.ID, State: protocol.CallDone}, Content: protocol.Content{protocol.Text("ok " + string(c.Args))}}, nil
}

func run(m *llmtest.Model, b *fakeHistory, c caller) *Run {
	if c == nil {
		c = succeed
	}
	hello := protocol.Message{ID: "hello", Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("Hello")}}
	return &Run{
		ID: "run", Session: "agent:main:main", Model: m, Info: m.Info, Ref: protocol.ModelRef{Provider: "test", ID: "scripted"}, MaxSteps: 10,
		Tools: func() []protocol.ToolSpec { return nil }, Caller: c, Ready: context.Cause, AskContinue: b.AskContinue,
		Conversation: b, Progress: b, History: []protocol.Message{hello},
	}
}

func check(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
