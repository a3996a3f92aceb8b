package mcp

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
)

// port is a gateway at an address that stays the same when the gateway is restarted.
type port struct {
	t       *testing.T
	address string
	server  *http.Server
	serving sync.WaitGroup
}

func (p *port) start(s *Server) {
	p.t.Helper()
	l, err := net.Listen("tcp", p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.address, p.server = l.Addr().String(), &http.Server{Handler: s}
	p.serving.Go(func() { p.server.Serve(l) })
}

// stop cuts every connection.
func (p *port) stop() {
	p.server.Close()
	p.serving.Wait()
}

// notices is what a client behind the relay is notified of.
type notices struct {
	updated chan string
	listed  chan struct{}
}

func (h notices) options() *sdk.ClientOptions {
	return &sdk.ClientOptions{
		ResourceUpdatedHandler:     func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { h.updated <- r.Params.URI },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { h.listed <- struct{}{} },
	}
}

func (h notices) next(t *testing.T) string {
	t.Helper()
	select {
	case uri := <-h.updated:
		return uri
	case <-time.After(3 * time.Minute):
		t.Fatal("no notification")
		return ""
	}
}

// lists waits until the client hears of a change after which a resource is listed, or is not.
func (h notices) lists(t *testing.T, s *sdk.ClientSession, uri string, want bool) {
	t.Helper()
	for {
		select {
		case <-h.listed:
		case <-time.After(3 * time.Minute):
			t.Fatalf("%s: got no notification of the list, want it listed: %v", uri, want)
		}
		list, err := s.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(list.Resources, func(r *sdk.Resource) bool { return r.URI == uri }) == want {
			return
		}
	}
}

func TestStdioContinuesAfterARestart(t *testing.T) {
	first, second := serve(t), serve(t)
	second.machines.set(protocol.NodeInfo{ID: "nas"}, protocol.NodeInfo{ID: "laptop"})
	p := &port{t: t, address: "127.0.0.1:0"}
	p.start(first.mcp)
	defer func() { p.stop() }()
	h := notices{make(chan string, 100), make(chan struct{}, 100)}
	s := throughStdio(t, "http://"+p.address, "all", h.options(), true)
	if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "fairlead://journal"}); err != nil {
		t.Fatal(err)
	}
	p.stop()
	if r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "whoami"}); err == nil {
		t.Errorf("a call without a gateway: got %+v, want an error", r)
	}
	p.start(second.mcp)
	h.lists(t, s, "fairlead://machines/laptop", true)
	// What has changed meanwhile is not known.
	if got := h.next(t); got != "fairlead://journal" {
		t.Errorf("after the restart: got a change of %s, want fairlead://journal", got)
	}
	for end := time.Now().Add(3 * time.Minute); len(h.updated) == 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		second.bus.Publish(call("a", protocol.CallDone)) // the subscription begins in the background
	}
	if got := h.next(t); got != "fairlead://journal" {
		t.Errorf("a call: got a change of %s, want fairlead://journal", got)
	}
	if got := command(t, s); got != `{"tool":"command"}` {
		t.Errorf("got %s, want the result of command", got)
	}
	if err := s.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "fairlead://journal"}); err != nil {
		t.Error(err)
	}
}

func TestStdioFollowsTheRightsOfItsToken(t *testing.T) {
	b := serve(t)
	h := notices{make(chan string, 100), make(chan struct{}, 100)}
	s := b.overStdio(t, "all", h.options(), true)
	b.scopes.Store(&map[string][]protocol.Scope{"all": {protocol.ScopeNetworkRead}})
	b.bus.Publish(protocol.Change{Kind: protocol.ChangeApps})
	h.lists(t, s, "fairlead://journal", false)
	// The gateway ended the streams, as the rights are others. The new ones serve, too.
	b.machines.set(protocol.NodeInfo{ID: "nas"}, protocol.NodeInfo{ID: "laptop"})
	b.bus.Publish(node("laptop", true, 0))
	h.lists(t, s, "fairlead://machines/laptop", true)
}
