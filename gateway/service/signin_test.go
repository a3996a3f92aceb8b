package service

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"
	"golang.org/x/oauth2"

	"fairlead/gateway/config"
	"fairlead/gateway/signin"
)

// account is an account at the issuer of the test, with the claims of its token; nil removes one.
type account map[string]any

func (account) ID() string { return "1" }

func (a account) Userinfo([]string) ([]byte, error) { return json.Marshal(a["userinfo"]) }

func (a account) Claims(_ []string, base *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	data, err := json.Marshal(base)
	if err != nil {
		return nil, err
	}
	c := jwt.MapClaims{"email": "ann@company.com", "email_verified": true}
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, err
	}
	maps.Copy(c, a)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c, nil
}

// newIssuer starts an issuer and makes it the provider "work".
func newIssuer(t *testing.T, s *site) *mockoidc.MockOIDC {
	t.Helper()
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Shutdown() })
	m.ClientSecret, _ = s.secret("")
	s.settings.SignIn = map[string]config.SignInProvider{"work": {Title: "Company", Issuer: m.Issuer(), ClientID: m.ClientID}}
	return m
}

// signInWith returns the address of the button of a provider, for a visitor who wants to open a
// path.
func signInWith(t *testing.T, site, provider, to string) string {
	t.Helper()
	return site + "/.fairlead/signin?" + url.Values{"with": {provider}, "to": {to}}.Encode()
}

// step follows one redirect, and returns where the next one leads.
func step(t *testing.T, b *http.Client, address string) (next string, status int) {
	t.Helper()
	one := *b
	one.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r, err := one.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	return r.Header.Get("Location"), r.StatusCode
}

// steps follows redirects until one leads to an address with a text, and returns it.
func steps(t *testing.T, b *http.Client, address, until string) string {
	t.Helper()
	for range 5 {
		next, status := step(t, b, address)
		if next == "" {
			t.Fatalf("%s answers %d and leads nowhere, want the way to %s", address, status, until)
		}
		if address = next; strings.Contains(next, until) {
			return next
		}
	}
	t.Fatalf("got as far as %s, want %s", address, until)
	return ""
}

func TestAVisitorSignsInAtAnIssuer(t *testing.T) {
	s := newSite(t)
	m := newIssuer(t, s)
	v := s.publish(t, app(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "the app at "+r.URL.String()) }).URL, func(d *Definition) { d.Visitors = []string{"*@company.com"} })
	b := s.browser(t)
	r, _ := http.NewRequest("GET", v.URL+"/deep?a=1&b=2", nil)
	r.Header.Set("Accept", "text/html")
	status, page := read(t)(b.Do(r))
	button := "/.fairlead/signin?with=work&amp;to=%2fdeep%3fa%3d1%26b%3d2"
	if status != http.StatusUnauthorized || !strings.Contains(page, `href="`+button+`"`) || !strings.Contains(page, "Continue with Company") {
		t.Fatalf("got %d %s, want the button of the provider with the way back", status, page)
	}
	m.QueueUser(account{"email": "Ann@Company.com"})
	if status, text := read(t)(b.Get(v.URL + strings.ReplaceAll(button, "&amp;", "&"))); text != "the app at /deep?a=1&b=2" {
		t.Errorf("the button leads to %d %s, want the app at the page that was asked for", status, text)
	}
	if status, text := read(t)(b.Get(v.URL + "/again")); text != "the app at /again" {
		t.Errorf("a later visit gets %d %s, want the app", status, text)
	}
	if _, err := s.Share(t.Context(), v.ID, ShareRevoke, nil, "owner"); err != nil {
		t.Fatal(err)
	}
	if status, text := read(t)(b.Get(v.URL)); status != http.StatusForbidden || !strings.Contains(text, "ann@company.com") {
		t.Errorf("after the list was cleared: got %d %s, want 403 and the address", status, text)
	}
}

