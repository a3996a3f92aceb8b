package gemini

import (
	"testing"
	"testing/synctest"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
)

// odd are chunks that no server should send. The SDK panics over some of them.
var odd = []string{
	`null`, `[]`, `1`, `"x"`, `{}`, `{"candidates":"x"}`, `{"candidates":{}}`, `{"candidates":[1]}`, `{"candidates":[null]}`, `{"candidates":[{"content":1}]}`,
	`{"candidates":[{"content":{"parts":{}}}]}`, `{"candidates":[{"content":{"parts":[null]}}]}`, `{"candidates":[{"content":{"parts":[{"functionCall":[]}]}}]}`,
	`{"candidates":[{"content":{"parts":[{"functionCall":{"args":"{}"}}]}}]}`, `{"candidates":[{"content":{"parts":[{"inlineData":{"data":"%"}}]}}]}`,
	`{"usageMetadata":[]}`, `{"promptFeedback":"x"}`, `{"error":"x"}`, `{"error":null}`, `{"error":{}}`,
}

func TestOddChunksNeverPanic(t *testing.T) {
	for _, data := range odd {
		synctest.Test(t, func(t *testing.T) { never(t, "data: "+data+"\n\n") })
	}
}

func FuzzStreamNeverPanics(f *testing.F) {
	f.Add(whole)
	for _, data := range odd {
		f.Add("data: " + data + "\n\n")
	}
	f.Fuzz(func(t *testing.T, body string) {
		synctest.Test(t, func(t *testing.T) { never(t, body) })
	})
}

// never checks that an answer of body ends in an error or in order, and that nothing stays open.
func never(t *testing.T, body string) {
	t.Helper()
	w := llmtest.NewWire(llmtest.Reply{Body: body})
	a := llmtest.Collect(t.Context(), New(options(w)), hello)
	if (a.Err == nil) == (a.Stop == "") || w.Open() != 0 {
		t.Errorf("%q: %+v, %d open", body, a, w.Open())
	}
	if len(a.Calls) > 0 && a.Err == nil && a.Stop != llm.StopToolUse && a.Stop != llm.StopMaxTokens && a.Stop != llm.StopRefusal {
		t.Errorf("%q: calls, yet stop %q", body, a.Stop)
	}
}
