//go:build unix

package servers_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/apps"
	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/question"
	"fairlead/gateway/store"
	"fairlead/gateway/surface/bearer"
	"fairlead/gateway/surface/oauth"
)

// TestServersAtAnAddressWorkInBothErasOfTheProtocol uses servers of each, with a header that they
// require.
func TestServersAtAnAddressWorkInBothErasOfTheProtocol(t *testing.T) {
	h := startGateway(t)
	for name, o := range map[protocol.ServerName]*mcp.StreamableHTTPOptions{"stateful": {}, "stateless": {Stateless: true}} {
		dir := t.TempDir()
		server := newTestServer(dir)
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, o)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Key") != "secret-of-the-test" {
				http.Error(w, "no key", http.StatusForbidden)
				return
			}
			handler.ServeHTTP(w, r)
		}))
		t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
		h.add(name, protocol.ServerSpec{URL: s.URL + "/mcp", Headers: map[string]string{"X-Key": "secret-of-the-test"}})
		if got := h.status(name).Spec.Headers["X-Key"]; got != protocol.MaskedSecret {
			t.Errorf("got header %q in the list, want %q", got, protocol.MaskedSecret)
		}
		if got := h.invoke(protocol.ToolName(name+"__echo"), `{"text": "hello"}`); got != "hello" {
			t.Errorf("%s: got %s, want hello", name, got)
		}
		q, got := h.callAndAsk(protocol.ToolName(name+"__ask"), "")
		ask(h, protocol.QuestionAnswer, filled(q, map[string]any{"size": 2}))
		if r := <-got; r != "accept 2 <nil>" {
			t.Errorf("%s: got %q at the server, want accept 2", name, r)
		}
		h.invoke(protocol.ToolName(name+"__change"), `{"text": "Other."}`)
		h.until("the changed tool is taken away", func() bool { return !slices.Contains(h.tools(name), "echo") })
		// a masked value stays
		ask(h, protocol.ServerSet, protocol.ServerSetParams{Name: name, Spec: h.status(name).Spec})
		ask(h, protocol.ServerRestart, protocol.ServerParams{Name: name})
		h.until("it is ready again", func() bool {
			return strings.HasPrefix(h.invoke(protocol.ToolName(name+"__picture"), `{"text": ""}`), "a dot")
		})
	}
}