func TestOnlyVerifiedAddressesOfTheIssuerAreTaken(t *testing.T) {
	s := newSite(t)
	m := newIssuer(t, s)
	v := s.publish(t, app(t, hello).URL, func(d *Definition) { d.Visitors = []string{"*@company.com"} })
	userinfo := map[string]any{"sub": "1", "email": "ann@company.com", "email_verified": true}
	for name, c := range map[string]struct {
		account account
		status  int
		want    string
	}{
		"verified":                        {account{}, 200, "hello"},
		"verified, as a text":             {account{"email_verified": "true"}, 200, "hello"},
		"not verified":                    {account{"email_verified": false}, 403, "Company has not verified that ann@company.com is yours"},
		"not verified, as a text":         {account{"email_verified": "false"}, 403, "has not verified"},
		"nothing said":                    {account{"email_verified": nil}, 403, "has not verified"},
		"the claim of Microsoft":          {account{"email_verified": nil, "xms_edov": true}, 403, "has not verified"},
		"no address":                      {account{"email": nil, "userinfo": map[string]any{"sub": "1"}}, 403, "No email address"},
		"an address elsewhere":            {account{"email": nil, "userinfo": userinfo}, 200, "hello"},
		"verified, the address elsewhere": {account{"email": nil, "userinfo": map[string]any{"sub": "1", "email": "ann@company.com"}}, 403, "has not verified"},
		"the address of another account":  {account{"email": nil, "userinfo": map[string]any{"sub": "2", "email": "ann@company.com", "email_verified": true}}, 502, "cannot be trusted"},
		"not on the list":                 {account{"email": "eve@evil.example"}, 403, "You signed in as eve@evil.example"},
		"a pattern":                       {account{"email": "*@company.com"}, 403, "This address cannot be used"},
		"a name with an address":          {account{"email": "Ann <ann@company.com>"}, 403, "This address cannot be used"},
		"another audience":                {account{"aud": "another"}, 502, "cannot be trusted"},
		"another issuer":                  {account{"iss": "https://evil.example"}, 502, "cannot be trusted"},
		"an old token":                    {account{"exp": 1}, 502, "cannot be trusted"},
		"the nonce of another sign-in":    {account{"nonce": "another"}, 502, "cannot be trusted"},
		"no nonce":                        {account{"nonce": nil}, 502, "cannot be trusted"},
	} {
		m.QueueUser(c.account)
		status, text := read(t)(s.browser(t).Get(signInWith(t, v.URL, "work", "/")))
		if status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: got %d %s, want %d %s", name, status, text, c.status, c.want)
		}
	}
}

func TestErrorsOfTheIssuerAreShown(t *testing.T) {
	s := newSite(t)
	m := newIssuer(t, s)
	v := s.publish(t, app(t, hello).URL, func(d *Definition) { d.Visitors = []string{"*@company.com"} })
	if status, text := read(t)(s.browser(t).Get(signInWith(t, v.URL, "none", "/"))); status != 404 || !strings.Contains(text, "cannot be used") {
		t.Errorf("an unknown provider: got %d %s, want 404", status, text)
	}
	m.QueueError(&mockoidc.ServerError{Code: 500, Error: mockoidc.InternalServerError})
	if status, text := read(t)(s.browser(t).Get(signInWith(t, v.URL, "work", "/"))); status != 502 || !strings.Contains(text, "Company does not answer") {
		t.Errorf("an issuer that fails: got %d %s, want 502", status, text)
	}
	b := s.browser(t)
	callback := steps(t, b, signInWith(t, v.URL, "work", "/"), signin.CallbackPath)
	u, _ := url.Parse(callback)
	denied := s.base + signin.CallbackPath + "?" + url.Values{"state": u.Query()["state"], "error": {"access_denied"}, "error_description": {"<b>No</b>"}}.Encode()
	if status, text := read(t)(b.Get(denied)); status != 403 || !strings.Contains(text, "Company did not sign you in") || strings.Contains(text, "<b>") {
		t.Errorf("a cancelled sign-in: got %d %s, want 403", status, text)
	}
	callback = steps(t, b, signInWith(t, v.URL, "work", "/"), signin.CallbackPath)
	for range 2 { // the secret goes in a header, and then in the body
		m.QueueError(&mockoidc.ServerError{Code: 400, Error: mockoidc.InvalidGrant})
	}
	if status, text := read(t)(b.Get(callback)); status != 502 || !strings.Contains(text, "cannot be trusted") {
		t.Errorf("a code that the issuer refuses: got %d %s, want 502", status, text)
	}
	m.ClientSecret = "another"
	if status, text := read(t)(s.browser(t).Get(signInWith(t, v.URL, "work", "/"))); status != 502 {
		t.Errorf("a wrong client secret: got %d %s, want 502", status, text)
	}
}

