package gateway_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/net/http2"

	"fairlead/gateway/protocol"
)

// publishOverTLS publishes an app without a sign-in at a port for other computers, and returns its
// address and a browser that has an open HTTP/2 connection to it.
func publishOverTLS(t *testing.T, app http.Handler) (address string, b *http.Client) {
	t.Helper()
	f := newForwarding(t)
	srv := httptest.NewServer(app)
	t.Cleanup(srv.Close)
	for path, value := range map[string]any{"services.networkPorts": true, "network.listen": "127.0.0.1:0", "network.enabled": true} {
		ask(f.accessGateway, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: protocol.Encode(value)})
	}
	publishes := f.tool("service_publish", fmt.Sprintf(`{"node_id":"laptop","proxy_target_url":%q,"auth_required":false}`, srv.URL))
	f.decide(protocol.DecisionAllow)
	var service struct {
		URL string `json:"public_url"`
	}
	if r := publishes(); json.Unmarshal(r.Data, &service) != nil || r.Fault != nil {
		t.Fatalf("got %s, %v; want the service", r.Data, r.Fault)
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, ExpectContinueTimeout: time.Minute,
	}
	t.Cleanup(transport.CloseIdleConnections)
	b = &http.Client{Transport: transport}
	res, err := b.Get(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if !strings.HasPrefix(service.URL, "https://127.0.0.1:") || res.ProtoMajor != 2 {
		t.Fatalf("got %s over %s, want a port over HTTP/2", service.URL, res.Proto)
	}
	return service.URL, b
}

// TestAWebSocketReachesAnAppWhoseListenerSpeaksHTTP2 opens one as browsers do: the listener does
// not offer WebSockets over HTTP/2 (RFC 8441), so they open a connection of its own for HTTP/1.1.
func TestAWebSocketReachesAnAppWhoseListenerSpeaksHTTP2(t *testing.T) {
	var up websocket.Upgrader
	address, _ := publishOverTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !websocket.IsWebSocketUpgrade(r) {
			return
		}
		c, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		for {
			kind, data, err := c.ReadMessage()
			if err != nil || c.WriteMessage(kind, append([]byte("echo "), data...)) != nil {
				return
			}
		}
	}))
	raw, err := tls.Dial("tcp", strings.TrimPrefix(address, "https://"), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	framer := http2.NewFramer(raw, raw)
	if _, err := io.WriteString(raw, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	frame, err := framer.ReadFrame()
	settings, ok := frame.(*http2.SettingsFrame)
	if err != nil || !ok {
		t.Fatalf("got %v, %v; want settings", frame, err)
	}
	if on, _ := settings.Value(http2.SettingEnableConnectProtocol); on != 0 {
		t.Error("WebSockets over HTTP/2 are offered, want only what the proxy can pass on")
	}

	dialer := websocket.Dialer{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}}
	c, res, err := dialer.Dial("wss"+strings.TrimPrefix(address, "https")+"/ws", http.Header{"Origin": {address}})
	if err != nil {
		t.Fatalf("got %v, %v; want a WebSocket", res, err)
	}
	defer c.Close()
	if err := c.WriteMessage(websocket.TextMessage, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, data, err := c.ReadMessage(); string(data) != "echo hello" {
		t.Errorf("got %q, %v; want the answer of the app", data, err)
	}
}

// TestTrailersAndContinueOverHTTP2 sends trailers both ways, and uploads for which the app asks, or
// not.
func TestTrailersAndContinueOverHTTP2(t *testing.T) {
	address, b := publishOverTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refuse" {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		w.Header().Set("Trailer", "Got")
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n)
		w.Header().Set("Got", r.Trailer.Get("Sum"))
	}))
	upload := func(path string, body io.Reader) (r *http.Request, asked *bool) {
		asked = new(bool)
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { *asked = true }})
		r, err := http.NewRequestWithContext(ctx, "POST", address+path, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Expect", "100-continue")
		r.Trailer = http.Header{"Sum": nil}
		return r, asked
	}
	var r *http.Request
	big := io.MultiReader(bytes.NewReader(make([]byte, 3<<20)), readFunc(func([]byte) (int, error) {
		r.Trailer.Set("Sum", "1234")
		return 0, io.EOF
	}))
	r, asked := upload("/take", big)
	res, err := b.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(res.Body)
	res.Body.Close()
	if res.ProtoMajor != 2 || string(data) != fmt.Sprint(3<<20) || err != nil || !*asked {
		t.Errorf("got %s, %q, %v (asked for the upload: %v); want all of it over HTTP/2 after 100", res.Proto, data, err, *asked)
	}
	if got := res.Trailer.Get("Got"); got != "1234" {
		t.Errorf("got the trailer %q, want that of the upload in that of the answer", got)
	}

	// Over HTTP/2, net/http does not tell the proxy that a client waits for 100, so an upload begins
	// before the app is asked. This one never ends by itself.
	stopped := make(chan struct{})
	endless := &endlessUpload{onClose: func() { close(stopped) }}
	r, _ = upload("/refuse", endless)
	if res, err = b.Do(r); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("got %s, want the refusal of the app", res.Status)
	}
	receiveFrom(t, stopped)
}

// endlessUpload is a body that never ends.
type endlessUpload struct {
	zeros
	onClose func()
	once    sync.Once
}

func (e *endlessUpload) Close() error {
	e.once.Do(e.onClose)
	return nil
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
