package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
	"fairlead/gateway/store"
	"fairlead/gateway/surface/bearer"
	"fairlead/gateway/surface/surfacetest"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/job"
)

// fake are the catalog's tools with outcomes of the test.
type fake struct {
	*catalog.Catalog

	withdraw func(p auth.Principal, id protocol.CallID) (job.Result, error)
	observe  func(call protocol.CallID) (string, error)

	mu   sync.Mutex // guards call
	call func(ctx context.Context, p auth.Principal, r catalog.Request) (job.Result, error)
}

func (f *fake) Call(ctx context.Context, p auth.Principal, r catalog.Request) (job.Result, error) {
	f.mu.Lock()
	call := f.call
	f.mu.Unlock()
	return call(ctx, p, r)
}

func (f *fake) Withdraw(_ context.Context, p auth.Principal, id protocol.CallID) (job.Result, error) {
	return f.withdraw(p, id)
}

func (f *fake) Observe(_ context.Context, p auth.Principal, call protocol.CallID) (string, error) {
	if !p.Has(protocol.ScopeFilesRead) {
		return "", protocol.NewFault(protocol.FaultForbidden, "no scope")
	}
	return f.observe(call)
}

func (f *fake) answer(call func(ctx context.Context, p auth.Principal, r catalog.Request) (job.Result, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.call = call
}

// skills are the main agent's: the skill deploy, and another one if it was added.
type skills struct{ added atomic.Bool }

func (s *skills) Usable(context.Context) ([]protocol.SkillStatusEntry, error) {
	list := []protocol.SkillStatusEntry{{Name: "deploy", Description: "How to deploy"}}
	if s.added.Load() {
		list = append(list, protocol.SkillStatusEntry{Name: "tidy", Description: "How to tidy"})
	}
	return list, nil
}

func (*skills) Text(_ context.Context, name string) (string, error) { return "# " + name, nil }

// transfers are one in progress and one that has ended.
type transfers struct{}

func (transfers) List(_ context.Context, q protocol.TransferListParams) (protocol.TransferListResult, error) {
	id := protocol.TransferID("open")
	if q.History {
		id = "ended"
	}
	return protocol.TransferListResult{Transfers: []protocol.Transfer{{ID: id}}, Count: 1}, nil
}

// journal has one call, or cannot be read.
type journal struct{ failure error }

func (j journal) List(context.Context, protocol.JournalListParams) (list []store.Call, more bool, err error) {
	return []store.Call{{Info: protocol.CallInfo{CallID: "a"}}}, false, j.failure
}

// scopes are those of the token of that name.
var scopes = map[string][]protocol.Scope{
	"all": protocol.AppScopes, "reader": {protocol.ScopeNetworkRead, protocol.ScopeFilesRead}, "other": protocol.AppScopes,
	"limited": protocol.AppScopes,
}

// nodes are the machines to which the token of that name is limited.
var nodes = map[string][]protocol.NodeID{"limited": {"nas"}}

// machines are those that the gateway knows.
type machines struct {
	tool.Machines // the rest is not called

	mu     sync.Mutex // guards the fields below
	list   []protocol.NodeInfo
	broken bool // the next reading of the list panics
}

func (m *machines) NetworkList() []protocol.Network {
	return []protocol.Network{{ID: "net_1", Name: "home", Index: 1, Default: true}}
}

func (m *machines) Nodes() []protocol.NodeInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		m.broken = false
		panic("broken")
	}
	return slices.Clone(m.list)
}

func (*machines) Tools() []protocol.ToolSpec { return nil }

func (m *machines) set(list ...protocol.NodeInfo) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = list
}

type bench struct {
	*fake
	*httptest.Server
	mcp      *Server
	bus      *event.Bus
	machines *machines
	skills   *skills
	scopes   atomic.Pointer[map[string][]protocol.Scope] // of each token
}

func serve(t testing.TB) *bench {
	f := &fake{Catalog: catalog.New(catalog.Options{Services: new(service.Services), Registry: tool.NewRegistry(new(machines), nil, nil), Config: config.Default})}
	f.answer(func(_ context.Context, _ auth.Principal, r catalog.Request) (job.Result, error) {
		return job.Result{Data: json.RawMessage(`{"tool":"` + r.Tool + `"}`)}, nil
	})
	b := &bench{fake: f, bus: new(event.Bus), machines: new(machines), skills: new(skills)}
	b.machines.set(protocol.NodeInfo{ID: "nas", Name: "NAS"})
	b.scopes.Store(&scopes)
	s := New(Options{
		Tools: f, Waiting: f, Skills: b.skills, Transfers: transfers{}, Journal: journal{}, Version: "1.2.3", Bus: b.bus, Machines: tool.NewRegistry(b.machines, nil, nil),
		Guard: bearer.Guard{
			Path: "/mcp", Base: func(r *http.Request) string { return "http://" + r.Host },
			Verify: func(_ context.Context, token, _ string) (auth.Principal, error) {
				scopes := (*b.scopes.Load())[token]
				if scopes == nil {
					return auth.Principal{}, protocol.ErrUnauthorized
				}
				return auth.App(protocol.App{ID: protocol.AppID("app_" + token), Name: token, Scopes: scopes, Nodes: nodes[token]}), nil
			},
		},
	})
	b.mcp, b.Server = s, httptest.NewServer(s)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		b.Server.CloseClientConnections() // of streams that a test left open
		b.Server.Close()
	})
	return b
}

// bearerTransport adds a token to every request.
type bearerTransport string

func (b bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// connect connects a client of the newest protocol version, or of an older one.
func (b *bench) connect(t testing.TB, token string, o *sdk.ClientOptions, legacy bool) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	options := &sdk.ClientSessionOptions{}
	if legacy {
		options.ProtocolVersion = "2025-11-25"
	}
	s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: b.URL + "/mcp", HTTPClient: &http.Client{Transport: bearerTransport(token)}}, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// eras runs a test with clients of both kinds.
func eras(t *testing.T, test func(t *testing.T, b *bench, legacy bool)) {
	t.Helper()
	for _, legacy := range []bool{false, true} {
		t.Run(fmt.Sprintf("legacy=%v", legacy), func(t *testing.T) { test(t, serve(t), legacy) })
	}
}

func post(t *testing.T, b *bench, token, session, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	all := []string{"Accept", "application/json, text/event-stream", "Content-Type", "application/json"}
	if token != "" {
		all = append(all, "Authorization", "Bearer "+token)
	}
	if session != "" {
		all = append(all, "Mcp-Session-Id", session, "MCP-Protocol-Version", "2025-11-25")
	}
	return surfacetest.Answer(t, http.MethodPost, b.URL+"/mcp", body, append(all, headers...)...)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
