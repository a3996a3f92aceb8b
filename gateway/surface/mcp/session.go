package mcp

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/wake"
)

// request is a request that is being served.
type request struct {
	session  string // empty for none
	isStream bool   // of notifications, which goes on until somebody ends it
	rights   auth.Principal
	cancel   context.CancelFunc
}

// isStream reports whether a request is for a stream of notifications.
func isStream(r *http.Request, m message) bool {
	return r.Method == http.MethodGet || m.Method == methodListen
}

// hasRoom reports whether a token may have another session or stream, if the request is for one.
func (s *Server) hasRoom(p auth.Principal, r *http.Request, m message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	switch {
	case isStream(r, m):
		for _, x := range s.requests {
			if x.isStream && x.rights.Caller() == p.Caller() {
				n++
			}
		}
	case r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" && !isModern(r, m):
		for session := range s.clients[p.Caller()].server.Sessions() {
			if session.ID() != "" { // not one of a single request
				n++
			}
		}
	}
	return n < maxOpen
}

// begin records a request until done is called. The context of the returned request ends when the
// server ends it.
func (s *Server) begin(r *http.Request, m message, p auth.Principal) (same *http.Request, done func()) {
	ctx, cancel := context.WithCancel(r.Context())
	r = r.WithContext(ctx)
	session := r.Header.Get("Mcp-Session-Id")
	s.mu.Lock()
	s.requests[r] = request{session, isStream(r, m), p, cancel}
	s.mu.Unlock()
	return r, func() {
		s.mu.Lock()
		delete(s.requests, r)
		delete(s.idle, session)
		s.mu.Unlock()
		cancel()
	}
}

// endStreams ends the streams whose token is not valid any more or has other rights than at their
// beginning. Their clients open them again if they may.
func (s *Server) endStreams() {
	s.mu.Lock()
	open := maps.Clone(s.requests)
	s.mu.Unlock()
	for r, x := range open {
		if !x.isStream {
			continue
		}
		if p, err := s.o.Guard.Check(r); err != nil || !p.HasSameRights(x.rights) {
			x.cancel()
		}
	}
}

// all returns the clients.
func (s *Server) all() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.clients))
}

// sweepTime is the time between two looks for what has expired.
const sweepTime = time.Minute

// expireAll ends unused sessions, and streams whose token has expired, until ctx ends.
func (s *Server) expireAll(ctx context.Context) {
	wake.Every(ctx, sweepTime, func() { s.sweep(time.Now()) })
}

func (s *Server) sweep(now time.Time) {
	s.endStreams()
	s.expire(now)
}

// expire ends the sessions that have had no request for sessionTime, and forgets the clients that
// have neither a session nor made a request in this time. A stream of notifications is a request
// that goes on.
func (s *Server) expire(now time.Time) {
	var over []*mcp.ServerSession
	s.mu.Lock()
	busy := make(map[string]bool)
	for _, r := range s.requests {
		busy[r.session] = true
	}
	idle := make(map[string]time.Time)
	for id, c := range s.clients {
		for session := range c.server.Sessions() {
			switch since, known := s.idle[session.ID()]; {
			case session.ID() == "" || busy[session.ID()]: // a request of the newest version has no session
			case known && now.Sub(since) > sessionTime:
				over = append(over, session)
			case known:
				idle[session.ID()] = since
			default:
				idle[session.ID()] = now
			}
		}
		if !c.hasSessions() && now.Sub(c.used) > sessionTime {
			delete(s.clients, id)
		}
	}
	s.idle = idle
	s.mu.Unlock()
	for _, session := range over {
		session.Close()
	}
}
