package anthropic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestFailuresHaveAKindAndTheServersSentence(t *testing.T) {
	for _, tc := range []struct {
		status     int
		kind, text string
		want       error
	}{
		{401, "authentication_error", "invalid x-api-key sk-ant-secret", protocol.ErrModelAuth},
		{403, "permission_error", "not for you", protocol.ErrModelAuth},
		{400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", protocol.ErrContextOverflow},
		{400, "exceed_context_size_error", "the request exceeds the available context size", protocol.ErrContextOverflow},
		{413, "request_too_large", "request_too_large", protocol.ErrContextOverflow},
		{404, "not_found_error", "model: claude-9", protocol.ErrModel},
		{400, "invalid_request_error", "tools.0.name: too long", protocol.ErrModel},
	} {
		w := llmtest.NewWire(llmtest.Reply{Status: tc.status, Body: fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, tc.kind, tc.text)})
		a := llmtest.Collect(t.Context(), New(options(w)), hello)
		said := strings.ReplaceAll(tc.text, "sk-ant-secret", "[key]")
		if !errors.Is(a.Err, tc.want) || !strings.Contains(a.Err.Error(), said) || strings.Contains(a.Err.Error(), "sk-ant-secret") || len(w.Asked()) != 1 {
			t.Errorf("%d %s: %v after %d requests", tc.status, tc.kind, a.Err, len(w.Asked()))
		}
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
			t.Errorf("%+v", a.Retries)
		}
		if took := time.Since(began); took < 7250*time.Millisecond+8*time.Second {
			t.Error(took)
		}
	})
}

func TestCutAnswerIsNotAskedForAgainOnceShown(t *testing.T) {
	for name, r := range map[string]llmtest.Reply{
		"dropped": {Body: whole[:strings.Index(whole, "look.")], Cut: io.ErrUnexpectedEOF},
		"ended":   {Body: whole[:strings.Index(whole, "event: message_delta")]},
		"error":   {Body: whole[:strings.Index(whole, "event: message_delta")] + event(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)},
	} {
		w := llmtest.NewWire(r)
		a := llmtest.Collect(t.Context(), New(options(w)), hello)
		if !errors.Is(a.Err, protocol.ErrModel) || len(w.Asked()) != 1 || a.Stop != "" || w.Open() != 0 {
			t.Errorf("%s: %v, %d requests, stop %q", name, a.Err, len(w.Asked()), a.Stop)
		}
	}
}

func TestDroppedConnectionBeforeTheAnswerIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := llmtest.NewWire(llmtest.Reply{Err: io.ErrUnexpectedEOF}, llmtest.Reply{Body: event(start), Cut: io.ErrUnexpectedEOF}, llmtest.Reply{Body: whole})
		a := llmtest.Collect(t.Context(), New(options(w)), hello)
		checkWhole(t, a)
		if len(a.Retries) != 2 || !strings.Contains(a.Retries[0].Reason, "model.test broke off") {
			t.Errorf("%+v", a.Retries)
		}
	})
}

func TestCancelClosesTheConnectionAtOnce(t *testing.T) {
	gone := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, whole[:strings.Index(whole, "event: message_delta")])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	defer srv.Close()
	m := New(llm.Options{BaseURL: srv.URL, Model: "m"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for ev, err := range m.Stream(ctx, hello) {
		last = err
		if ev.Type == llm.EventText {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Error(last)
	}
	<-gone
}

func TestLeavingTheLoopClosesTheConnection(t *testing.T) {
	w := llmtest.NewWire(llmtest.Reply{Body: whole, Hang: true})
	for ev := range New(options(w)).Stream(t.Context(), hello) {
		if ev.Type == llm.EventText {
			break
		}
	}
	if w.Open() != 0 {
		t.Error("the connection is still open")
	}
}
