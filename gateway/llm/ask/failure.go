package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Failure is the error of a request without an answer, or of an incomplete answer. It unwraps to a
// *protocol.Error: ErrModelAuth, ErrModelRateLimit, ErrContextOverflow or ErrModel, with the
// server's own sentence.
type Failure struct {
	Status int           // of HTTP; 0 if there was no response
	Reason string        // the server's message
	Again  bool          // another attempt may succeed
	After  time.Duration // the wait that the server asks for; 0 if it does not say
	Err    *protocol.Error
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the *protocol.Error.
func (f *Failure) Unwrap() error { return f.Err }

func (f *Failure) phrase() string {
	switch {
	case f.Status == http.StatusTooManyRequests:
		return "rate limit reached (429)"
	case f.Status == 529:
		return "the provider is overloaded (529)"
	case f.Status >= 500:
		return fmt.Sprintf("the provider has a problem (%d)", f.Status)
	case f.Status > 0:
		return fmt.Sprintf("the provider answered %d", f.Status)
	}
	return f.Reason
}

// CheckStatus returns resp if its status is one of success; the caller closes its body. Otherwise
// it closes the body and returns a *Failure. refine, which may be nil, corrects a failure with
// details that are specific to the provider.
func CheckStatus(resp *http.Response, refine func(f *Failure, body []byte)) (*http.Response, error) {
	var f *Failure
	to, err := resp.Location()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch status := resp.StatusCode; {
	case status >= 300 && status <= 399 && err == nil:
		f = Permanent("the server redirects requests to " + to.Scheme + "://" + to.Host + to.Path + "; if that is the right server, give its address in Settings")
		f.Status = status
	case status < 200 || status > 299:
		// The beginning of a body that breaks off is better than nothing.
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		f = Classify(status, Reason(body))
		f.After = retryAfter(resp.Header, time.Now())
		if refine != nil {
			refine(f, body)
			f.Err.Retryable = f.Again
		}
	case kind == "text/html":
		f = Permanent("the server answered with a web page, so it is not a model server; check its address, and whether the network requires a login")
	default:
		return resp, nil
	}
	resp.Body.Close()
	return nil, f
}

// Broken returns the failure of an answer that ended too early or cannot be parsed.
func Broken(what string) *Failure {
	what = shorten(what) // libraries quote everything that they could not read
	return &Failure{Reason: what, Again: true, Err: protocol.ErrModel.With(format.Capital(what) + ".")}
}

// Permanent returns a failure that a retry cannot fix.
func Permanent(what string) *Failure {
	return &Failure{Reason: what, Err: protocol.ErrModel.With(format.Capital(what) + ".")}
}

// Decode decodes an event of a stream. A field of an unexpected type is skipped, because servers
// differ, and an answer is worth more than its token count. Invalid JSON, or another kind of value,
// returns Broken.
func Decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); err == nil || ok && kind.Field != "" {
		return nil
	}
	return Broken("the server sent an event that cannot be parsed: " + protocol.Problem(err))
}

// Unreachable returns the failure of a request to a host that could not be sent or whose answer was
// cut off. If ctx has ended, it returns ctx's error.
func Unreachable(ctx context.Context, host string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return &Failure{Reason: err.Error(), Err: protocol.ErrModel.With("Nothing answers at " + host + ". Is the model server running?")}
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET):
		return Broken("the connection to " + host + " was interrupted")
	}
	return Broken(format.Unreachable(host, err))
}

// IsError reports whether an event's "error" field contains an error: some servers send an empty
// one with every event.
func IsError(raw json.RawMessage) bool {
	switch strings.TrimSpace(string(raw)) {
	case "", "null", `""`, "{}", "[]", "false":
		return false
	}
	return true
}

// StreamError converts an error that came inside an answer: {"error": …}, or the error itself.
func StreamError(data []byte) *Failure {
	var event struct {
		Error, Response json.RawMessage
	}
	raw := data
	if json.Unmarshal(data, &event) == nil {
		if len(event.Response) > 0 { // response.failed
			return StreamError(event.Response)
		}
		if IsError(event.Error) {
			raw = event.Error
		}
	}
	var detail struct {
		Code json.RawMessage
		Type string
	}
	// An error that is only a text has no details.
	_ = json.Unmarshal(raw, &detail)
	code := strings.Trim(string(detail.Code), `"`)
	status, err := strconv.Atoi(code)
	if err != nil || status < 400 {
		status = http.StatusInternalServerError
		for _, known := range kinds {
			if strings.Contains(code+" "+detail.Type, known.word) {
				status = known.status
			}
		}
	}
	return Classify(status, Reason(data))
}

