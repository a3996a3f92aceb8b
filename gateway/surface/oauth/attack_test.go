package oauth

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func TestDocumentsAreReadFromPublicAddressesOnly(t *testing.T) {
	inside := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a private address was reached") }))
	defer inside.Close()
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "none.invalid"} {
		// Nobody learns from the answer what the gateway can reach.
		if _, err := FetchDocument(t.Context(), strings.Replace(inside.URL, "127.0.0.1", host, 1)+"/c"); !errors.Is(err, errUnreachable) || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: got error %v, want %v without an address", host, err, errUnreachable)
		}
	}
}

func TestDocumentsAreLimited(t *testing.T) {
	// The time limit of a request ends while its server does not answer.
	var cut context.CancelFunc
	var ended chan struct{} // closed when the request has ended
	mux := http.NewServeMux()
	s := httptest.NewTLSServer(mux)
	defer s.Close()
	mux.HandleFunc("/good", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{}`)) })
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/target", http.StatusFound) })
	mux.HandleFunc("/target", func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") })
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, maxDocument+1)) })
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write(make([]byte, 1<<20))
		z.Close()
	})
	mux.HandleFunc("/silent", func(http.ResponseWriter, *http.Request) {
		over := ended
		cut()
		<-over
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`{`))
		http.NewResponseController(w).Flush()
		over := ended
		cut()
		<-over
	})
	fetch := func(path string) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cut, ended = cancel, make(chan struct{})
		defer close(ended)
		_, err := fetchDocument(ctx, s.Client().Transport, s.URL+path)
		return err
	}
	if err := fetch("/good"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/redirect": errUnreachable.Error(), "/large": "more than 10240 bytes", "/bomb": "more than 10240 bytes", "/silent": errUnreachable.Error(), "/slow": errUnreachable.Error(), "/none": "404",
	} {
		if err := fetch(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q in it", path, err, want)
		}
	}
}

// Letters of other alphabets look like the host that the person trusts.
func TestHostsThatDeceiveThePersonAreRefused(t *testing.T) {
	b := serve(t)
	for _, host := range []string{"еditor.example", "%D0%B5ditor.example", "editor.example%2f.thief.example", "editor․example"} {
		id := "https://" + host + "/c"
		b.docs[id] = `{"client_id":"` + id + `","redirect_uris":["http://127.0.0.1/callback"]}`
		if resp, _ := b.get(authorizePath + "?" + query("client_id", id).Encode()); resp.StatusCode != 400 {
			t.Errorf("published by %s: got status %d, want 400", host, resp.StatusCode)
		}
		if status, out := b.register(`{"redirect_uris":["https://` + host + `/"]}`); status != 400 || out["error"] != "invalid_redirect_uri" {
			t.Errorf("returns to %s: got status %d, %v, want 400, invalid_redirect_uri", host, status, out)
		}
	}
	b.docs["https://editor.example:8443/c"] = `{"client_id":"https://editor.example:8443/c","client_name":"Edi\u202etor\u001b[2J\n","redirect_uris":["http://127.0.0.1/callback"]}`
	if _, asked := b.ask(query("client_id", "https://editor.example:8443/c")); asked.App.ClientHost != "editor.example:8443" || asked.App.Name != "Editor" {
		t.Errorf("got app %+v, want the host and a name without control characters", asked.App)
	}
}

// A gateway with a public address must not lead browsers to any site that has a client document.
func TestErrorsDoNotLeadToWebSites(t *testing.T) {
	b := serve(t)
	b.docs["https://thief.example/c"] = `{"client_id":"https://thief.example/c","redirect_uris":["https://thief.example/fake-sign-in","http://127.0.0.1/x"]}`
	ask := func(changes ...string) *http.Response {
		resp, _ := b.get(authorizePath + "?" + query(append([]string{"client_id", "https://thief.example/c"}, changes...)...).Encode())
		return resp
	}
	for name, change := range map[string]string{"response_type": "token", "code_challenge": "x", "code_challenge_method": "plain", "resource": "https://other.example"} {
		if resp := ask("redirect_uri", "https://thief.example/fake-sign-in", name, change); resp.StatusCode != 400 || resp.Header.Get("Location") != "" {
			t.Errorf("%s: got status %d, %s, want 400 without a redirect", name, resp.StatusCode, resp.Header.Get("Location"))
		}
		if resp := ask("redirect_uri", "http://127.0.0.1:7/x", name, change); resp.StatusCode != 302 || !strings.HasPrefix(resp.Header.Get("Location"), "http://127.0.0.1:7/x?error=") {
			t.Errorf("%s, a program on this computer: got status %d, %s, want a redirect with the error", name, resp.StatusCode, resp.Header.Get("Location"))
		}
	}
}

func TestWebPageCannotAskThePersonUnseen(t *testing.T) {
	b := serve(t)
	ask := func(header, value string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.URL+authorizePath+"?"+query().Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(header, value)
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for _, to := range []string{"image", "iframe", "frame", "script", "empty", "object"} {
		if got := ask("Sec-Fetch-Dest", to); got != 400 {
			t.Errorf("as %s: got status %d, want 400", to, got)
		}
	}
	if got := ask("Sec-Purpose", "prefetch"); got != 400 {
		t.Errorf("before the person clicked: got status %d, want 400", got)
	}
	if list := b.pending(); len(list) != 0 {
		t.Errorf("got questions %+v, want none", list)
	}
	if got := ask("Sec-Fetch-Dest", "document"); got != 302 {
		t.Errorf("in a window: got status %d, want 302", got)
	}
}

func TestRegistrationsDoNotBlockOthers(t *testing.T) {
	b := serve(t)
	for i := range maxClients {
		c := store.AppClient{ID: fmt.Sprint("client_", i), RedirectURIs: []string{"http://localhost/"}, CreatedAt: time.Now().UnixMilli() + int64(i)}
		if i == 0 {
			c.UsedAt = c.CreatedAt
		}
		if err := b.db.PutClient(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if status, out := b.register(`{"redirect_uris":["http://localhost/"]}`); status != 201 {
		t.Fatalf("got status %d, %v, want 201", status, out)
	}
	list, err := b.db.Clients(t.Context())
	if err != nil || len(list) != maxClients || list[0].ID != "client_0" || list[1].ID != "client_2" {
		t.Errorf("got %d clients, first %s and %s, error %v, want %d without client_1", len(list), list[0].ID, list[1].ID, err, maxClients)
	}
}

// Who presents a code first cannot be told from a thief, so that a second use ends both.
func TestCodeUsedByAThiefRevokesTheAccess(t *testing.T) {
	b := serve(t)
	_, before := b.post(tokenPath, form(b.connect(query(), allow).Get("code")))
	for name, changes := range map[string][]string{"another client": {"client_id", "https://thief.example/c"}, "another verifier": {"code_verifier", strings.Repeat("x", 46)}} {
		code := b.connect(query(), allow).Get("code")
		if status, _ := b.post(tokenPath, form(code, changes...)); status != 400 {
			t.Errorf("%s: got status %d, want 400", name, status)
		}
		if status, out := b.post(tokenPath, form(code)); status != 400 || out["error"] != "invalid_grant" {
			t.Errorf("%s, the app itself: got status %d, %v, want invalid_grant", name, status, out)
		}
	}
	if _, err := b.access.Verify(t.Context(), before["access_token"].(string), ""); err == nil {
		t.Error("the access goes on")
	}
	if status, out := b.post(tokenPath, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {before["refresh_token"].(string)}, "client_id": {editor}}); status != 400 || out["error"] != "invalid_grant" {
		t.Errorf("renewed: got status %d, %v, want invalid_grant", status, out)
	}
}

func TestStolenRefreshTokenEndsEveryTokenOfTheApp(t *testing.T) {
	b := serve(t)
	_, first := b.post(tokenPath, form(b.connect(query(), allow).Get("code")))
	refresh := func(token any) (int, map[string]any) {
		return b.post(tokenPath, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token.(string)}, "client_id": {editor}})
	}
	_, second := refresh(first["refresh_token"])
	if status, out := refresh(first["refresh_token"]); status != 400 || out["error"] != "invalid_grant" {
		t.Errorf("used twice: got status %d, %v, want invalid_grant", status, out)
	}
	for _, out := range []map[string]any{first, second} {
		if _, err := b.access.Verify(t.Context(), out["access_token"].(string), ""); err == nil {
			t.Error("an access token still works")
		}
	}
	if status, _ := refresh(second["refresh_token"]); status != 400 {
		t.Errorf("the newest refresh token: got status %d, want 400", status)
	}
	list, _ := b.apps.List(t.Context())
	if len(list.Apps) != 1 || list.Apps[0].RevokedAt == 0 || list.Apps[0].Kind != protocol.AppOAuth {
		t.Errorf("got %+v, want one revoked app", list.Apps)
	}
}

func TestSecondSignInDoesNotWidenTheFirst(t *testing.T) {
	b := serve(t)
	signIn := func(scope string) string {
		status, out := b.post(tokenPath, form(b.connect(query("scope", scope), allow).Get("code")))
		if status != 200 || out["scope"] != scope {
			t.Fatalf("got %d %v, want the scope %s", status, out, scope)
		}
		return out["access_token"].(string)
	}
	first, second := signIn("fs.read"), signIn("shell.exec")
	for token, want := range map[string]protocol.Scope{first: protocol.ScopeFilesRead, second: protocol.ScopeShell} {
		p, err := b.access.Verify(t.Context(), token, b.URL+"/mcp")
		if err != nil || !p.Has(want) || p.Has(protocol.ScopeFilesRead) && p.Has(protocol.ScopeShell) {
			t.Errorf("got %v, %v, want only %s", p.Scopes, err, want)
		}
	}
}
