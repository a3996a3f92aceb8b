package mcp

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/crash"
)

// link is a connection of a relay with the gateway.
type link struct {
	*mcp.ClientSession
	lost <-chan struct{} // gets a value when a stream of notifications ended
}

// linkTransport adds a token to every request, and notices the end of streams of notifications, of
// which the SDK does not tell: the gateway was restarted, or the rights of the token have changed.
type linkTransport struct {
	token   string
	lost    chan struct{}          // capacity 1
	refusal atomic.Pointer[string] // status of the last response that was no answer of MCP, or nil
}

// RoundTrip implements http.RoundTripper.
func (t *linkTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+t.token)
	encodeName(r.Header)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && resp.StatusCode >= http.StatusBadRequest && !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		t.refusal.Store(&resp.Status)
	}
	if err == nil && (r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == methodListen && !listensToResource(r)) {
		resp.Body = &watchedBody{resp.Body, r.Context(), t.lost}
	}
	return resp, err
}

// listensToResource reports whether a request to listen is for one resource. Its stream also ends
// when the gateway refuses the resource. The stream for the lists ends with every lost connection.
func listensToResource(r *http.Request) bool {
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	raw, err := io.ReadAll(body)
	return err == nil && bytes.Contains(raw, []byte(`"resourceSubscriptions"`))
}

// watchedBody reports its end, unless the reader wanted it.
type watchedBody struct {
	io.ReadCloser
	ctx  context.Context // of the request
	lost chan<- struct{}
}

// Read implements io.Reader.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && b.ctx.Err() == nil {
		select {
		case b.lost <- struct{}{}:
		default:
		}
	}
	return n, err
}

// Pauses between attempts to connect again.
const (
	firstPause = 500 * time.Millisecond
	maxPause   = 30 * time.Second
)

// stayConnected connects again after the connection was lost, until ctx ends.
func (r *relay) stayConnected(ctx context.Context) {
	var closing crash.Group // a connection closes when its calls have ended
	defer closing.Wait()
	for {
		r.mu.Lock()
		before := r.current
		r.mu.Unlock()
		select {
		case <-before.lost:
		case <-ctx.Done():
			return
		}
		for pause := firstPause; r.reconnect(ctx) != nil; pause = min(2*pause, maxPause) {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
		}
		closing.Go(func() { before.Close() }) // not earlier: the next call must find an open connection
	}
}

// reconnect replaces the connection, subscribes again, and reports to the client what may have
// changed meanwhile.
func (r *relay) reconnect(ctx context.Context) error {
	next, err := r.dial(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.current = next
	watched := slices.Sorted(maps.Keys(r.watched))
	r.mu.Unlock()
	for _, uri := range watched {
		if r.watch(ctx, next.ClientSession, uri) != nil { // it may not exist any more
			r.mu.Lock()
			delete(r.watched, uri)
			r.mu.Unlock()
		}
	}
	r.list(ctx) // it fails when the connection is lost again, which is noticed
	for _, uri := range watched {
		r.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri})
	}
	return nil
}
