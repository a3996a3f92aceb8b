package anthropic

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestFailuresHaveAKindAndTheServersSentence(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		status     int
		kind, text string
		want       error
	}{
		{401, "authentication_error", "invalid x-api-key", protocol.ErrModelAuth},
		{403, "permission_error", "not for you", protocol.ErrModelAuth},
		{400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", protocol.ErrContextOverflow},
		{400, "exceed_context_size_error", "the request exceeds the available context size", protocol.ErrContextOverflow},
		{413, "request_too_large", "request_too_large", protocol.ErrContextOverflow},
		{404, "not_found_error", "model: claude-9", protocol.ErrModel},
		{400, "invalid_request_error", "tools.0.name: too long", protocol.ErrModel},
	} {
		t.Run(tc.text, func(t *testing.T) {
			t.Parallel()
			w := llmtest.NewWire(llmtest.Reply{Status: tc.status, Body: fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, tc.kind, tc.text)})
			a := llmtest.Collect(t.Context(), New(options(w)), hello)
			if !errors.Is(a.Err, tc.want) || !strings.Contains(a.Err.Error(), tc.text) || len(w.Asked()) != 1 {
				t.Errorf("got %v after %d requests, want %v after one", a.Err, len(w.Asked()), tc.want)
			}
		})
	}
}

func TestOverloadIsRetriedVisibly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := llmtest.NewWire(
			llmtest.Reply{Status: 529, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, Header: http.Header{"Retry-After": {"7"}}},
			llmtest.Reply{Status: 500, Body: `{"type":"error","error":{"type":"api_error","message":"Internal"}}`, Header: http.Header{"Retry-After-Ms": {"250"}}},
			llmtest.Reply{Body: events(start, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)},
			llmtest.Reply{Body: whole})
		began := time.Now()
		a := llmtest.Collect(t.Context(), New(options(w)), hello)
		checkWhole(t, a)
		if len(a.Retries) != 3 || a.Retries[0].Reason != "the provider is overloaded (529)" || a.Retries[0].After != 7*time.Second || a.Retries[1].After != 250*time.Millisecond {
			t.Errorf("got %+v; want three retries, the first after 7 s and the second after 250 ms", a.Retries)
		}
		if took := time.Since(began); took < 7250*time.Millisecond+8*time.Second {
			t.Errorf("got %v; want took at least %v", took, 7250*time.Millisecond+8*time.Second)
		}
	})
}
