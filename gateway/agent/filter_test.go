package agent

import (
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

// ask adds a message of the person to a conversation and answers it with one step of a model. It
// returns the model's request.
func ask(t *testing.T, b *fakeHistory, text string, step llmtest.Step) (llm.Request, error) {
	t.Helper()
	question := protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}}
	if _, err := b.Append(t.Context(), question); err != nil {
		t.Fatal(err)
	}
	m := llmtest.Script(step)
	r := run(m, b, nil)
	r.ID = protocol.RunID("run of " + text)
	r.History = append([]protocol.Message{}, b.msgs...)
	err := r.Do(t.Context())
	return m.Requests()[0], err
}

func textOf(q llm.Request) string {
	var b strings.Builder
	for _, m := range q.Messages {
		b.WriteString(m.Content.Text() + "\n")
	}
	return b.String()
}

// filters are the ways in which a content filter refuses a message.
var filters = map[string]llmtest.Step{
	"at the end":      llmtest.Say("").Emit(llm.Event{Type: llm.EventStop, Text: "The provider's content filter stopped the answer."}).Stop(llm.StopRefusal),
	"after some text": llmtest.Say("It begins").Emit(llm.Event{Type: llm.EventStop, Text: "The provider's content filter stopped the answer."}).Stop(llm.StopRefusal),
	"with an error": llmtest.Say("").Fail(protocol.ErrModel.With(
		"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.")),
}

func TestFilteredMessageIsLeftOutOfLaterRequests(t *testing.T) {
	for name, filtered := range filters {
		t.Run(name, func(t *testing.T) {
			b := &fakeHistory{}
			if _, err := ask(t, b, "first", llmtest.Say("fine")); err != nil {
				t.Fatal(err)
			}
			if _, err := ask(t, b, "poison", filtered); err == nil {
				t.Fatal("got no error, want the filter's")
			}
			notice := b.msgs[len(b.msgs)-1]
			if notice.Origin != protocol.OriginNotice || !strings.Contains(notice.Content.Text(), "“poison” is left out") {
				t.Errorf("last message: got %q, want a notice that names the message", notice.Content.Text())
			}
			q, err := ask(t, b, "next", llmtest.Say("good"))
			if err != nil {
				t.Fatal(err)
			}
			if text := textOf(q); strings.Contains(text, "poison") || strings.Contains(text, "It begins") || !strings.Contains(text, "first") || !strings.Contains(text, "next") {
				t.Errorf("next request: got %q, want it without the refused message", text)
			}
		})
	}
}

func TestRepeatedFilteringLeavesEarlierMessagesOut(t *testing.T) {
	b := &fakeHistory{}
	if _, err := ask(t, b, "old poison", llmtest.Say("fine")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"second", "third"} {
		if _, err := ask(t, b, text, filters["at the end"]); !errors.Is(err, protocol.ErrIncomplete) {
			t.Fatalf("%s: got %v, want an incomplete answer", text, err)
		}
	}
	q, err := ask(t, b, "fourth", llmtest.Say("good"))
	if text := textOf(q); err != nil || strings.Contains(text, "poison") || strings.Contains(text, "third") || !strings.Contains(text, "fourth") {
		t.Errorf("got %q, %v, want the last message only", text, err)
	}
	q, err = ask(t, b, "fifth", llmtest.Say("good"))
	if text := textOf(q); err != nil || !strings.Contains(text, "fourth") {
		t.Errorf("got %q, %v, want the messages after the refusals", text, err)
	}
}

func TestFilteredResultOfACallIsLeftOut(t *testing.T) {
	b := &fakeHistory{}
	m := llmtest.Script(llmtest.Call("a__Bash", `{"n":1}`), filters["at the end"])
	r := run(m, b, nil)
	if err := r.Do(t.Context()); !errors.Is(err, protocol.ErrIncomplete) {
		t.Fatalf("got %v, want an incomplete answer", err)
	}
	if notice := b.msgs[len(b.msgs)-1].Content.Text(); !strings.HasPrefix(notice, "The result of ") {
		t.Errorf("got the notice %q, want one about the result", notice)
	}
	q, err := ask(t, b, "next", llmtest.Say("good"))
	for _, m := range q.Messages {
		if m.Role == protocol.RoleToolResult && strings.Contains(m.Content.Text(), "ok {") {
			t.Errorf("got the result %q, want it without its contents", m.Content.Text())
		}
	}
	if err != nil || !strings.Contains(textOf(q), "left out") {
		t.Errorf("got %q, %v, want a note in place of the result", textOf(q), err)
	}
}
