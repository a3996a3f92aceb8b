package openai

import (
	"net/http"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/llmtest"
)

// read passes a body to an API's reader and checks the rules for every answer: an answer without an
// error has exactly one stop, every started call is complete, and nothing follows an error.
func read(t *testing.T, w wire, body, contentType string) {
	stops, begun, complete := 0, map[int]bool{}, map[int]bool{}
	out := ask.To(func(ev llm.Event, _ error) bool {
		switch ev.Type {
		case llm.EventStop:
			stops++
		case llm.EventCallStart:
			begun[ev.Index] = true
		case llm.EventCallDelta:
			if !begun[ev.Index] || complete[ev.Index] {
				t.Fatalf("a piece of call %d out of place", ev.Index)
			}
		case llm.EventCall:
			if complete[ev.Index] || ev.Block.ID == "" || ev.Block.Name == "" || len(ev.Block.Arguments) == 0 {
				t.Fatalf("call %d: %+v; want not complete[Index], some Block.ID, some Block.Name and some Block.Arguments", ev.Index, ev.Block)
			}
			complete[ev.Index] = true
		}
		return true
	})
	o := llm.Options{HTTP: llmtest.NewWire(llmtest.Reply{Header: http.Header{"Content-Type": {contentType}}, Body: body}).Client()}
	err := ask.Exchange(t.Context(), o, ask.Request{URL: "http://model.test"}, out, w.reader(&model{}, stream{Out: out}))
	if (err == nil) != (stops == 1) || err == nil && len(begun) != len(complete) {
		t.Fatalf("got %d stops, %d calls begun, %d complete, %v; want one stop or an error, and as many complete as begun", stops, len(begun), len(complete), err)
	}
}

func FuzzChat(f *testing.F) {
	f.Add(cassette)
	f.Add(data(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":"x"}],"tool_calls":[{"function":{"arguments":{"a":1}}}]}}]}`, okChat))
	f.Add(data(`{"choices":[{"delta":{"reasoning_details":[{"type":"a","index":{"b":1},"text":"x"},{"type":"a","index":{"b":1}}]}}]}`))
	f.Fuzz(func(t *testing.T, body string) {
		read(t, chatWire, body, "text/event-stream")
		read(t, chatWire, body, "application/json")
	})
}

func FuzzResponses(f *testing.F) {
	f.Add(responseCassette)
	f.Add(responseStream(`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"a","arguments":null}}`, `{"type":"response.completed"}`))
	f.Fuzz(func(t *testing.T, body string) { read(t, responsesWire, body, "text/event-stream") })
}
