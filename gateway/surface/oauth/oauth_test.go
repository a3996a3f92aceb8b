package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/apps"
	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/store"
)

// bench is a server with a real database. The person is the test.
type bench struct {
	*httptest.Server
	t         *testing.T
	access    *apps.Access
	apps      *apps.Apps
	questions *question.Queue
	db        *store.Apps
	docs      map[string]string // documents of programs, by their addresses
}

func serve(t *testing.T) *bench {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "fairlead.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	b := &bench{t: t, db: db.Apps, docs: make(map[string]string)}
	b.questions = question.New(db.Questions, nil, new(event.Bus))
	b.access, err = apps.Open(t.Context(), db.Apps, new(event.Bus), func(context.Context, string) error { return protocol.ErrUnauthorized }, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.apps = apps.New(apps.Options{Access: b.access, Questions: b.questions})
	b.Server = httptest.NewServer(New(Options{
		Apps: b.apps, Clients: db.Apps, Base: func(r *http.Request) string { return "http://" + r.Host }, Path: "/mcp",
		Fetch: func(ctx context.Context, address string) (Document, error) {
			if _, ok := ctx.Deadline(); !ok {
				t.Error("a document may take forever")
			}
			if doc, ok := b.docs[address]; ok {
				return Document{Body: []byte(doc)}, nil
			}
			return Document{}, errors.New("unreachable")
		},
	}))
	t.Cleanup(b.Close)
	b.docs[editor] = `{"client_id":"` + editor + `","client_name":"Editor","redirect_uris":["http://127.0.0.1/callback","https://editor.example/back?x=1"],"token_endpoint_auth_method":"none"}`
	return b
}

const (
	editor   = "https://editor.example/client.json"
	callback = "http://127.0.0.1:5555/callback"
	verifier = "0123456789012345678901234567890123456789012345"
)

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// get follows no redirects.
func (b *bench) get(path string) (*http.Response, string) {
	b.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(b.URL + path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body)
	return resp, string(raw)
}

func (b *bench) post(path string, form url.Values) (int, map[string]any) {
	b.t.Helper()
	resp, err := http.PostForm(b.URL+path, form)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body)
	var out map[string]any
	if len(raw) > 0 && json.Unmarshal(raw, &out) != nil {
		b.t.Fatalf("%s: got %s, want JSON", path, raw)
	}
	if resp.Header.Get("Cache-Control") != "no-store" {
		b.t.Errorf("%s: got Cache-Control %q, want no-store", path, resp.Header.Get("Cache-Control"))
	}
	return resp.StatusCode, out
}