// TestTheTransportOf2024StillWorks uses a server whose address ends in /sse.
func TestTheTransportOf2024StillWorks(t *testing.T) {
	h := startGateway(t)
	server := newTestServer(t.TempDir())
	s := httptest.NewServer(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	h.add("old", protocol.ServerSpec{URL: s.URL + "/sse"})
	if got := h.invoke("old__echo", `{"text": "hello"}`); got != "hello" {
		t.Errorf("got %s, want hello", got)
	}
}

func TestAServerThatCannotBeReachedSaysWhy(t *testing.T) {
	h := startGateway(t)
	set := func(name protocol.ServerName, spec protocol.ServerSpec) {
		ask(h, protocol.ServerSet, protocol.ServerSetParams{Name: name, Spec: spec})
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		status, _ := strconv.Atoi(r.URL.Path[1:])
		w.WriteHeader(status)
	}))
	t.Cleanup(web.Close)
	key := map[string]string{"Authorization": "Bearer old"}
	for name, c := range map[protocol.ServerName]struct {
		spec protocol.ServerSpec
		want string
	}{
		"nobody": {protocol.ServerSpec{URL: "http://127.0.0.1:1/mcp"}, "nothing answers at 127.0.0.1:1"},
		"page":   {protocol.ServerSpec{URL: web.URL + "/200"}, "a web page is at this address"},
		"who":    {protocol.ServerSpec{URL: web.URL + "/401"}, "asks for a sign-in or a key"},
		"key":    {protocol.ServerSpec{URL: web.URL + "/401", Headers: key}, "does not accept the key"},
		"denied": {protocol.ServerSpec{URL: web.URL + "/403"}, "denies access"},
		"none":   {protocol.ServerSpec{URL: web.URL + "/404"}, "no MCP server answers at this address (status 404)"},
		"busy":   {protocol.ServerSpec{URL: web.URL + "/429"}, "too many requests"},
		"fault":  {protocol.ServerSpec{URL: web.URL + "/503"}, "a fault of its own (status 503)"},
	} {
		set(name, c.spec)
		if got := h.failure(name); !strings.Contains(got, c.want) || strings.Contains(got, "initialize") {
			t.Errorf("%s: the error is %q, want %q", name, got, c.want)
		}
		ask(h, protocol.ServerRemove, protocol.ServerParams{Name: name})
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect to another host was followed") }))
	t.Cleanup(elsewhere.Close)
	moved := httptest.NewServer(http.RedirectHandler(strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1), http.StatusTemporaryRedirect))
	t.Cleanup(moved.Close)
	set("moved", protocol.ServerSpec{URL: moved.URL + "/mcp", Headers: map[string]string{"X-Key": "secret-of-the-test"}})
	if got := h.failure("moved"); !strings.Contains(got, "redirects to http://localhost") {
		t.Errorf("got error %q, want the redirect", got)
	}
	set("missing", protocol.ServerSpec{Command: "no-such-program-here"})
	if got := h.failure("missing"); !strings.Contains(got, "no-such-program-here is not installed") {
		t.Errorf("got error %q, want that the command is not installed", got)
	}
	set("away", protocol.ServerSpec{Command: "x", Node: "tower"})
	h.untilState("away", protocol.ServerOffline)
	set("off", protocol.ServerSpec{Command: "x", Disabled: true})
	h.untilState("off", protocol.ServerDisabled)
	if _, err := client.Call(t.Context(), h.owner, protocol.ServerSet, protocol.ServerSetParams{Name: "laptop", Spec: protocol.ServerSpec{Command: "x"}}); err == nil {
		t.Error("a server has the name of a machine")
	}
	if got := h.invoke("missing__x", `{}`); !strings.Contains(got, "not connected") {
		t.Errorf("got %q, want that it is not connected", got)
	}
}

// TestThePersonSignsInWithTheBrowser uses Fairlead's own authorization server.
func TestThePersonSignsInWithTheBrowser(t *testing.T) {
	h := startGateway(t)
	as := newAuthServer(t)
	ask(h, protocol.ServerSet, protocol.ServerSetParams{Name: "web", Spec: protocol.ServerSpec{URL: as.url + "/mcp"}})
	h.untilState("web", protocol.ServerSignIn)
	address := ask(h, protocol.ServerSignInURL, protocol.ServerParams{Name: "web"}).URL
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("resource") != as.url+"/mcp" || !strings.HasPrefix(q.Get("redirect_uri"), "http://127.0.0.1:") {
		t.Errorf("got address %s, want the challenge, the resource and a local redirect", address)
	}
	// A program on this computer cannot end the sign-in without its state.
	if r, err := http.Get(q.Get("redirect_uri") + "?code=x&state=y"); err != nil || r.StatusCode != http.StatusNotFound {
		t.Errorf("a foreign return: %v %v", r, err)
	}
	as.consent(t, address)
	h.untilState("web", protocol.ServerReady)
	if got := h.invoke("web__echo", `{"text": "hello"}`); got != "hello" {
		t.Errorf("got %s, want hello", got)
	}
	// The sign-in survives a restart, and an access token that ended is renewed.
	as.revokeAccess()
	h.restart()
	h.untilState("web", protocol.ServerReady)
	if got := h.invoke("web__echo", `{"text": "again"}`); got != "again" {
		t.Errorf("got %s, want again", got)
	}
	// A sign-in that was revoked asks again.
	as.revokeAll(t)
	ask(h, protocol.ServerRestart, protocol.ServerParams{Name: "web"})
	h.untilState("web", protocol.ServerSignIn)
	ask(h, protocol.ServerRemove, protocol.ServerParams{Name: "web"})
}

