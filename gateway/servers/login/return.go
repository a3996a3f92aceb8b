package login

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"fairlead/gateway/peer/crash"
)

// returnPath is where the browser returns to.
const returnPath = "/callback"

// returned is what the browser brought.
type returned struct {
	auth.AuthorizationResult
	problem string
}

// browserReturn serves the address to which the browser returns after a sign-in.
type browserReturn struct {
	server  *http.Server
	state   atomic.Pointer[string] // of the sign-in; other visits are refused
	results chan returned          // the first one
	done    chan struct{}
}

func newReturn(l net.Listener) *browserReturn {
	b := &browserReturn{results: make(chan returned, 1), done: make(chan struct{})}
	b.server = &http.Server{Handler: http.HandlerFunc(b.serve), ReadHeaderTimeout: 10 * time.Second}
	crash.Go(func() {
		defer close(b.done)
		_ = b.server.Serve(l) // ends with close
	})
	return b
}

// close answers the browser that is being served, and closes the port.
func (b *browserReturn) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if b.server.Shutdown(ctx) != nil {
		b.server.Close()
	}
	<-b.done
}

func (b *browserReturn) serve(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	state := b.state.Load()
	if r.URL.Path != returnPath || state == nil || q.Get("state") != *state {
		http.NotFound(w, r)
		return
	}
	out := returned{AuthorizationResult: auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}}
	text := "You are signed in. You can close this page and go back to Fairlead."
	if out.Code == "" {
		out.problem = strings.TrimSpace(q.Get("error") + " " + q.Get("error_description"))
		text = "The sign-in did not succeed. Go back to Fairlead to try again."
	}
	select {
	case b.results <- out:
	default: // a second visit of the page
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	fmt.Fprintln(w, text)
}