// TestASignInBelongsToOneBrowserAndOneService plays who knows the addresses of another browser, or
// brings them to it.
func TestASignInBelongsToOneBrowserAndOneService(t *testing.T) {
	s := newSite(t)
	newIssuer(t, s)
	listed := func(d *Definition) { d.Visitors = []string{mockoidc.DefaultUser().Email} }
	v, other := s.publish(t, app(t, hello).URL, listed), s.publish(t, app(t, hello).URL, listed)
	start := func() (b *http.Client, callback string) {
		b = s.browser(t)
		return b, steps(t, b, signInWith(t, v.URL, "work", "/"), signin.CallbackPath)
	}
	refused := func(what string, b *http.Client, address string) {
		t.Helper()
		if status, text := read(t)(b.Get(address)); status != http.StatusBadRequest || !strings.Contains(text, "does not work any more") {
			t.Errorf("%s: got %d %s, want 400", what, status, text)
		}
	}

	b, callback := start()
	refused("a wrong state", b, callback+"x")
	if status, text := read(t)(b.Get(callback)); text != "hello" {
		t.Fatalf("got %d %s, want the app", status, text)
	}
	refused("the state for the second time", b, callback)

	for name, other := range map[string]func() *http.Client{
		"new": func() *http.Client { return s.browser(t) }, "with a sign-in of its own": func() *http.Client { b, _ := start(); return b },
	} {
		_, callback = start()
		refused("the state of another browser in one "+name, other(), callback)
	}

	thief, _ := start()
	b, callback = start()
	arrive := steps(t, b, callback, "/.fairlead/arrive")
	refused("a stolen hand-over secret", thief, arrive)
	refused("the secret after the thief", b, arrive)

	b, callback = start()
	arrive = steps(t, b, callback, "/.fairlead/arrive")
	to, _ := url.Parse(other.URL)
	from, _ := url.Parse(v.URL)
	b.Jar.SetCookies(to, b.Jar.Cookies(from))
	refused("the secret at another service", b, strings.Replace(arrive, v.Name, other.Name, 1))

	b, callback = start()
	arrive = steps(t, b, callback, "/.fairlead/arrive")
	if next, status := step(t, b, arrive); status != http.StatusSeeOther || next != "/" {
		t.Fatalf("got %d to %q, want the app", status, next)
	}
	refused("the secret for the second time", b, arrive)

	b, callback = start()
	u, _ := url.Parse(callback)
	refused("the state as a hand-over secret", b, v.URL+"/.fairlead/arrive?secret="+u.Query().Get("state"))
}

