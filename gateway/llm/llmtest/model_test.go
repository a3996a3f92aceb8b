package llmtest

import (
	"context"
	"errors"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

func TestScriptPlaysAStepForEachRequest(t *testing.T) {
	m := Script(Think("Hm ok").Say("I will look.").Call("a__Bash", `{"command":"ls"}`).Call("a__Bash", `nonsense`), Say("Done."))
	var text, thought, args, stop string
	var calls []llm.Event
	for ev, err := range m.Stream(t.Context(), llm.Request{System: "s"}) {
		if err != nil {
			t.Fatal(err)
		}
		switch ev.Type {
		case llm.EventText:
			text += ev.Text
		case llm.EventThinking:
			thought += ev.Text
		case llm.EventCallDelta:
			args += ev.Text
		case llm.EventCall:
			calls = append(calls, ev)
		case llm.EventStop:
			stop = ev.Stop
		}
	}
	if text != "I will look." || thought != "Hm ok" || args != `{"command":"ls"}nonsense` || stop != llm.StopToolUse {
		t.Errorf("got %v, %v, %v, %v; want \"I will look.\", thought \"Hm ok\", args `{\"command\":\"ls\"}nonsense` and stop StopToolUse", text, thought, args, stop)
	}
	if len(calls) != 2 || calls[0].Block.ID != "call_1" || calls[1].Index != 1 || calls[1].BadArgs != "nonsense" || calls[1].Block.Arguments != nil {
		t.Errorf(`got %+v; want length 2, calls[0].Block.ID "call_1", calls[1].Index 1, calls[1].BadArgs "nonsense" and no calls[1].Block.Arguments`, calls)
	}
	for range m.Stream(t.Context(), llm.Request{}) {
	}
	for _, err := range m.Stream(t.Context(), llm.Request{}) {
		if !errors.Is(err, protocol.ErrModel) {
			t.Errorf("got %v; want the error protocol.ErrModel", err)
		}
	}
	if got := m.Requests(); len(got) != 3 || got[0].System != "s" || m.Left() != 0 {
		t.Errorf(`got %v, %v; want length 3, got[0].System "s" and m.Left 0`, len(got), m.Left())
	}
}

func TestScriptEndsWithTheRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := Script(Say("one").Hang().Say("two"))
	var got string
	var last error
	for ev, err := range m.Stream(ctx, llm.Request{}) {
		got, last = got+ev.Text, err
		cancel()
	}
	if got != "one" || !errors.Is(last, context.Canceled) {
		t.Errorf(`got %v, %v; want "one" and error Canceled`, got, last)
	}
}
