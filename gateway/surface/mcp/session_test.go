package mcp

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/surface/bearer"
	"fairlead/gateway/surface/surfacetest"
)

const listTools = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`

// open opens a session without a stream of notifications.
func (b *bench) open(t *testing.T, token string) (session string) {
	t.Helper()
	resp, body := post(t, b, token, "", initialize)
	if session = resp.Header.Get("Mcp-Session-Id"); session == "" {
		t.Fatalf("got status %d, %s, want a session", resp.StatusCode, body)
	}
	return session
}

func TestSessionWithoutRequestsExpires(t *testing.T) {
	b := serve(t)
	// This one only listens; the SDK's client opens the stream in the background.
	watcher := watch(t, b, "all", true, "fairlead://journal")
	polltest.Until(t, "a client that listens", func() bool {
		b.mcp.mu.Lock()
		defer b.mcp.mu.Unlock()
		for _, r := range b.mcp.requests {
			if r.isStream {
				return true
			}
		}
		return false
	})
	used, unused := b.open(t, "other"), b.open(t, "other")
	now := time.Now()
	for _, after := range []time.Duration{0, sessionTime - time.Minute} {
		b.mcp.expire(now.Add(after))
		if resp, _ := post(t, b, "other", used, listTools); resp.StatusCode != 200 {
			t.Fatalf("after %v: got status %d, want 200", after, resp.StatusCode)
		}
	}
	b.mcp.expire(now.Add(sessionTime + time.Minute))
	for session, want := range map[string]int{used: 200, unused: 404} {
		if resp, _ := post(t, b, "other", session, listTools); resp.StatusCode != want {
			t.Errorf("got %d, want %d", resp.StatusCode, want)
		}
	}
	if _, err := watcher.ListTools(t.Context(), nil); err != nil {
		t.Errorf("the client that listens: %v", err)
	}
	b.bus.Publish(call("a", protocol.CallDone))
	if got := watcher.next(t); got != "fairlead://journal" {
		t.Errorf("got %s, want fairlead://journal", got)
	}
}

func TestClientWithoutSessionsIsForgotten(t *testing.T) {
	b := serve(t)
	s := b.connect(t, "all", nil, true)
	b.connect(t, "reader", nil, false)
	// The server of a request of the newest version ends a moment after its answer.
	polltest.Until(t, "only the client with a session", func() bool {
		b.mcp.expire(time.Now().Add(sessionTime + time.Minute))
		list := b.mcp.all()
		return len(list) == 1 && list[0].principal.App == "app_all"
	})
	if _, err := s.ListTools(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// send makes a request without a body for a session.
func (b *bench) send(ctx context.Context, t *testing.T, method, token, session string) *http.Response {
	t.Helper()
	return surfacetest.Request(ctx, t, method, b.URL+"/mcp", "",
		"Authorization", "Bearer "+token, "Mcp-Session-Id", session, "Accept", "text/event-stream", "MCP-Protocol-Version", "2025-11-25")
}

func TestSessionIsEndedByItsOwnTokenOnly(t *testing.T) {
	b := serve(t)
	session := b.open(t, "all")
	b.send(t.Context(), t, http.MethodDelete, "other", session)
	if resp, _ := post(t, b, "all", session, listTools); resp.StatusCode != 200 {
		t.Errorf("after the other token: got status %d, want 200", resp.StatusCode)
	}
	b.send(t.Context(), t, http.MethodDelete, "all", session)
	if resp, _ := post(t, b, "all", session, listTools); resp.StatusCode != 404 {
		t.Errorf("after its own token: got status %d, want 404", resp.StatusCode)
	}
}

// listener is a stream of notifications.
type listener struct {
	ctx   context.Context
	ended chan error
}

// listen opens a stream with a body, or that of a session without one.
func (b *bench) listen(t *testing.T, body string) *listener {
	t.Helper()
	l := &listener{ended: make(chan error, 1)}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	l.ctx = ctx
	var resp *http.Response
	if body == "" {
		resp = b.send(ctx, t, http.MethodGet, "all", b.open(t, "all"))
	} else {
		resp = listenWith(ctx, t, b, "all", body)
	}
	go func() {
		_, err := io.Copy(io.Discard, resp.Body)
		l.ended <- err
	}()
	return l
}

// end fails the test unless the stream ends.
func (l *listener) end(t *testing.T) {
	t.Helper()
	if <-l.ended; l.ctx.Err() != nil {
		t.Error("the stream goes on")
	}
}

func TestStreamEndsWhenItsTokenChanges(t *testing.T) {
	for name, scopes := range map[string]map[string][]protocol.Scope{"revoked": {}, "fewer rights": {"all": {protocol.ScopeNetworkRead}}} {
		t.Run(name, func(t *testing.T) {
			b := serve(t)
			l := b.listen(t, "")
			b.bus.Publish(protocol.Change{Kind: protocol.ChangeApps}) // of another app
			select {
			case <-l.ended:
				t.Fatal("the stream ended too early")
			case <-time.After(100 * time.Millisecond):
			}
			b.scopes.Store(&scopes)
			b.bus.Publish(protocol.Change{Kind: protocol.ChangeApps})
			l.end(t)
		})
	}
}

// An expired token publishes no change. However a stream was requested, it is known to be one.
func TestStreamEndsWhenItsTokenExpires(t *testing.T) {
	const params = `"params":{"notifications":{"resourcesListChanged":true},` + modernMeta + `}}`
	for name, body := range map[string]string{
		"session": "", "request": `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen",` + params,
		"another case": `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","METHOD":"ping",` + params,
		"twice":        `{"jsonrpc":"2.0","id":1,"method":"ping","method":"subscriptions/listen","Method":"ping",` + params,
	} {
		t.Run(name, func(t *testing.T) {
			b := serve(t)
			l := b.listen(t, body)
			b.scopes.Store(&map[string][]protocol.Scope{})
			b.mcp.sweep(time.Now())
			l.end(t)
		})
	}
}

