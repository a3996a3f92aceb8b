package gemini

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestAnswerCutAnywhereIsAnErrorOrComplete(t *testing.T) {
	for _, cut := range []error{nil, io.ErrUnexpectedEOF} { // an end in good order, and a broken connection
		complete := 0
		for n := range len(whole) + 1 {
			synctest.Test(t, func(t *testing.T) { // a cut before anything was shown is waited for and tried again
				a := llmtest.Collect(t.Context(), New(options(llmtest.NewWire(llmtest.Reply{Body: whole[:n], Cut: cut}))), hello)
				if a.Err == nil {
					complete++
					checkWhole(t, a)
				} else if !errors.Is(a.Err, protocol.ErrModel) || a.Stop != "" {
					t.Fatalf("cut at %d: %+v", n, a)
				}
			})
		}
		if cut == nil && complete == 0 {
			t.Error("not even the whole is complete")
		}
	}
}

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