// kinds are the words in the codes and types of errors, with the status that they stand for.
var kinds = []struct {
	word   string
	status int
}{
	{"invalid_", http.StatusBadRequest},
	{"context_length", http.StatusBadRequest},
	{"request_too_large", http.StatusBadRequest},
	{"not_found", http.StatusBadRequest},
	{"authentication", http.StatusUnauthorized},
	{"permission", http.StatusUnauthorized},
	{"timeout", http.StatusRequestTimeout},
	{"overloaded", 529},
	{"rate_limit", http.StatusTooManyRequests},
}

// Classify returns the failure for a status and the server's message.
func Classify(status int, reason string) *Failure {
	f := &Failure{Status: status, Reason: reason}
	detail := cmp.Or(reason, http.StatusText(status))
	low := strings.ToLower(reason)
	switch {
	case status == http.StatusRequestEntityTooLarge || isOverflow(low):
		f.Err = protocol.ErrContextOverflow.With("The chat is longer than the model can read: " + detail)
	case status == http.StatusUnauthorized || status == http.StatusForbidden && !strings.Contains(low, "moderation"):
		f.Err = protocol.ErrModelAuth.With("The provider refused the key: " + detail)
	case status == http.StatusTooManyRequests:
		f.Err = protocol.ErrModelRateLimit.With("Rate limit reached: " + detail)
		// An exhausted budget does not recover by waiting.
		f.Again = !strings.Contains(low, "quota") && !strings.Contains(low, "billing")
	default:
		f.Err = protocol.ErrModel.With(fmt.Sprintf("The model server answered %d: %s", status, detail))
		// llama.cpp answers 500 to an image if its model does not support images.
		f.Again = (status == http.StatusRequestTimeout || status == http.StatusConflict || status >= 500) &&
			!strings.Contains(low, "not supported") && !strings.Contains(low, "unsupported")
	}
	f.Err.Retryable = f.Again
	return f
}

// isOverflow reports whether an error message, in lower case, means that the prompt is too long.
func isOverflow(low string) bool {
	return slices.ContainsFunc([]string{
		"context_length_exceeded", "maximum context length", "context size", "context window", "exceeds the context", "context length", "prompt is too long",
		"too many tokens", "input is too long", "input length", "reduce the length", "token limit", "tokens exceed", "exceeds the maximum number of tokens", "request_too_large",
		"string too long", "string_above_max_length", "request too large", "payload size exceeds", "maximum model length", "context overflow", "context the overflows",
		"maximum prompt length", "exceeds max length", "prompt too long", "context limit", "exceed_context_size", "max_new_tokens` must be",
	}, func(phrase string) bool { return strings.Contains(low, phrase) })
}

// Reason returns the message in an error body: {"error": {"message"}}, {"error": "…"}, {"message"},
// {"detail"}, or the text itself. An HTML page has none.
func Reason(body []byte) string {
	var e struct{ Error, Message, Detail, Response json.RawMessage }
	if json.Unmarshal(body, &e) != nil {
		plain := strings.TrimSpace(string(body))
		if strings.HasPrefix(plain, "<") {
			return ""
		}
		return shorten(strings.Trim(plain, `"`))
	}
	for _, raw := range []json.RawMessage{e.Error, e.Message, e.Detail, e.Response} {
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return shorten(s)
		}
		var inner struct {
			Message string
			Code    json.RawMessage
			// OpenRouter: the message of the provider behind it
			Metadata struct{ Raw json.RawMessage }
		}
		if json.Unmarshal(raw, &inner) == nil && inner.Message != "" {
			s = inner.Message
			if behind := string(inner.Metadata.Raw); behind != "" && behind != "null" {
				s += ": " + Reason(inner.Metadata.Raw)
			}
			if code := strings.Trim(string(inner.Code), `"`); strings.Contains(code, "_") && !strings.Contains(s, code) {
				s += " (" + code + ")"
			}
			return shorten(s)
		}
		if raw[0] == '{' {
			return Reason(raw)
		}
		return shorten(string(raw))
	}
	return ""
}

func shorten(s string) string {
	const most = 600
	s = strings.TrimSpace(s)
	if len(s) > most {
		s = format.Head(s, most) + " …"
	}
	return s
}

// longestWait is far longer than [Retry] waits, but does not overflow in calculations.
const longestWait = 365 * 24 * time.Hour

// retryAfter returns the wait that a server asks for, in any of three forms. A longer wait is cut
// to [longestWait].
func retryAfter(h http.Header, now time.Time) time.Duration {
	length := func(text string, unit time.Duration) (time.Duration, bool) {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || !(n > 0) { // excludes NaN
			return 0, false
		}
		return time.Duration(min(n*float64(unit), float64(longestWait))), true
	}
	if d, ok := length(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	after := h.Get("Retry-After")
	if d, ok := length(after, time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(after); err == nil && at.After(now) {
		return min(at.Sub(now), longestWait)
	}
	return 0
}
