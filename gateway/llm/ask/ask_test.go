package ask

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

func TestReasonIsFoundInEveryKnownBody(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"m","code":"c_d"}}`:                     "m (c_d)",
		`{"error":{"message":"m","code":400}}`:                       "m",
		`{"error":{"message":"m","metadata":{"raw":"behind"}}}`:      "m: behind",
		`{"error":{"message":"m","metadata":{"raw":{"error":"b"}}}}`: "m: b",
		`{"error":"m"}`:            "m",
		`{"message":"m"}`:          "m",
		`{"detail":"m"}`:           "m",
		`{"detail":[{"msg":"m"}]}`: `[{"msg":"m"}]`,
		`{"error":null,"x":1}`:     "",
		`plain`:                    "plain",
		`<html><body>Bad gateway`:  "",
		``:                         "",
	} {
		t.Run(body, func(t *testing.T) {
			if got := Reason([]byte(body)); got != want {
				t.Errorf("%s: %q, want %q", body, got, want)
			}
		})
	}
	if got := Reason([]byte(strings.Repeat("é", 5000))); len(got) > 700 {
		t.Errorf("got %v; want length at most 700", len(got))
	}
}

func TestStreamErrorsHaveAKind(t *testing.T) {
	for body, want := range map[string]struct {
		kind  error
		again bool
	}{
		`{"error":{"code":502,"message":"gone"}}`:                                        {protocol.ErrModel, true},
		`{"error":{"code":"429","message":"slow"}}`:                                      {protocol.ErrModelRateLimit, true},
		`{"error":{"code":401,"message":"who"}}`:                                         {protocol.ErrModelAuth, false},
		`{"error":{"type":"invalid_request_error","message":"bad"}}`:                     {protocol.ErrModel, false},
		`{"error":{"type":"exceed_context_size_error","message":"exceeds the context"}}`: {protocol.ErrContextOverflow, false},
		`{"type":"error","code":"rate_limit_exceeded","message":"slow"}`:                 {protocol.ErrModelRateLimit, true},
		`{"response":{"error":{"code":"server_error","message":"broke"}}}`:               {protocol.ErrModel, true},
		`{"error":"model runner has unexpectedly stopped"}`:                              {protocol.ErrModel, true},
	} {
		f := StreamError([]byte(body))
		if !errors.Is(f, want.kind) || f.Again != want.again || f.Reason == "" {
			t.Errorf("%s: %v, again %v; want error kind, f.Again %v and some f.Reason", body, f, f.Again, want.again)
		}
	}
}

func TestUnreachableSaysWhichServer(t *testing.T) {
	refused := &url.Error{Op: "Post", URL: "http://127.0.0.1:1234/v1/x", Err: syscall.ECONNREFUSED}
	err := Unreachable(t.Context(), "127.0.0.1:1234", refused)
	var f *Failure
	if !errors.As(err, &f) || f.Again || !strings.Contains(err.Error(), "Nothing answers at 127.0.0.1:1234") {
		t.Errorf(`got %v; want an error of type *Failure, not Again and an error with "Nothing answers at 127.0.0.1:1234"`, err)
	}
	unknown := &url.Error{Op: "Post", URL: "https://api.example.org/v1/x", Err: &net.OpError{Op: "dial", Err: &net.DNSError{Name: "api.example.org", IsNotFound: true}}}
	if err := Unreachable(t.Context(), "api.example.org", unknown); !errors.As(err, &f) || !f.Again || !strings.HasPrefix(err.Error(), "The address api.example.org was not found") {
		t.Errorf(`got %v; want an error of type *Failure, Again and an error that begins with "The address api.example.org was not found"`, err)
	}
	if err := Unreachable(t.Context(), "127.0.0.1:1234", io.ErrUnexpectedEOF); !errors.As(err, &f) || !f.Again {
		t.Errorf("got %v; want an error of type *Failure and Again", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Unreachable(ctx, "127.0.0.1:1234", refused); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want the error context.Canceled", err)
	}
}

func TestRetryWaitsLongerEachTimeAndGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var told []llm.Retry
		tries := 0
		err := Retry(t.Context(), func(ev llm.Event) bool { told = append(told, ev.Retry); return true }, func() error {
			tries++
			return Classify(503, "")
		})
		if !errors.Is(err, protocol.ErrModel) || tries != 4 || len(told) != 3 {
			t.Fatalf("got %v, %v, %v; want error ErrModel, tries 4 and length 3", err, tries, told)
		}
		if took := time.Since(start); took < 14*time.Second || took > 18*time.Second {
			t.Errorf("got %v; want took at least %v and took at most %v", took, 14*time.Second, 18*time.Second)
		}
	})
}

func TestRetryHonoursTheServersWaitUpToAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		tries := 0
		err := Retry(t.Context(), func(llm.Event) bool { return true }, func() error {
			tries++
			f := Classify(429, "")
			f.After = 59 * time.Second
			if tries == 2 {
				f.After = 61 * time.Second
			}
			return f
		})
		if !errors.Is(err, protocol.ErrModelRateLimit) || tries != 2 || time.Since(start) != 59*time.Second {
			t.Fatalf("got %v, %v, %v; want error ErrModelRateLimit, 2 tries and %v", err, tries, time.Since(start), 59*time.Second)
		}
	})
}

func TestOverlongWaitIsReported(t *testing.T) {
	for after, want := range map[time.Duration]string{
		90 * time.Second: "slow down. Try again in 90 s.", time.Second: "slow down", longestWait: "slow down",
	} {
		err := Retry(t.Context(), func(llm.Event) bool { return false }, func() error {
			f := Classify(429, "slow down")
			f.After = after
			return f
		})
		if !strings.HasSuffix(err.Error(), want) || !errors.Is(err, protocol.ErrModelRateLimit) {
			t.Errorf("%s: got %v; want an error that ends with %v and error ErrModelRateLimit", after, err, want)
		}
	}
}

func TestAnEmptyErrorIsNone(t *testing.T) {
	for raw, want := range map[string]bool{"": false, "null": false, `""`: false, "{}": false, " {} ": false, "[]": false, "false": false, `"x"`: true, `{"message":"x"}`: true} {
		if IsError(json.RawMessage(raw)) != want {
			t.Errorf("got %v; want an error in the body %v", raw, want)
		}
	}
}

func TestRetryStopsAtOnceWhenCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		time.AfterFunc(time.Second, cancel)
		if err := Retry(ctx, func(llm.Event) bool { return true }, func() error { return Classify(503, "") }); !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Fatalf("got %v, %v; want error Canceled and 1 s", err, time.Since(start))
		}
	})
}

func TestRetryAfterIsReadInThreeForms(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After-Ms", "1500", 1500 * time.Millisecond},
		{"Retry-After", "2", 2 * time.Second},
		{"Retry-After", "Thu, 01 Jan 2026 00:00:05 GMT", 5 * time.Second},
		{"Retry-After", "soon", 0},
		{"Retry-After", "-5", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "inf", longestWait},
		{"Retry-After", "1e400", longestWait},
		{"Retry-After", "99999999999", longestWait},
		{"Retry-After-Ms", "99999999999999", longestWait},
		{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT", longestWait},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := retryAfter(http.Header{tc.name: {tc.value}}, now); got != tc.want {
				t.Errorf("%s: %s is %v, want %v", tc.name, tc.value, got, tc.want)
			}
		})
	}
}

func TestSchemaIsAnObjectWithProperties(t *testing.T) {
	t.Parallel()
	const empty = `{"type":"object","properties":{}}`
	for schema, want := range map[string]string{
		"": empty, "null": empty, "[]": empty, "{}": `{"properties":{},"type":"object"}`,
		`{"properties":{"a":{}}}`:                 `{"properties":{"a":{}},"type":"object"}`,
		`{"type":"object","properties":{"a":{}}}`: `{"type":"object","properties":{"a":{}}}`,
		`{"required":["a"],"type":"object"}`:      `{"properties":{},"required":["a"],"type":"object"}`,
	} {
		t.Run(schema, func(t *testing.T) {
			t.Parallel()
			if got := string(Schema(json.RawMessage(schema))); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
