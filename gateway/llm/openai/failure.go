package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// failure is an answer that did not begin.
type failure struct {
	status int           // 0: no answer at all
	reason string        // the server's words
	again  bool          // worth another try
	after  time.Duration // as the server asks; 0 when it does not
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func (f *failure) phrase() string {
	if f.status == 0 {
		return f.reason
	}
	return fmt.Sprintf("%s (%d)", http.StatusText(f.status), f.status)
}

func httpFailure(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		body = nil
	}
	f := classify(resp.StatusCode, reason(body))
	f.after = retryAfter(resp.Header)
	return f
}

func classify(status int, text string) *failure {
	f := &failure{status: status, reason: text}
	f.again = status == 408 || status == 409 || status == 429 || status >= 500
	if strings.Contains(text, "not supported") { // llama.cpp answers 500 to an image that its model cannot see
		f.again = false
	}
	kind := protocol.ErrModel
	switch {
	case status == 401 || status == 403:
		kind = protocol.ErrModelAuth
	case status == 429:
		kind = protocol.ErrModelRateLimit
	case strings.Contains(text, "context"):
		kind, f.again = protocol.ErrContextOverflow, false
	}
	f.err = kind.With(text)
	return f
}

func reason(body []byte) string {
	var e struct{ Error json.RawMessage }
	var inner struct{ Message string }
	if json.Unmarshal(body, &e) == nil && json.Unmarshal(e.Error, &inner) == nil {
		return inner.Message
	}
	return string(body)
}

func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.Atoi(h.Get("Retry-After-Ms")); err == nil {
		return time.Duration(ms) * time.Millisecond
	}
	if s, err := strconv.Atoi(h.Get("Retry-After")); err == nil {
		return time.Duration(s) * time.Second
	}
	return 0
}

func badEvent(data []byte, err error) error {
	return failed(fmt.Sprintf("the server sent an event that is no JSON: %v", err))
}

// streamError is an error that came as an event of the answer.
func streamError(data []byte) error {
	return classify(500, reason(data))
}

func failed(what string) error {
	return &failure{reason: what, again: true, err: protocol.ErrModel.With(what)}
}