// query are the parameters of a request to connect, with changes; an empty value removes one.
func query(changes ...string) url.Values {
	q := url.Values{
		"response_type": {"code"}, "client_id": {editor}, "redirect_uri": {callback}, "scope": {"fs.read shell.exec offline_access unknown"}, "state": {"s 1"},
		"code_challenge": {challenge()}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(changes); i += 2 {
		if q.Set(changes[i], changes[i+1]); changes[i+1] == "" {
			q.Del(changes[i])
		}
	}
	return q
}

// pending returns the questions of the person, oldest first.
func (b *bench) pending() []protocol.Question {
	b.t.Helper()
	list, err := b.questions.Pending(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// ask begins to connect, and returns the page that waits and the question of the person.
func (b *bench) ask(q url.Values) (wait string, asked protocol.Question) {
	b.t.Helper()
	resp, body := b.get(authorizePath + "?" + q.Encode())
	if resp.StatusCode != 302 || !strings.HasPrefix(resp.Header.Get("Location"), waitPath) {
		b.t.Fatalf("got status %d, %s, %s, want a redirect to %s", resp.StatusCode, resp.Header.Get("Location"), body, waitPath)
	}
	list := b.pending()
	return resp.Header.Get("Location"), list[len(list)-1]
}

// connect connects an app, and returns where the browser returns to.
func (b *bench) connect(q url.Values, answer protocol.QuestionAnswerParams) url.Values {
	b.t.Helper()
	wait, asked := b.ask(q)
	answer.ID, answer.Hash = asked.ID, asked.Hash
	if _, err := b.questions.Answer(b.t.Context(), auth.Owner("x"), answer); err != nil {
		b.t.Fatal(err)
	}
	resp, body := b.get(wait)
	at, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || resp.StatusCode != 302 || !strings.HasPrefix(at.String(), q.Get("redirect_uri")) {
		b.t.Fatalf("got status %d, %v, %s, want a redirect to the app", resp.StatusCode, at, body)
	}
	return at.Query()
}

func form(code string, changes ...string) url.Values {
	f := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "client_id": {editor}, "redirect_uri": {callback}, "code_verifier": {verifier}}
	for i := 0; i < len(changes); i += 2 {
		f.Set(changes[i], changes[i+1])
	}
	return f
}

var allow, deny = protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow}, protocol.QuestionAnswerParams{Decision: protocol.DecisionDeny}

func TestAppSignsIn(t *testing.T) {
	b := serve(t)
	wait, asked := b.ask(query())
	c := asked.App
	if c.Name != "Editor" || c.ClientHost != "editor.example" || c.RedirectHost != "127.0.0.1" || !c.IsLocal || !slices.Equal(c.Scopes, []protocol.Scope{protocol.ScopeFilesRead, protocol.ScopeShell}) {
		t.Errorf("got app %+v, want Editor on this computer with two scopes", c)
	}
	resp, page := b.get(wait)
	if resp.StatusCode != 200 || !strings.Contains(page, c.Code) || !strings.Contains(page, `http-equiv="refresh"`) || strings.Contains(page, "<script") || resp.Header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("got status %d, %s, want a page with the code and without scripts", resp.StatusCode, page)
	}
	b.questions.Answer(t.Context(), auth.Owner("x"), protocol.QuestionAnswerParams{ID: asked.ID, Hash: asked.Hash, Decision: protocol.DecisionAllow, Scopes: []protocol.Scope{protocol.ScopeFilesRead}})
	resp, _ = b.get(wait)
	back, _ := url.Parse(resp.Header.Get("Location"))
	q := back.Query()
	if back.Host != "127.0.0.1:5555" || q.Get("state") != "s 1" || q.Get("iss") != b.URL || q.Get("code") == "" {
		t.Fatalf("got %v, want the app's address with a code", back)
	}
	if resp, _ := b.get(wait); resp.StatusCode != 404 {
		t.Errorf("the page a second time: got status %d, want 404", resp.StatusCode)
	}
	status, out := b.post(tokenPath, form(q.Get("code"), "resource", b.URL+"/mcp"))
	if status != 200 || out["token_type"] != "Bearer" || out["expires_in"] != 3600.0 || out["scope"] != "fs.read" || out["refresh_token"] == "" {
		t.Fatalf("got status %d, %v, want tokens for reading", status, out)
	}
	p, err := b.access.Verify(t.Context(), out["access_token"].(string), b.URL+"/mcp")
	if err != nil || !p.Has(protocol.ScopeFilesRead) || p.Has(protocol.ScopeShell) {
		t.Errorf("got %+v, error %v, want reading alone", p, err)
	}
	status, again := b.post(tokenPath, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {out["refresh_token"].(string)}, "client_id": {editor}})
	if status != 200 || again["access_token"] == out["access_token"] {
		t.Errorf("got status %d, %v, want new tokens", status, again)
	}
	if status, _ := b.post(revokePath, url.Values{"token": {again["refresh_token"].(string)}, "client_id": {editor}}); status != 200 {
		t.Errorf("revoked: got status %d, want 200", status)
	}
	if _, err := b.access.Verify(t.Context(), again["access_token"].(string), ""); err == nil {
		t.Error("a revoked app still has access")
	}
}

func TestMetadataNamesEverything(t *testing.T) {
	b := serve(t)
	for _, path := range []string{serverPath, serverPath + "/mcp", "/.well-known/openid-configuration"} {
		resp, body := b.get(path)
		var m map[string]any
		json.Unmarshal([]byte(body), &m)
		if resp.StatusCode != 200 || m["issuer"] != b.URL || fmt.Sprint(m["code_challenge_methods_supported"]) != "[S256]" || m["authorization_response_iss_parameter_supported"] != true ||
			m["client_id_metadata_document_supported"] != true || m["token_endpoint"] != b.URL+tokenPath {
			t.Errorf("%s: got %s, want the metadata of the server", path, body)
		}
	}
	for _, path := range []string{resourcePath, resourcePath + "/mcp"} {
		resp, body := b.get(path)
		var m map[string]any
		json.Unmarshal([]byte(body), &m)
		if resp.StatusCode != 200 || m["resource"] != b.URL+"/mcp" || fmt.Sprint(m["authorization_servers"]) != "["+b.URL+"]" || strings.Contains(body, "offline_access") {
			t.Errorf("%s: got %s, want the metadata of the resource", path, body)
		}
	}
}