func TestSessionsAndStreamsOfATokenAreLimited(t *testing.T) {
	b := serve(t)
	session := ""
	for range maxOpen {
		session = b.open(t, "all")
	}
	if resp, body := post(t, b, "all", "", initialize); resp.StatusCode != http.StatusTooManyRequests || !strings.Contains(body, "resource_exhausted") {
		t.Errorf("one more session: got status %d, %s, want 429", resp.StatusCode, body)
	}
	if resp, body := post(t, b, "all", session, listTools); resp.StatusCode != 200 {
		t.Errorf("an open session: got status %d, %s, want 200", resp.StatusCode, body)
	}
	b.open(t, "other")
	b.send(t.Context(), t, http.MethodDelete, "all", session)
	session = b.open(t, "all")
	const body = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true},` + modernMeta + `}}`
	for range maxOpen {
		if resp := listenWith(t.Context(), t, b, "all", body); resp.StatusCode != 200 {
			t.Fatalf("a stream: got status %d, want 200", resp.StatusCode)
		}
	}
	if resp := listenWith(t.Context(), t, b, "all", body); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("one more stream: got status %d, want 429", resp.StatusCode)
	}
	if resp := b.send(t.Context(), t, http.MethodGet, "all", session); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("one more stream of a session: got status %d, want 429", resp.StatusCode)
	}
}

func TestTokenAndScopesAreChecked(t *testing.T) {
	b := serve(t)
	for token, want := range map[string]string{
		"":      `Bearer resource_metadata="` + b.URL + `/.well-known/oauth-protected-resource/mcp"`,
		"wrong": `Bearer error="invalid_token", resource_metadata="` + b.URL + `/.well-known/oauth-protected-resource/mcp"`,
	} {
		if resp, _ := post(t, b, token, "", initialize); resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") != want {
			t.Errorf("%q: got status %d, %q, want 401, %q", token, resp.StatusCode, resp.Header.Get("WWW-Authenticate"), want)
		}
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"file","arguments":{"op":"batch","ops":[{"op":"stat"},{"op":"write"}]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	resp, body := post(t, b, "reader", "", call)
	if want := `Bearer error="insufficient_scope", scope="fs.read fs.write", resource_metadata="` + b.URL + `/.well-known/oauth-protected-resource/mcp"`; resp.StatusCode != 403 || resp.Header.Get("WWW-Authenticate") != want {
		t.Errorf("got status %d, %q, %s, want 403, %q", resp.StatusCode, resp.Header.Get("WWW-Authenticate"), body, want)
	}
	if resp, _ := post(t, b, "all", "", `{"x":"`+strings.Repeat("x", bearer.MaxBody)+`"}`); resp.StatusCode != 413 {
		t.Errorf("a large body: got status %d, want 413", resp.StatusCode)
	}
}

func TestSessionBelongsToItsToken(t *testing.T) {
	b := serve(t)
	resp, body := post(t, b, "all", "", initialize)
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != 200 || id == "" || resp.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("got status %d, %s, headers %v, want a session without buffering", resp.StatusCode, body, resp.Header)
	}
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if resp, body := post(t, b, "other", id, list); resp.StatusCode == 200 && strings.Contains(body, "whoami") {
		t.Errorf("another token: got %s, want an error", body)
	}
	if resp, body := post(t, b, "all", id, list); resp.StatusCode != 200 || !strings.Contains(body, "whoami") {
		t.Errorf("its own token: got status %d, %s, want the tools", resp.StatusCode, body)
	}
	if resp, _ := post(t, b, "all", "unknown", list); resp.StatusCode != 404 {
		t.Errorf("an unknown session: got status %d, want 404", resp.StatusCode)
	}
}
