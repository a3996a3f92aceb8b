package openai

import (
	"fmt"
	"slices"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
)

func TestStreamedCallsAreDistinguished(t *testing.T) {
	t.Parallel()
	const f, g = `"function":{"name":"box__Bash","arguments":`, `"function":{"name":"box__Read","arguments":`
	two := []string{`box__Bash {"a":1}`, `box__Read {"b":2}`}
	for _, c := range []struct {
		name   string
		deltas []string
		want   []string
	}{
		{"no index, no ID", []string{`{` + f + `"{\"a\":1}"}}`, `{` + g + `"{\"b\":2}"}}`}, two},
		{"no index, no ID, in pieces", []string{`{` + f + `"{\"a\""}}`, `{"function":{"arguments":":1}"}}`, `{` + g + `"{\"b\":"}}`, `{"function":{"arguments":"2}"}}`}, two},
		{"both in one event", []string{`{` + f + `"{\"a\":1}"}},{` + g + `"{\"b\":2}"}}`}, two},
		{"index always 0, no ID", []string{`{"index":0,` + f + `"{\"a\":1}"}}`, `{"index":0,` + g + `"{\"b\":2}"}}`}, two},
		{"index always 0, with IDs", []string{`{"index":0,"id":"x",` + f + `"{\"a\":1}"}}`, `{"index":0,"id":"y",` + g + `"{\"b\":2}"}}`}, two},
		{"arguments are objects", []string{`{` + f + `{"a":1}}}`, `{` + g + `{"b":2}}}`}, two},
		{"the same tool twice", []string{`{` + f + `"{\"a\":1}"}}`, `{` + f + `"{\"b\":2}"}}`}, []string{`box__Bash {"a":1}`, `box__Bash {"b":2}`}},
		{"no arguments", []string{`{` + f + `""}}`, `{` + g + `""}}`}, []string{`box__Bash {}`, `box__Read {}`}},
		{"no arguments, in one event", []string{`{` + f + `""}},{` + f + `""}}`}, []string{`box__Bash {}`, `box__Bash {}`}},
		{"empty objects", []string{`{` + f + `"{}"}}`, `{` + g + `"{}"}}`}, []string{`box__Bash {}`, `box__Read {}`}},
		{"ID and name in each delta", []string{`{"index":0,"id":"x",` + f + `"{\"a\""}}`, `{"index":0,"id":"x",` + f + `":1}"}}`, `{"index":1,"id":"y",` + g + `"{\"b\":2}"}}`}, two},
		{"ID in each delta, no index", []string{`{"id":"x",` + f + `"{\"a\""}}`, `{"id":"x","function":{"arguments":":1}"}}`, `{"id":"y",` + g + `"{\"b\":2}"}}`}, two},
		{"another ID in each delta", []string{`{"index":0,"id":"x",` + f + `"{\"a\""}}`, `{"index":0,"id":"z","function":{"arguments":":1}"}}`, `{"index":1,"id":"y",` + g + `"{\"b\":2}"}}`}, two},
		{"another ID in each delta, no index", []string{`{"id":"x",` + f + `"{\"a\""}}`, `{"id":"z","function":{"arguments":":1}"}}`, `{"id":"y",` + g + `"{\"b\":2}"}}`}, two},
		{"the whole call again", []string{`{"index":0,"id":"x",` + f + `"{\"a\":1}"}}`, `{"index":0,"id":"x",` + f + `"{\"a\":1}"}}`, `{"index":1,"id":"y",` + g + `"{\"b\":2}"}}`}, two},
		{"interleaved", []string{`{"index":0,"id":"x",` + f + `"{\"a\""}}`, `{"index":1,"id":"y",` + g + `"{\"b\":"}}`, `{"index":0,"function":{"arguments":":1}"}}`, `{"index":1,"function":{"arguments":"2}"}}`}, two},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var list []string
			for _, d := range c.deltas {
				list = append(list, `{"choices":[{"delta":{"tool_calls":[`+d+`]}}]}`)
			}
			s := newServe(t, events(data(append(list, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)...)))
			req := helloRequest()
			req.Tools = []llm.Tool{{Name: "box__Bash"}, {Name: "box__Read"}}
			a := llmtest.Collect(t.Context(), New(llm.Options{BaseURL: s.URL}), req)
			var got []string
			for _, call := range a.Calls {
				got = append(got, fmt.Sprint(call.Name, " ", string(call.Arguments)))
			}
			if a.Err != nil || !slices.Equal(got, c.want) {
				t.Errorf("calls: got %q, bad arguments %q, error %v; want %q", got, a.BadArgs, a.Err, c.want)
			}
		})
	}
}

func TestResponsesWithoutItemNumbersAreDistinguished(t *testing.T) {
	item := func(id, name, args string) string {
		return `{"type":"response.output_item.done","item":{"type":"function_call","call_id":"` + id + `","name":"` + name + `","arguments":"` + args + `"}}`
	}
	s := newServe(t, events(responseStream(item("x", "a", "{}"), item("y", "b", "{}"), `{"type":"response.completed","response":{}}`)))
	a := llmtest.Collect(t.Context(), newResponses(llm.Options{BaseURL: s.URL}), helloRequest())
	if len(a.Calls) != 2 || a.Calls[0].Name != "a" || a.Calls[1].Name != "b" {
		t.Errorf("got %+v, want the calls a and b", a.Calls)
	}
}
