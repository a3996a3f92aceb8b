// Package mcp serves the tools of package catalog over the Model Context Protocol, at /mcp: for
// clients of protocol version 2025-11-25 and older, which open a session, and for those of
// 2026-07-28 and newer, whose requests stand alone. Resources are the machines and their files, the
// transfers and the journal; prompts are the skills. docs/mcp.md describes it.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/surface/bearer"
	"fairlead/gateway/tool/job"
)

// Tools runs the tools ([catalog.Catalog]).
type Tools interface {
	Tools(p auth.Principal) []catalog.Tool
	Check(p auth.Principal, r catalog.Request) error
	Call(ctx context.Context, p auth.Principal, r catalog.Request) (job.Result, error)
	Observe(ctx context.Context, p auth.Principal, call protocol.CallID) (state string, err error)
}

// Waiting are the calls that wait for the person without their callers ([job.Jobs]).
type Waiting interface {
	Withdraw(ctx context.Context, p auth.Principal, id protocol.CallID) (job.Result, error)
}

// Machines lists the machines that a caller may use ([tool.Registry]).
type Machines interface {
	MachinesOf(p auth.Principal) []protocol.NodeInfo
}

// Skills are those of the main agent, which clients use as prompts ([skills.Catalog]).
type Skills interface {
	Usable(ctx context.Context) ([]protocol.SkillStatusEntry, error)
	// Text returns the file of a usable skill.
	Text(ctx context.Context, name string) (string, error)
}

// Options are the parts that the server uses.
type Options struct {
	Tools     Tools
	Waiting   Waiting
	Machines  Machines
	Skills    Skills
	Transfers Transfers
	Journal   Journal
	Bus       *event.Bus // what clients are notified of
	Guard     bearer.Guard
	Version   string
	// Extend, if set, adds to the server of each client what a test of the protocol needs, and
	// returns the addresses of its resources to which clients can subscribe.
	Extend func(*mcp.Server) []string
}

// Limits of requests and sessions.
const (
	sessionTime = 30 * time.Minute
	maxOpen     = 256 // sessions, and streams of notifications, of one token
)

// firstModern is the first protocol version without sessions.
const firstModern = "2026-07-28"

// Server serves /mcp. It is safe for concurrent use.
type Server struct {
	o              Options
	legacy, modern http.Handler
	changes        *event.Subscription

	mu       sync.Mutex // guards the fields below
	clients  map[string]*client
	requests map[*http.Request]request // that are being served
	idle     map[string]time.Time      // when each session was first seen without a request
}

// New returns a server. Its clients are notified of changes while Run runs.
func New(o Options) *Server {
	s := &Server{o: o, clients: make(map[string]*client), requests: make(map[*http.Request]request), idle: make(map[string]time.Time), changes: o.Bus.SubscribeOnly(isWatched)}
	serverOf := func(r *http.Request) *mcp.Server {
		info := sdkauth.TokenInfoFromContext(r.Context())
		s.mu.Lock()
		defer s.mu.Unlock()
		if c := s.clients[info.UserID]; c != nil {
			return c.server
		}
		return nil
	}
	// Sessions expire here: the SDK would end one whose client only listens.
	s.legacy = mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{MaxRequestBodyBytes: bearer.MaxBody, DisableLocalhostProtection: true})
	s.modern = mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: bearer.MaxBody, DisableLocalhostProtection: true,
	})
	return s
}

// ServeHTTP serves a request. The caller has checked its Host and Origin.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, ok := s.o.Guard.Authenticate(w, r)
	if !ok {
		return
	}
	body, ok := s.peek(w, r)
	if !ok {
		return
	}
	if err := s.checkScopes(p, body); err != nil {
		var details struct {
			RequiredScopes []protocol.Scope `json:"required_scopes"`
		}
		json.Unmarshal(err.Details, &details) // ours
		s.o.Guard.Insufficient(w, r, details.RequiredScopes, err)
		return
	}
	s.client(p).files.renew(r.Header.Get("Mcp-Session-Id"), p)
	if !s.hasRoom(p, r, body) {
		f := protocol.NewFault(protocol.FaultResourceExhausted, fmt.Sprintf("this token has %d sessions or streams already: close some", maxOpen))
		bearer.Fail(w, http.StatusTooManyRequests, f)
		return
	}
	r, done := s.begin(r, body, p)
	defer done()
	decodeName(r.Header)
	events := newEventWriter(&errorWriter{ResponseWriter: w, message: body})
	defer events.close()
	handler := s.legacy
	if isModern(r, body) {
		handler = s.modern
	}
	w.Header().Set("X-Accel-Buffering", "no") // events must not wait in a proxy
	// The SDK ties sessions to the user of the token, which was verified above.
	verified := func(context.Context, string, *http.Request) (*sdkauth.TokenInfo, error) {
		return &sdkauth.TokenInfo{UserID: p.Caller(), Expiration: time.Now().Add(time.Hour), Extra: map[string]any{principalKey: p, connectionKey: r.Context()}}, nil
	}
	sdkauth.RequireBearerToken(verified, nil)(handler).ServeHTTP(events, r)
}

// checkScopes refuses a call for which the token lacks a scope, with the status that makes a client
// ask for it.
func (s *Server) checkScopes(p auth.Principal, m message) *protocol.Fault {
	if m.Method != "tools/call" {
		return nil
	}
	err := s.o.Tools.Check(p, catalog.Request{Tool: m.Params.Name, Args: m.Params.Arguments})
	if f, ok := errors.AsType[*protocol.Fault](err); ok && f.Code == protocol.FaultForbidden {
		return f
	}
	return nil
}

// isModern reports whether a request is of a version without sessions.
func isModern(r *http.Request, m message) bool {
	if v := r.Header.Get("MCP-Protocol-Version"); v != "" {
		return v >= firstModern
	}
	_, ok := m.Params.Meta["io.modelcontextprotocol/protocolVersion"]
	return ok
}

// client prepares the server of a client, with the tools that its token may use now.
func (s *Server) client(p auth.Principal) *client {
	id := p.Caller()
	s.mu.Lock()
	c := s.clients[id]
	if c == nil {
		c = newClient(s.o)
		s.clients[id] = c
	}
	c.used = time.Now()
	s.mu.Unlock()
	c.update(p)
	return c
}
