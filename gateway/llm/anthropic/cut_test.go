package anthropic

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"

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