func TestPersonRefusesOrDoesNotAnswer(t *testing.T) {
	b := serve(t)
	if q := b.connect(query(), deny); q.Get("error") != "access_denied" || q.Get("state") != "s 1" || q.Get("iss") != b.URL || q.Has("code") {
		t.Errorf("got %v, want access_denied", q)
	}
	for range 3 {
		b.ask(query())
	}
	resp, _ := b.get(authorizePath + "?" + query().Encode())
	if at := resp.Header.Get("Location"); !strings.Contains(at, "error=temporarily_unavailable") {
		t.Errorf("a fourth question: got %s, want temporarily_unavailable", at)
	}
}

func TestWrongRequestsDoNotReachThePerson(t *testing.T) {
	b := serve(t)
	b.docs["https://liar.example/c"] = b.docs[editor]
	b.docs["https://secret.example/c"] = `{"client_id":"https://secret.example/c","redirect_uris":["https://x.example/"],"token_endpoint_auth_method":"client_secret_basic"}`
	b.docs["https://open.example/c"] = `{"client_id":"https://open.example/c","redirect_uris":["http://open.example/"]}`
	for name, changes := range map[string][]string{
		"unknown client": {"client_id", "client_none"}, "unreachable document": {"client_id", "https://none.example/c"}, "document of another": {"client_id", "https://liar.example/c"},
		"secret client": {"client_id", "https://secret.example/c"}, "unsafe redirects": {"client_id", "https://open.example/c"}, "no path": {"client_id", "https://editor.example"},
		"foreign redirect": {"redirect_uri", "https://thief.example/"}, "another path": {"redirect_uri", "http://127.0.0.1:5555/other"}, "another host": {"redirect_uri", "http://localhost:5555/callback"},
		"user name": {"redirect_uri", "http://127.0.0.1@thief.example/callback"}, "fragment": {"redirect_uri", "http://127.0.0.1/callback#x"}, "port of https": {"redirect_uri", "https://editor.example:444/back?x=1"},
		"no redirect": {"redirect_uri", ""}, "script": {"redirect_uri", "javascript:alert(1)"},
	} {
		resp, body := b.get(authorizePath + "?" + query(changes...).Encode())
		if resp.StatusCode != 400 || resp.Header.Get("Location") != "" || strings.Contains(body, "<script") {
			t.Errorf("%s: got status %d, %s, want 400 without a redirect", name, resp.StatusCode, resp.Header.Get("Location"))
		}
	}
	for name, c := range map[string]struct {
		changes []string
		want    string
	}{
		"token": {[]string{"response_type", "token"}, "unsupported_response_type"}, "no challenge": {[]string{"code_challenge", ""}, "invalid_request"}, "plain": {[]string{"code_challenge_method", "plain"}, "invalid_request"},
		"no method": {[]string{"code_challenge_method", ""}, "invalid_request"}, "another resource": {[]string{"resource", "https://other.example/mcp"}, "invalid_target"},
	} {
		resp, _ := b.get(authorizePath + "?" + query(c.changes...).Encode())
		if at, _ := url.Parse(resp.Header.Get("Location")); at.Query().Get("error") != c.want || at.Query().Get("iss") != b.URL {
			t.Errorf("%s: got %v, want the error %s", name, at, c.want)
		}
	}
	if resp, _ := b.get(authorizePath + "?" + query().Encode() + "&client_id=other"); resp.StatusCode != 400 {
		t.Errorf("a parameter twice: got status %d, want 400", resp.StatusCode)
	}
	if list := b.pending(); len(list) != 0 {
		t.Errorf("got questions %+v, want none", list)
	}
}

