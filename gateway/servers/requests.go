package servers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/servers/message"
)

// requests sends the requests to a server at an address, checks its answers, and remembers why the last
// request failed: the errors of the SDK are in the words of programmers.
type requests struct {
	url *url.URL
	// headers are added to requests to the server's host, not to others after a redirect.
	headers map[string]string
	next    http.RoundTripper
	checker message.Checker

	mu     sync.Mutex // guards failed
	failed error
}

// refusal is why a request has no answer. Unlike a broken connection, it leaves other requests alone.
type refusal struct {
	error
	// mayBeDone means that the server may have done what was requested.
	mayBeDone bool
	// isSessionLost means that a new session is needed. Nothing was done.
	isSessionLost bool
}

func (r *refusal) Unwrap() error { return r.error }

// isSSE reports whether the server uses the transport of 2024-11-05.
func (q *requests) isSSE() bool {
	return strings.HasSuffix(strings.TrimRight(q.url.Path, "/"), "/sse")
}

func hasAuthorization(headers map[string]string) bool {
	for name := range headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return true
		}
	}
	return false
}

// RoundTrip implements http.RoundTripper.
func (q *requests) RoundTrip(r *http.Request) (*http.Response, error) {
	var isSent atomic.Bool
	r = r.Clone(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{WroteHeaders: func() { isSent.Store(true) }}))
	if r.URL.Host == q.url.Host {
		for name, value := range q.headers {
			r.Header.Set(name, value)
		}
	}
	resp, err := q.next.RoundTrip(r)
	if r.URL.Host != q.url.Host || r.URL.Path != q.url.Path && !q.isSSE() || r.Context().Err() != nil {
		return resp, err
	}
	if err != nil {
		err = errors.New(format.Unreachable(q.url.Host, err))
		q.fail(err)
		return nil, &refusal{error: err, mayBeDone: isSent.Load()}
	}
	isPost := r.Method == http.MethodPost
	if isPost || q.isSSE() { // a stream of notifications may be refused
		problem := q.problem(r, resp)
		q.fail(problem)
		if err := q.refuse(r, resp, problem); isPost && err != nil {
			resp.Body.Close()
			return nil, err
		}
	}
	return q.check(r, resp)
}

// check has the messages of a response checked.
func (q *requests) check(r *http.Request, resp *http.Response) (*http.Response, error) {
	if resp.StatusCode != http.StatusOK {
		return resp, nil
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream":
		resp.Body = q.checker.Events(resp.Body)
	case kind == "application/json" && r.Method == http.MethodPost:
		msg, err := q.checker.Read(resp.Body)
		resp.Body.Close()
		if err != nil {
			return nil, &refusal{error: fmt.Errorf("the answer of the server cannot be read: %w", err), mayBeDone: true}
		}
		raw, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return nil, &refusal{error: err, mayBeDone: true}
		}
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	}
	return resp, nil
}

// fail remembers why a request failed; nil means that it did not.
func (q *requests) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failed = err
}

// reason returns why the last request failed, or nil.
func (q *requests) reason() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failed
}

// maxRefusal is how much of the answer to a refused request is read, in bytes.
const maxRefusal = 64 << 10

var aboutSession = regexp.MustCompile(`(?i)session`)

// refuse returns a *refusal for a response that is no answer to a message, and nil for one that the SDK
// understands: an answer, an error of JSON-RPC, and a request to sign in.
func (q *requests) refuse(r *http.Request, resp *http.Response, problem error) error {
	status := resp.StatusCode
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if status < http.StatusBadRequest {
		if status < http.StatusMultipleChoices && isCall(r) && !q.isSSE() && kind != "application/json" && kind != "text/event-stream" {
			problem = fmt.Errorf("the server answers with %q (status %d), not with a message", format.Line(kind, maxTitle), status)
			return &refusal{error: problem, mayBeDone: true}
		}
		return nil
	}
	if status == http.StatusUnauthorized && !hasAuthorization(q.headers) || strings.Contains(resp.Header.Get("WWW-Authenticate"), "insufficient_scope") {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what arrived is enough
	resp.Body = io.NopCloser(bytes.NewReader(body))
	hasSession := r.Header.Get("Mcp-Session-Id") != ""
	isLost := hasSession && (status == http.StatusNotFound || status == http.StatusBadRequest && aboutSession.Match(body))
	if isLost {
		return &refusal{error: errSessionLost, isSessionLost: true}
	}
	if answer, err := jsonrpc.DecodeMessage(body); err == nil {
		if failed, ok := answer.(*jsonrpc.Response); ok && failed.Error != nil && status < http.StatusInternalServerError {
			return nil
		}
	}
	if problem == nil {
		problem = fmt.Errorf("the server refuses the request (status %d)", status)
	}
	if text := format.Line(string(body), maxTitle); kind == "text/plain" && text != "" {
		problem = fmt.Errorf("%w: %s", problem, text)
	}
	return &refusal{error: problem, mayBeDone: status >= http.StatusInternalServerError}
}

// isCall reports whether a request has a message that needs an answer.
func isCall(r *http.Request) bool {
	if r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	raw, err := io.ReadAll(body)
	if err != nil {
		return false
	}
	msg, err := jsonrpc.DecodeMessage(raw)
	request, ok := msg.(*jsonrpc.Request)
	return err == nil && ok && request.IsCall()
}

// problem says what an answer means for the person. It returns nil for an answer of an MCP server, and
// for what only that can explain.
func (q *requests) problem(r *http.Request, resp *http.Response) error {
	status := resp.StatusCode
	switch {
	case status == http.StatusUnauthorized && hasAuthorization(q.headers):
		return errors.New("the server does not accept the key (status 401): check the header Authorization in the settings")
	case status == http.StatusUnauthorized:
		return errSignIn
	case status == http.StatusForbidden:
		return errors.New("the server denies access (status 403): check the address, and the key if it needs one")
	case status == http.StatusNotFound && r.Header.Get("Mcp-Session-Id") != "":
		return errSessionLost
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusGone:
		return fmt.Errorf("no MCP server answers at this address (status %d): check the address", status)
	case status == http.StatusTooManyRequests:
		when := "later"
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
			when = fmt.Sprintf("in %d s", seconds)
		}
		return fmt.Errorf("the server gets too many requests (status 429): try again %s", when)
	case status >= http.StatusInternalServerError:
		return fmt.Errorf("the server reports a fault of its own (status %d): its log says more", status)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if status == http.StatusOK && kind == "text/html" {
		return errors.New("a web page is at this address, not an MCP server: check the address")
	}
	return nil
}

// errSignIn is the reason when a server wants to know who the person is.
var errSignIn = errors.New("the server asks for a sign-in or a key: if its page gives you a key, add it as the header Authorization")

// errSessionLost is the reason when a server has forgotten the session.
var errSessionLost = errors.New("the server ended the session")
