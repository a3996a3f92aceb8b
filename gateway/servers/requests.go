package servers

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"fairlead/gateway/peer/display"
)

// requests sends the requests to a server at an address, and remembers why the last one failed: the
// errors of the SDK are in the words of programmers.
type requests struct {
	url *url.URL
	// headers are added to requests to the server's host, not to others after a redirect.
	headers map[string]string
	next    http.RoundTripper

	mu     sync.Mutex // guards failed
	failed error
}

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
	if len(q.headers) > 0 && r.URL.Host == q.url.Host {
		r = r.Clone(r.Context())
		for name, value := range q.headers {
			r.Header.Set(name, value)
		}
	}
	resp, err := q.next.RoundTrip(r)
	if r.URL.Host != q.url.Host || r.URL.Path != q.url.Path || r.Context().Err() != nil {
		return resp, err
	}
	switch {
	case err != nil:
		q.fail(errors.New(display.Unreachable(q.url.Host, err)))
	case r.Method == http.MethodPost || q.isSSE(): // a stream of notifications may be refused
		q.fail(q.problem(r, resp))
	}
	return resp, err
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
		return errors.New("the server ended the session")
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusGone:
		return fmt.Errorf("no MCP server answers at this address (status %d): check the address", status)
	case status == http.StatusTooManyRequests:
		return errors.New("the server gets too many requests (status 429)")
	case status >= http.StatusInternalServerError:
		return fmt.Errorf("the server reports a fault of its own (status %d)", status)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if status == http.StatusOK && kind == "text/html" {
		return errors.New("a web page is at this address, not an MCP server: check the address")
	}
	return nil
}

// errSignIn is the reason when a server wants to know who the person is.
var errSignIn = errors.New("the server asks for a sign-in or a key: if its page gives you a key, add it as the header Authorization")
