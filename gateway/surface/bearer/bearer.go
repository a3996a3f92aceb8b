// Package bearer checks the tokens of programs that call over HTTP, and refuses requests that a web
// page made a browser send.
package bearer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// Guard checks requests.
type Guard struct {
	// Verify returns who a token belongs to; resource is the address that the program uses.
	Verify func(ctx context.Context, token, resource string) (auth.Principal, error)
	// Base returns the address of the gateway as the program sees it, without a path.
	Base func(*http.Request) string
	// Path is the path of the surface, such as /mcp: with Base it is the resource.
	Path string
	// Scopes are those that a program without a token is told to ask for, as it may not ask for any
	// otherwise; the person can give it fewer.
	Scopes []protocol.Scope
}

// Authenticate returns who makes a request. Without a valid token it answers with status 401, and
// ok is false.
func (g Guard) Authenticate(w http.ResponseWriter, r *http.Request) (p auth.Principal, ok bool) {
	p, err := g.Check(r)
	switch {
	case errors.Is(err, errNoToken):
		g.challenge(w, r, "")
	case err != nil:
		g.challenge(w, r, "invalid_token")
	}
	return p, err == nil
}

var errNoToken = errors.New("the request has no bearer token")

// Check returns who makes a request, or an error without a valid token.
func (g Guard) Check(r *http.Request) (auth.Principal, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if token == "" || !strings.EqualFold(scheme, "Bearer") {
		return auth.Principal{}, errNoToken
	}
	return g.Verify(r.Context(), token, g.Base(r)+g.Path)
}

func (g Guard) challenge(w http.ResponseWriter, r *http.Request, problem string) {
	g.explain(w, r, problem, g.Scopes)
	Fail(w, http.StatusUnauthorized, protocol.NewFault(protocol.FaultUnauthorized, "a valid token is needed: make one in Fairlead, or sign in"))
}

// Insufficient answers with status 403 and all scopes that the call needs, so that the program can
// ask for them.
func (g Guard) Insufficient(w http.ResponseWriter, r *http.Request, need []protocol.Scope, f *protocol.Fault) {
	g.Need(w, r, need)
	Fail(w, http.StatusForbidden, f)
}

// Need sets the header that names the scopes that a call needs.
func (g Guard) Need(w http.ResponseWriter, r *http.Request, need []protocol.Scope) {
	g.explain(w, r, "insufficient_scope", need)
}

// explain sets the header that says what is wrong, which scopes to ask for, and where.
func (g Guard) explain(w http.ResponseWriter, r *http.Request, problem string, scopes []protocol.Scope) {
	var fields []string
	add := func(name, value string) {
		if value != "" {
			fields = append(fields, fmt.Sprintf("%s=%q", name, value))
		}
	}
	add("error", problem)
	add("scope", strings.Join(protocol.ScopeNames(scopes), " "))
	add("resource_metadata", g.Base(r)+"/.well-known/oauth-protected-resource"+g.Path) // RFC 9728
	w.Header().Set("WWW-Authenticate", "Bearer "+strings.Join(fields, ", "))
}

// MaxBody is the limit of a request's body, in bytes; a part of a file has at most 1 MiB.
const MaxBody = 4 << 20

// ReadBody reads the body of a request. A larger one than [MaxBody] is a fault.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, protocol.NewFault(protocol.FaultTooLarge, "the body can have at most 4 MiB")
	}
	return raw, err
}

// SetPageHeaders sets the headers of a page: it runs no scripts, is shown in no other page, and is not
// stored.
func SetPageHeaders(head http.Header) {
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Cache-Control", "no-store")
	head.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	head.Set("X-Frame-Options", "DENY")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
}

// SendJSON answers with JSON that is not stored.
func SendJSON(w http.ResponseWriter, status int, raw []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(raw)
}

// Fail answers with a failure as JSON.
func Fail(w http.ResponseWriter, status int, f *protocol.Fault) {
	raw, err := protocol.Marshal(map[string]*protocol.Fault{"error": f})
	if err != nil {
		raw = []byte(`{"error":{"code":"internal","message":"The failure could not be encoded.","retryable":true}}`)
	}
	SendJSON(w, status, raw)
}