// authServer is a server that needs a sign-in, and its authorization server.
type authServer struct {
	url       string
	apps      *apps.Apps
	questions *question.Queue

	mu     sync.Mutex // guards ended
	ended  map[string]bool
	issued map[string]bool
}

func newAuthServer(t *testing.T) *authServer {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "fairlead.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	as := &authServer{ended: make(map[string]bool), issued: make(map[string]bool)}
	as.questions = question.New(db.Questions, nil, new(event.Bus))
	access, err := apps.Open(t.Context(), db.Apps, new(event.Bus), func(context.Context, string) error { return protocol.ErrUnauthorized }, nil)
	if err != nil {
		t.Fatal(err)
	}
	base := func(r *http.Request) string { return "http://" + r.Host }
	as.apps = apps.New(apps.Options{Access: access, Questions: as.questions})
	guard := bearer.Guard{Verify: access.Verify, Base: base, Path: "/mcp"}
	server := newTestServer(t.TempDir())
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	mux := http.NewServeMux()
	signIn := oauth.New(oauth.Options{Apps: as.apps, Clients: db.Apps, Base: base, Path: "/mcp"})
	mux.Handle("/oauth/", signIn)
	mux.Handle("/.well-known/", signIn)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("Authorization")
		as.mu.Lock()
		as.issued[token] = true
		if as.ended[token] {
			r.Header.Set("Authorization", "Bearer ended")
		}
		as.mu.Unlock()
		if _, ok := guard.Authenticate(w, r); ok {
			handler.ServeHTTP(w, r)
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	as.url = s.URL
	return as
}

// consent opens an address as a browser does, and allows what it asks.
func (as *authServer) consent(t *testing.T, address string) {
	t.Helper()
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	visit := func(address string) string {
		t.Helper()
		r, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		return r.Header.Get("Location")
	}
	page := visit(address)
	list, err := as.questions.Pending(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("got %+v, error %v, want one question", list, err)
	}
	c := list[0].App
	if c.Name != "Fairlead" || !c.IsLocal {
		t.Errorf("got app %+v, want Fairlead on this computer", c)
	}
	if _, err := as.questions.Answer(t.Context(), auth.Owner("x"), filled(list[0], nil)); err != nil {
		t.Fatal(err)
	}
	visit(visit(as.url + page))
}

// revokeAccess ends the access tokens so far.
func (as *authServer) revokeAccess() {
	as.mu.Lock()
	defer as.mu.Unlock()
	for token := range as.issued {
		as.ended[token] = true
	}
}

// revokeAll ends the sign-in.
func (as *authServer) revokeAll(t *testing.T) {
	t.Helper()
	list, err := as.apps.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list.Apps {
		if err := as.apps.Revoke(t.Context(), "owner", a.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheClientDocumentIsPublicWithAnAddress reads the document that describes Fairlead as a
// client.
func TestTheClientDocumentIsPublicWithAnAddress(t *testing.T) {
	h := startGateway(t)
	address := "http" + strings.TrimSuffix(strings.TrimPrefix(h.gw.URL(), "ws"), "/ws") + "/oauth/client.json"
	read := func() (int, string) {
		t.Helper()
		r, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(raw)
	}
	if status, _ := read(); status != http.StatusNotFound {
		t.Errorf("without a public address: got status %d, want %d", status, http.StatusNotFound)
	}
	ask(h, protocol.ConfigSet, protocol.ConfigSetParams{Path: "api.publicUrl", Value: []byte(`"https://me.example/"`)})
	status, body := read()
	if status != http.StatusOK || !strings.Contains(body, `"client_id":"https://me.example/oauth/client.json"`) || !strings.Contains(body, `"http://127.0.0.1/callback"`) {
		t.Errorf("got status %d, %s, want the metadata of the client", status, body)
	}
}