func TestASignInLeadsNowhereElse(t *testing.T) {
	s := newSite(t)
	newIssuer(t, s)
	v := s.publish(t, app(t, hello).URL, func(d *Definition) { d.Visitors = []string{"*@company.com"} })
	for _, to := range []string{"https://evil.example/", "//evil.example/", `/\evil.example`, `\\evil.example`, "/\t/evil.example", "javascript:alert(1)", "evil.example", "", "/%zz", "https:evil.example"} {
		b := s.browser(t)
		arrive := steps(t, b, signInWith(t, v.URL, "work", to), "/.fairlead/arrive")
		if !strings.HasPrefix(arrive, v.URL+"/") {
			t.Errorf("%q hands over to %s, want the service", to, arrive)
		}
		if next, status := step(t, b, arrive); status != http.StatusSeeOther || next != "/" {
			t.Errorf("%q leads to %d %q, want /", to, status, next)
		}
	}
	r, _ := http.NewRequest("GET", signInWith(t, v.URL, "work", "/"), nil)
	r.Host = "evil.example"
	if status, text := read(t)(s.browser(t).Do(r)); status != http.StatusNotFound {
		t.Errorf("another host: got %d %s, want 404", status, text)
	}
}

func TestAnAddressAtGitHubMustBePrimaryAndVerified(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, func(d *Definition) { d.Visitors = []string{"*@company.com"} })
	emails, verifies := "", false
	mux := http.NewServeMux()
	var challenge string
	mux.HandleFunc("GET /login/oauth/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		challenge = q.Get("code_challenge")
		if q.Get("scope") != "user:email" || q.Get("client_id") != "me" {
			t.Errorf("got the scope %q of %q, want that of the addresses of me", q.Get("scope"), q.Get("client_id"))
		}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"c"}, "state": q["state"]}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /login/oauth/access_token", func(w http.ResponseWriter, r *http.Request) {
		verifies = oauth2.S256ChallengeFromVerifier(r.FormValue("code_verifier")) == challenge && r.FormValue("client_secret") == "the secret"
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"access_token":"t","token_type":"bearer"}`)
	})
	mux.HandleFunc("GET /api/v3/user/emails", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		io.WriteString(w, emails)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	s.settings.SignIn = map[string]config.SignInProvider{"github": {Issuer: srv.URL, ClientID: "me"}}
	for _, c := range []struct {
		emails string
		status int
		want   string
	}{
		{`[{"email":"old@company.com","verified":true},{"email":"ann@company.com","primary":true,"verified":true}]`, 200, "hello"},
		{`[{"email":"eve@evil.example","verified":true,"primary":true},{"email":"ann@company.com","verified":true}]`, 403, "eve@evil.example"},
		{`[{"email":"ann@company.com","primary":true,"verified":false}]`, 403, "GitHub has not verified that ann@company.com is yours"},
		{`[]`, 403, "No email address"},
		{`<html>`, 502, "cannot be trusted"},
	} {
		emails = c.emails
		status, text := read(t)(s.browser(t).Get(signInWith(t, v.URL, "github", "/")))
		if status != c.status || !strings.Contains(text, c.want) || !verifies {
			t.Errorf("%s: got %d %s (code verified: %v), want %d %s", c.emails, status, text, verifies, c.status, c.want)
		}
	}
}

func TestGuessingIsLimited(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	guess := func() (status int) {
		b := s.browser(t)
		status, _ = use(t, b, v.URL+enterPath+"?link=guessed")
		return status
	}
	for i := range 20 {
		if status := guess(); status != http.StatusForbidden {
			t.Fatalf("guess %d: got %d, want 403", i+1, status)
		}
	}
	if status := guess(); status != http.StatusTooManyRequests {
		t.Errorf("guess 21: got %d, want 429", status)
	}
	for i := range 21 {
		want := http.StatusBadRequest
		if i == 20 {
			want = http.StatusTooManyRequests
		}
		address := v.URL + "/.fairlead/arrive?secret=guessed"
		if i%2 == 0 {
			address = s.base + signin.CallbackPath + "?state=guessed"
		}
		if status, text := read(t)(s.browser(t).Get(address)); status != want {
			t.Fatalf("guess %d of a sign-in: got %d %s, want %d", i+1, status, text, want)
		}
	}
}
