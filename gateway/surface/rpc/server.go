// Package rpc serves the WebSocket protocol of docs/protocol.md: handshake, methods and events.
//
// A connection has one goroutine that reads, one that writes, one that pushes events, and one for
// each request in progress. Every request is answered exactly once. Requests of a client run
// concurrently, except chat.send, which runs in the order of arrival. Reports of a node are handled
// in order, so that progress never overtakes a result.
//
// Rules that GSV does not have: every method has a scope, a node may call only the methods that a
// node needs, a second connect is refused, a socket without a handshake is closed, and a 401
// response is sent before its close.
//
// Clients that subscribe to the feed get numbered changes. Other clients get chat events, with the
// session key in the spelling that they used themselves, because clients of GSV compare it as text.
// A client that reads too slowly must subscribe again, or is closed if it has no feed; it never
// blocks another client.
//
// The conversations in testdata show the messages of every method and every error code.
package rpc

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
	"fairlead/gateway/signin"
	"fairlead/gateway/surface/bearer"
)

// Server serves GET /ws and GET /health. It is safe for concurrent use.
type Server struct {
	watches  *watches
	services Services
	methods  methods
	upgrader websocket.Upgrader
	refusals refusals
	pairing  pairingLimit
	accepted atomic.Uint64 // number of connections so far

	conns *Connections
}

// New returns a server.
func New(s Services) *Server {
	srv := &Server{services: s, conns: s.Connections, watches: &watches{nodes: s.Nodes, open: make(map[string]watch)}, refusals: refusals{audit: s.Records.Audit.Append}, pairing: pairingLimit{hosts: make(map[string]int)}}
	srv.upgrader = websocket.Upgrader{
		ReadBufferSize: 16 << 10, WriteBufferSize: 16 << 10, WriteBufferPool: new(sync.Pool),
		// ServeHTTP checks it, with a response that gives the reason
		CheckOrigin: func(*http.Request) bool { return true },
	}
	srv.methods = newMethods(s, srv.watches, s.Connections.background)
	return srv
}

// ServeHTTP serves the network: every peer needs the token.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.serve(w, r, nil) }

// Owner serves connections that only this process can make, with the rights of the owner.
func (s *Server) Owner() http.Handler {
	owner := auth.Owner("this computer")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, &owner) })
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, trusted *auth.Principal) {
	if name, ok := service.NameIn(r.Host); ok && trusted == nil && r.TLS == nil && s.services.Web.Site != nil {
		s.services.Web.Site.ServeName(name, w, r)
		return
	}
	if service.RefuseAllForwarded(w, r) {
		return
	}
	err := crash.Run(r.Method+" "+r.URL.Path, func() { s.route(w, r, trusted) })
	if err != nil { // it has no effect on an answer that has begun
		bearer.Fail(w, http.StatusInternalServerError, protocol.NewFault(protocol.FaultInternal, err.Error()))
	}
}

func (s *Server) route(w http.ResponseWriter, r *http.Request, trusted *auth.Principal) {
	if trusted == nil && r.TLS == nil {
		if err := s.services.Web.CheckOrigin(r); err != nil {
			bearer.Fail(w, http.StatusForbidden, protocol.NewFault(protocol.FaultForbidden, err.Error()))
			return
		}
	}
	switch {
	case r.TLS != nil && s.network(w, r):
	case strings.HasPrefix(r.URL.Path, "/install") && s.services.Web.Install != nil:
		s.services.Web.Install.ServeHTTP(w, r)
	case s.services.Web.Programs != nil && isForPrograms(r.URL.Path):
		s.services.Web.Programs.ServeHTTP(w, r)
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.URL.Path == "/health":
		w.Header().Set("Content-Type", "application/json")
		if s.services.Web.Ready != nil && !s.services.Web.Ready() {
			w.WriteHeader(http.StatusServiceUnavailable)
			w.Write([]byte(`{"status":"starting"}`))
			return
		}
		w.Write([]byte(`{"status":"healthy"}`))
	case r.URL.Path == signin.CallbackPath && r.TLS == nil && trusted == nil && s.services.Web.Site != nil:
		s.services.Web.Site.ServeCallback(w, r)
	case r.URL.Path == "/ws" && websocket.IsWebSocketUpgrade(r):
		ws, err := s.upgrader.Upgrade(w, r, nil)
		if err != nil {
			return // Upgrade has sent the response
		}
		from, ok := originOf(r, trusted)
		c := newConn(s, ws, from)
		if !ok || !s.conns.add(c) {
			ws.Close()
			return
		}
		defer s.conns.remove(c)
		c.run()
	case (r.URL.Path == "/"+protocol.TunnelPath || r.URL.Path == "/"+protocol.TerminalPath) && websocket.IsWebSocketUpgrade(r):
		s.tunnel(w, r, trusted)
	case r.URL.Path == "/ws", r.URL.Path == "/"+protocol.TunnelPath, r.URL.Path == "/"+protocol.TerminalPath:
		http.Error(w, "this address speaks WebSocket", http.StatusUpgradeRequired)
	default:
		http.NotFound(w, r)
	}
}

// isForPrograms reports whether a path belongs to MCP, REST or their sign-in.
func isForPrograms(path string) bool {
	for _, prefix := range []string{"/mcp", "/api", "/oauth", "/.well-known"} {
		if rest, ok := strings.CutPrefix(path, prefix); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// Serve accepts connections from l until ctx ends; Close closes the open ones. When owner is set,
// connections over l have the owner's rights.
func (s *Server) Serve(ctx context.Context, l net.Listener, owner bool) error {
	h := service.RefuseForwarded(s)
	if owner {
		h = s.Owner()
	}
	srv := httpServer(h)
	done := crash.Result(func() error { return srv.Serve(l) })
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		srv.Close()
		<-done
	}
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return err
}

// Time limits of connections that are not WebSockets, which anybody can open. WebSockets have their
// own limits.
const (
	headerLimit   = 10 * time.Second
	requestLimit  = 30 * time.Second
	idleHTTPLimit = 30 * time.Second
	// responseLimit lets a new machine download a program over a slow network.
	responseLimit = 30 * time.Minute
	// maxHeaderBytes is that of the other listeners of published apps.
	maxHeaderBytes = 64 << 10
)

func httpServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerLimit, ReadTimeout: requestLimit, IdleTimeout: idleHTTPLimit, WriteTimeout: responseLimit,
		MaxHeaderBytes: maxHeaderBytes, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
}

// Close closes every connection, cancels every requested call, and waits for them. A peer that does
// not read delays it by a few seconds.
func (s *Server) Close() {
	s.conns.close()
	s.refusals.close()
}