func TestStolenCodesAreOfNoUse(t *testing.T) {
	b := serve(t)
	for name, changes := range map[string][]string{
		"no verifier": {"code_verifier", ""}, "another verifier": {"code_verifier", strings.Repeat("x", 46)}, "another client": {"client_id", "https://thief.example/c"},
		"another redirect": {"redirect_uri", "https://thief.example/"}, "unknown code": {"code", "x"}, "short verifier": {"code_verifier", "short"},
	} {
		code := b.connect(query(), allow).Get("code")
		if status, out := b.post(tokenPath, form(code, changes...)); status != 400 || out["error"] != "invalid_grant" {
			t.Errorf("%s: got status %d, %v, want invalid_grant", name, status, out)
		}
	}
	code := b.connect(query(), allow).Get("code")
	if status, out := b.post(tokenPath, form(code, "resource", "https://other.example/mcp")); status != 400 || out["error"] != "invalid_target" {
		t.Errorf("another resource: got status %d, %v, want invalid_target", status, out)
	}
	_, first := b.post(tokenPath, form(code))
	if status, out := b.post(tokenPath, form(code)); status != 400 || out["error"] != "invalid_grant" {
		t.Errorf("used twice: got status %d, %v, want invalid_grant", status, out)
	}
	if _, err := b.access.Verify(t.Context(), first["access_token"].(string), ""); err == nil {
		t.Error("a code that was used twice does not end the access")
	}
	if status, out := b.post(tokenPath, url.Values{"grant_type": {"password"}}); status != 400 || out["error"] != "unsupported_grant_type" {
		t.Errorf("got status %d, %v, want unsupported_grant_type", status, out)
	}
	if status, out := b.post(revokePath, url.Values{}); status != 400 || out["error"] != "invalid_request" {
		t.Errorf("got status %d, %v, want invalid_request", status, out)
	}
}

func TestRefreshDoesNotWiden(t *testing.T) {
	b := serve(t)
	_, out := b.post(tokenPath, form(b.connect(query(), allow).Get("code")))
	refresh := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {out["refresh_token"].(string)}, "client_id": {editor}, "scope": {"fs.write"}}
	if status, out := b.post(tokenPath, refresh); status != 400 || out["error"] != "invalid_scope" {
		t.Errorf("got status %d, %v, want invalid_scope", status, out)
	}
	refresh.Set("client_id", "https://thief.example/c")
	if status, out := b.post(tokenPath, refresh); status != 400 || out["error"] != "invalid_grant" {
		t.Errorf("got status %d, %v, want invalid_grant", status, out)
	}
}

func (b *bench) register(body string) (int, map[string]any) {
	b.t.Helper()
	resp, err := http.Post(b.URL+registerPath, "application/json", strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	var out map[string]any
	json.NewDecoder(resp.Body).Decode(&out)
	return resp.StatusCode, out
}

func TestRegisteredProgramSignsIn(t *testing.T) {
	b := serve(t)
	status, out := b.register(`{"client_name":" My \n editor ","redirect_uris":["http://localhost:1/cb"],"grant_types":["authorization_code"]}`)
	if status != 201 || out["client_name"] != "My editor" || out["token_endpoint_auth_method"] != "none" {
		t.Fatalf("got status %d, %v, want My editor without a secret", status, out)
	}
	id := out["client_id"].(string)
	_, asked := b.ask(query("client_id", id, "redirect_uri", "http://localhost:9/cb"))
	c := asked.App
	if c.Name != "My editor" || c.ClientHost != "" || !c.IsLocal {
		t.Errorf("got app %+v, want My editor on this computer", c)
	}
	if q := b.connect(query("client_id", id, "redirect_uri", "http://localhost:9/cb"), allow); q.Get("code") == "" {
		t.Errorf("got %v, want a code", q)
	}
	for body, want := range map[string]string{
		`x`: "invalid_client_metadata", `{"redirect_uris":[]}`: "invalid_redirect_uri", `{"redirect_uris":["http://x.example/"]}`: "invalid_redirect_uri", `{"redirect_uris":["app://x"]}`: "invalid_redirect_uri",
		`{"redirect_uris":["https://*.example/"]}`: "invalid_redirect_uri", `{"redirect_uris":["https://x/"],"token_endpoint_auth_method":"client_secret_post"}`: "invalid_client_metadata",
		`{"redirect_uris":["https://x/` + strings.Repeat("x", maxDocument) + `"]}`: "invalid_client_metadata",
	} {
		if status, out := b.register(body); status != 400 || out["error"] != want {
			t.Errorf("%.60s: got status %d, %v, want %s", body, status, out, want)
		}
	}
}

func TestAHostThatAsksTooOftenIsSlowed(t *testing.T) {
	b := serve(t)
	last := 0
	for range burst + 5 {
		last, _ = b.register(`x`)
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("got status %d, want 429", last)
	}
}
