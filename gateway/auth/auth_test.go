package auth

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/secret"
)

func openTokens(t *testing.T, dir string) *Tokens {
	t.Helper()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	tokens, err := OpenTokens(secret.Open(dir))
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestTokenIsMadeOnceAndKept(t *testing.T) {
	t.Setenv("FAIRLEAD_TOKEN", "")
	dir := t.TempDir()
	first := openTokens(t, dir).Current().Reveal()
	if !strings.HasPrefix(first, "fl_") || len(first) != 46 {
		t.Errorf("token has the wrong form: %d characters", len(first))
	}
	if again := openTokens(t, dir).Current().Reveal(); again != first {
		t.Error("a second start made another token")
	}
}

func TestOnlyTheTokenPasses(t *testing.T) {
	t.Setenv("FAIRLEAD_TOKEN", "right")
	tokens := openTokens(t, t.TempDir())
	for _, bad := range []string{"", "wrong", "righ", "right ", "RIGHT"} {
		if err := tokens.Verify(t.Context(), bad); !errors.Is(err, protocol.ErrUnauthorized) {
			t.Errorf("Verify(%q) = %v", bad, err)
		}
	}
	if err := tokens.Verify(t.Context(), "right"); err != nil {
		t.Error(err)
	}
	if err := tokens.Set(""); err == nil {
		t.Error("an empty token was accepted")
	}
	if err := tokens.Rotate(); err != nil {
		t.Fatal(err)
	}
	if err := tokens.Verify(t.Context(), "right"); err == nil {
		t.Error("the old token passes after a rotation")
	}
}

func TestWebPagesFromElsewhereAreRefused(t *testing.T) {
	for _, c := range []struct {
		host, origin string
		ok           bool
	}{
		{"127.0.0.1:8787", "", true},
		{"localhost:8787", "", true},
		{"[::1]:8787", "", true},
		{"127.8.9.1", "", true},
		{"tower.lan:8787", "", true},
		{"evil.example:8787", "", false}, // DNS rebinding
		{"127.0.0.1.evil.example", "", false},
		{"127.0.0.1:8787", "http://localhost:3000", true},
		{"127.0.0.1:8787", "http://evil.example", false},
		{"127.0.0.1:8787", "null", false},
		{"127.0.0.1:8787", "http://127.0.0.1.evil.example", false},
		{"127.0.0.1:8787", "http://localhost.evil.example", false},
		{"", "", false},
	} {
		r := httptest.NewRequest("GET", "http://x/ws", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if err := CheckOrigin(r, "tower.lan"); (err == nil) != c.ok {
			t.Errorf("host %q origin %q: %v", c.host, c.origin, err)
		}
	}
}

func TestNodeMayOnlyDoANodesWork(t *testing.T) {
	n := Node("laptop")
	for _, m := range protocol.Methods {
		if m.Scope == protocol.ScopeAdmin && n.Has(m.Scope) || m.Scope == protocol.ScopeInvoke && n.Has(m.Scope) {
			t.Errorf("a node has the scope of %s", m.Name)
		}
		if !Owner("x").Has(m.Scope) {
			t.Errorf("the owner lacks the scope of %s", m.Name)
		}
	}
	if (Principal{}).Has(protocol.ScopeRead) {
		t.Error("nobody may read")
	}
}
