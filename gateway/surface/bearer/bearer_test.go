package bearer

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

const metadata = `resource_metadata="https://pc.example/.well-known/oauth-protected-resource/mcp"`

// guard accepts the token "good" for the resource of this gateway.
func guard() Guard {
	return Guard{
		Path: "/mcp", Base: func(*http.Request) string { return "https://pc.example" },
		Verify: func(_ context.Context, token, resource string) (auth.Principal, error) {
			if token != "good" || resource != "https://pc.example/mcp" {
				return auth.Principal{}, protocol.ErrUnauthorized // for a wrong, an expired and a revoked token alike
			}
			return auth.App(protocol.App{ID: "app_1"}), nil
		},
		Scopes: []protocol.Scope{protocol.ScopeNetworkRead, protocol.ScopeShell},
	}
}

func TestOnlyAValidBearerTokenAuthenticates(t *testing.T) {
	missing, invalid := `Bearer scope="network.read shell.exec", `+metadata, `Bearer error="invalid_token", scope="network.read shell.exec", `+metadata
	for header, want := range map[string]string{
		"Bearer good": "", "bearer good": "", "BEARER  good ": "", "": missing, "good": missing, "Bearer": missing, "Bearer ": missing, "Basic good": missing, "Bearergood": missing,
		"Bearer wrong": invalid, "Bearer good extra": invalid, "Bearer GOOD": invalid, "Bearer good, Bearer good": invalid,
	} {
		r, w := httptest.NewRequest(http.MethodPost, "/mcp", nil), httptest.NewRecorder()
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		p, ok := guard().Authenticate(w, r)
		if want == "" {
			if !ok || p.App != "app_1" || len(w.Header()) > 0 {
				t.Errorf("%q: got %+v, %v, headers %v, want app_1", header, p, ok, w.Header())
			}
			continue
		}
		if ok || p.Kind != "" || w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != want {
			t.Errorf("%q: got %+v, %v, status %d, %s, want 401, %s", header, p, ok, w.Code, w.Header().Get("WWW-Authenticate"), want)
		}
		if body := w.Body.String(); body != `{"error":{"code":"unauthorized","message":"a valid token is needed: make one in Fairlead, or sign in","retryable":false}}` {
			t.Errorf("%q: got body %s, want that a valid token is needed", header, body)
		}
		if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%q: got headers %v, want JSON that is not cached", header, w.Header())
		}
	}
}

// A token in the address would be in logs and histories.
func TestTokenInTheAddressDoesNotCount(t *testing.T) {
	r, w := httptest.NewRequest(http.MethodPost, "/mcp?access_token=good&token=good", nil), httptest.NewRecorder()
	if _, ok := guard().Authenticate(w, r); ok {
		t.Error("it authenticates")
	}
}

func TestTokenOfAnotherResourceDoesNotCount(t *testing.T) {
	g := guard()
	g.Base = func(*http.Request) string { return "https://other.example" }
	r, w := httptest.NewRequest(http.MethodPost, "/mcp", nil), httptest.NewRecorder()
	r.Header.Set("Authorization", "Bearer good")
	if _, ok := g.Authenticate(w, r); ok || w.Code != http.StatusUnauthorized {
		t.Error("it authenticates")
	}
}

func TestInsufficientScopeNamesEveryScope(t *testing.T) {
	w := httptest.NewRecorder()
	need := []protocol.Scope{protocol.ScopeFilesRead, protocol.ScopeFilesWrite}
	guard().Insufficient(w, httptest.NewRequest(http.MethodPost, "/mcp", nil), need, protocol.NewFault(protocol.FaultForbidden, "no"))
	want := `Bearer error="insufficient_scope", scope="fs.read fs.write", ` + metadata
	if w.Code != http.StatusForbidden || w.Header().Get("WWW-Authenticate") != want {
		t.Errorf("got status %d, %s, want 403, %s", w.Code, w.Header().Get("WWW-Authenticate"), want)
	}
	if w.Body.String() != `{"error":{"code":"forbidden","message":"no","retryable":false}}` {
		t.Errorf("got body %s, want the fault forbidden", w.Body)
	}
}

// The address comes from the request, and must not add parameters or headers.
func TestAddressCannotAddToTheChallenge(t *testing.T) {
	g := guard()
	g.Base = func(*http.Request) string { return "https://pc.example\", scope=\"tools.all\r\nSet-Cookie: x" }
	w := httptest.NewRecorder()
	g.Authenticate(w, httptest.NewRequest(http.MethodPost, "/mcp", nil))
	want := `Bearer scope="network.read shell.exec", resource_metadata="https://pc.example\", scope=\"tools.all\r\nSet-Cookie: x/.well-known/oauth-protected-resource/mcp"`
	if got := w.Header().Get("WWW-Authenticate"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
