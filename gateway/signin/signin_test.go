package signin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

func TestOnlyCompleteProvidersAreOffered(t *testing.T) {
	base := "http://localhost:8787"
	s := New(Options{
		Config: func() config.Services {
			return config.Services{SignIn: map[string]config.SignInProvider{
				"google": {ClientID: "1"}, "microsoft": {ClientID: "1", Title: "Work account"}, "github": {}, "own": {ClientID: "1"}, "acme": {ClientID: "1", Issuer: "https://id.acme.example"},
			}}
		},
		Secret: func(string) (string, bool) { return "", false },
		Base:   func(*http.Request) string { return base },
	})
	r := httptest.NewRequest("GET", "/", nil)
	want := "[{google Google} {microsoft Work account} {acme acme}]"
	if got := fmt.Sprint(s.Ways(r, protocol.Service{}).Providers); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	base = ""
	if got := s.Ways(r, protocol.Service{}); !got.IsEmpty() {
		t.Errorf("got %v without an address to come back to, want none", got)
	}
}

func TestAProviderIsAskedForItsAddressesAgainWhenItChanges(t *testing.T) {
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		issuer := "http://" + r.Host
		json.NewEncoder(w).Encode(map[string]string{"issuer": issuer, "authorization_endpoint": issuer + "/a", "token_endpoint": issuer + "/t", "jwks_uri": issuer + "/k"})
	}))
	t.Cleanup(srv.Close)
	s := New(Options{})
	d := definition{name: "own", issuer: srv.URL, clientID: "1"}
	for want, change := range []func(){func() {}, func() {}, func() { d.secret = "new" }} {
		change()
		p, err := s.provider(t.Context(), d)
		if err != nil || p.oauth.ClientSecret != d.secret {
			t.Fatalf("got %+v, %v; want the provider with the present secret", p, err)
		}
		if want = max(want, 1); asked != want {
			t.Errorf("the issuer was asked %d times, want %d", asked, want)
		}
	}
	d.issuer += "/"
	if _, err := s.provider(t.Context(), d); err == nil {
		t.Error("an issuer that names itself otherwise is accepted, want an error")
	}
}

// TestMicrosoftSaysItsOwnWayThatAnAddressIsVerified compares what the claims of Microsoft mean
// there and at other issuers.
func TestMicrosoftSaysItsOwnWayThatAnAddressIsVerified(t *testing.T) {
	for _, c := range []struct {
		issuer, claims string
		want           bool
	}{
		{"https://login.microsoftonline.com/common/v2.0", `{"email":"ann@x.org","xms_edov":true}`, true},
		{"https://login.microsoftonline.com/common/v2.0", `{"email":"ann@x.org","xms_edov":"1"}`, true},
		{"https://login.microsoftonline.com/common/v2.0", `{"email":"ann@x.org","xms_edov":false}`, false},
		{"https://login.microsoftonline.com/common/v2.0", `{"email":"ann@x.org"}`, false},
		{"https://login.microsoftonline.com/common/v2.0", `{"xms_edov":true}`, false},
		{"https://login.microsoftonline.com.evil.example/", `{"email":"ann@x.org","xms_edov":true}`, false},
		{"https://evil.example", `{"email":"ann@x.org","xms_edov":true}`, false},
		{"https://accounts.google.com", `{"email":"ann@x.org","email_verified":true}`, true},
		{"https://accounts.google.com", `{"email":"ann@x.org","email_verified":"yes"}`, false},
	} {
		var got claims
		if err := json.Unmarshal([]byte(c.claims), &got); err != nil || got.isVerified(c.issuer) != c.want {
			t.Errorf("%s of %s: got %v, %v; want %v", c.claims, c.issuer, got.isVerified(c.issuer), err, c.want)
		}
	}
}

func TestAttemptsEndByThemselves(t *testing.T) {
	s, now := attempts{open: make(map[string]attempt)}, time.Now()
	s.add("old", attempt{to: "/"}, now)
	if _, ok := s.take("old", now.Add(attemptLife)); ok {
		t.Error("an attempt of ten minutes ago can be continued, want an end")
	}
	for i := range maxAttempts {
		if !s.add(fmt.Sprint(i), attempt{expires: now.Add(time.Minute)}, now) {
			t.Fatalf("attempt %d is refused, want %d", i+1, maxAttempts)
		}
	}
	if s.add("more", attempt{}, now) {
		t.Error("one more attempt is accepted, want the limit to hold")
	}
	if !s.add("later", attempt{}, now.Add(2*time.Minute)) || len(s.open) != 1 {
		t.Errorf("got %d attempts after the others expired, want one", len(s.open))
	}
}

func TestEachSourceHasItsOwnLimit(t *testing.T) {
	l := NewLimits()
	now := time.Now()
	request := func(address string) *http.Request {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = address
		return r
	}
	for range burst {
		l.allowAt(sourceOf(request("[2001:db8::1]:1000")), now)
	}
	for address, want := range map[string]bool{
		"[2001:db8::1]:2000": false, "[2001:db8::2]:1000": false, "[2001:db8:0:1::1]:1000": true, "192.0.2.1:1000": true, "[::ffff:192.0.2.2]:1000": true,
	} {
		if got := l.allowAt(sourceOf(request(address)), now); got != want {
			t.Errorf("%s: got %v, want %v", address, got, want)
		}
	}
	if !l.allowAt(sourceOf(request("[2001:db8::1]:1000")), now.Add(pace)) {
		t.Error("after a pause the source is refused, want one more attempt")
	}
	for i := range 3 * maxSources {
		l.allowAt(fmt.Sprint(i), now)
	}
	if len(l.sources) > maxSources {
		t.Errorf("got %d sources in memory, want at most %d", len(l.sources), maxSources)
	}
}

func TestAnAccountCanBeChosenAgain(t *testing.T) {
	for name, want := range map[string]string{"google": "select_account", "own": ""} {
		p := &provider{definition: definition{name: name}, oauth: oauth2.Config{Endpoint: oauth2.Endpoint{AuthURL: "https://id.example/a"}}}
		r, err := http.NewRequestWithContext(context.Background(), "GET", p.authURL(attempt{nonce: "n", verifier: "v", redirect: "http://localhost/c"}, "s"), nil)
		if err != nil {
			t.Fatal(err)
		}
		q := r.URL.Query()
		if got := q.Get("prompt"); got != want || q.Get("nonce") != "n" || q.Get("state") != "s" || q.Get("code_challenge_method") != "S256" {
			t.Errorf("%s: got %s, want the prompt %q, and state, nonce and challenge", name, r.URL, want)
		}
	}
}
