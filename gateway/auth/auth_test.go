package auth

import (
	"crypto/tls"
	"errors"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// lastUses are the times of last uses.
type lastUses map[string]int64

func (u lastUses) Record(id string)     { u[id] = time.Now().UnixMilli() }
func (u lastUses) Last(id string) int64 { return u[id] }

func openTokens(t *testing.T, dir string) *Tokens {
	t.Helper()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	tokens, err := OpenTokens(keychain.Open(dir), lastUses{})
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestTokenIsCreatedOnceAndStored(t *testing.T) {
	t.Setenv("FAIRLEAD_TOKEN", "")
	dir := t.TempDir()
	first := openTokens(t, dir).Current().Reveal()
	if !strings.HasPrefix(first, "fl_") || len(first) != 46 {
		t.Errorf("token has the wrong form: %d characters; want 46", len(first))
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
			t.Errorf("Verify(%q) = %v, want error ErrUnauthorized", bad, err)
		}
	}
	if err := tokens.Verify(t.Context(), "right"); err != nil {
		t.Error(err)
	}
	tokens.Use("another")
	if err := tokens.Verify(t.Context(), "right"); err == nil {
		t.Error("the old token passes after a change")
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
		{"127.0.0.1:8787", "chrome-extension://localhost", false},
		{"127.0.0.1:8787", "http://tower.lan:8787", true},
		{"127.0.0.1:8787", "http://evil@127.0.0.1.evil.example", false},
		{"127.0.0.1:8787", "http://127.0.0.1@evil.example", false},
		{"", "", false},
	} {
		r := httptest.NewRequest("GET", "http://x/ws", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if err := CheckOrigin(r, "tower.lan"); (err == nil) != c.ok {
			t.Errorf("host %q origin %q: got error %v, want one: %v", c.host, c.origin, err, !c.ok)
		}
	}
}

// Clients identify a gateway by its key: a certificate that is not yet valid, or expired, by either
// machine's clock, is accepted.
func TestCertificateIsValidAtAnyTime(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	store := keychain.Open(t.TempDir())
	var pin identity.Pin
	for _, off := range []time.Duration{0, time.Hour, -time.Hour, 24 * time.Hour, -48 * time.Hour, 10 * 365 * 24 * time.Hour, -30 * 365 * 24 * time.Hour} {
		cert, now, err := OpenCertificate(store, time.Now().Add(off))
		if err != nil || pin != "" && now != pin {
			t.Fatalf("%s: the pin is %s, was %s, %v", off, now, pin, err)
		}
		pin = now
		l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13})
		if err != nil {
			t.Fatal(err)
		}
		shaken := make(chan error, 1)
		go func() {
			c, err := l.Accept()
			if err == nil {
				err = c.(*tls.Conn).HandshakeContext(t.Context())
				c.Close()
			}
			shaken <- err
		}()
		c, _, err := identity.Dial(t.Context(), []string{l.Addr().String()}, pin)
		if err != nil {
			t.Errorf("%s: %v", off, err)
		} else {
			c.Close()
		}
		if err := <-shaken; err != nil {
			t.Errorf("%s: %v", off, err)
		}
		l.Close()
	}
}

func TestNodeMayOnlyUseNodeMethods(t *testing.T) {
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

func TestSecondOriginIsCheckedToo(t *testing.T) {
	r := httptest.NewRequest("GET", "http://127.0.0.1/ws", nil)
	r.Header.Add("Origin", "http://127.0.0.1")
	r.Header.Add("Origin", "http://evil.example")
	if err := CheckOrigin(r); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("error = %v, want error ErrForbidden", err)
	}
}

// FuzzOrigin checks that every accepted host is this machine.
func FuzzOrigin(f *testing.F) {
	f.Add("localhost", "http://localhost:1")
	f.Add("[::1]:8787", "https://[::ffff:127.0.0.1]")
	f.Add("127.0.0.1.evil.example", "http://a@b")
	f.Fuzz(func(t *testing.T, host, origin string) {
		r := httptest.NewRequest("GET", "http://x/ws", nil)
		r.Host = host
		r.Header["Origin"] = []string{origin}
		if CheckOrigin(r) != nil {
			return
		}
		u, err := url.Parse(origin)
		if err != nil {
			t.Fatalf("%q passed", origin)
		}
		name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
		if a, err := netip.ParseAddr(name); name != "localhost" && (err != nil || !a.Unmap().IsLoopback()) {
			t.Errorf("origin %q passed", origin)
		}
	})
}

func TestOnlyAValidTokenIsUsed(t *testing.T) {
	tokens := openTokens(t, t.TempDir())
	lastUse := func() int64 {
		list, err := tokens.Exposures(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("got %v, %v; want one entry", list, err)
		}
		return list[0].LastUsedAt
	}
	if err := tokens.Verify(t.Context(), "wrong"); err == nil || lastUse() > 0 {
		t.Errorf("a wrong token: got %v, used at %d; want an error and no use", err, lastUse())
	}
	if err := tokens.Verify(t.Context(), tokens.Current().Reveal()); err != nil || lastUse() == 0 {
		t.Errorf("the token: got %v, used at %d; want a use", err, lastUse())
	}
}
