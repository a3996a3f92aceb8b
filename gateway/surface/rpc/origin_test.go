package rpc

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/gorilla/websocket"

	"fairlead/gateway/auth"
)

// TestOtherHostsAndPagesAreRefused uses the gateway's check: neither a name that somebody's DNS
// resolves to this machine nor a page from elsewhere gets through on either address. Within the
// process nothing is checked.
func TestOtherHostsAndPagesAreRefused(t *testing.T) {
	services := newFakes().services()
	services.Web.CheckOrigin = func(r *http.Request) error { return auth.CheckOrigin(r, "boat.example") }
	b, stop := openWith(services)
	defer stop()
	for _, c := range []struct {
		host, origin string
		health, ws   int
	}{
		{"127.0.0.1:8787", "", 200, 101},
		{"[::1]:8787", "", 200, 101},
		{"localhost:8787", "http://localhost:5173", 200, 101},
		{"boat.example:8787", "https://boat.example", 200, 101},
		{"rebound.example", "", 403, 403},
		{"localhost.rebound.example", "", 403, 403},
		{"localhost:8787", "http://rebound.example", 403, 403},
		{"localhost:8787", "null", 403, 403},
	} {
		for path, want := range map[string]int{"/health": c.health, "/ws": c.ws} {
			t.Run(path, func(t *testing.T) {
				if got := status(t, b.public, c.host, c.origin, path); got != want {
					t.Errorf("%s for host %s, origin %q: %d, want %d", path, c.host, c.origin, got, want)
				}
			})
		}
	}
	if got := status(t, b.owner, "gateway", "", "/ws"); got != http.StatusSwitchingProtocols {
		t.Errorf("the owner: got status %d, want %d", got, http.StatusSwitchingProtocols)
	}
}

// status returns the status of the response to one request.
func status(t *testing.T, dial func(context.Context) (net.Conn, error), host, origin, path string) int {
	t.Helper()
	header := http.Header{"Host": {host}}
	if origin != "" {
		header.Set("Origin", origin)
	}
	if path == "/ws" {
		d := websocket.Dialer{NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
		ws, res, err := d.DialContext(t.Context(), "ws://gateway/ws", header)
		if err == nil {
			ws.Close()
		}
		if res == nil {
			t.Fatalf("got %v; want a res", err)
		}
		return res.StatusCode
	}
	hc := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }, DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://gateway"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host, req.Header = host, header
	res, err := hc.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}
