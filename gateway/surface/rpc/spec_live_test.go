//go:build unix

package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// live is a complete gateway with a node that answers everything, and a client.
type live struct {
	t      testing.TB
	gw     *gateway.Gateway
	client *client.Client
	node   *client.Client
	chat   *client.Client // a channel
	hello  protocol.ConnectResult
}

func startLive(t testing.TB) *live {
	t.Helper()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_TOKEN", "fl_test")
	log := slog.New(slog.DiscardHandler)
	g, err := gateway.Open(t.Context(), gateway.Options{Home: t.TempDir(), Listen: "127.0.0.1:0", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		g.Close()
	})
	wg.Go(func() { g.Run(ctx) })
	l := &live{t: t, gw: g}
	up := make(chan protocol.ConnectResult, 2)
	start := func(o client.Options) (*client.Client, protocol.ConnectResult) {
		o.URL, o.Token = g.URL(), "fl_test"
		o.OnUp = func(_ context.Context, hello protocol.ConnectResult) { up <- hello }
		c := client.New(o)
		wg.Go(func() { c.Run(ctx) })
		select {
		case hello := <-up:
			return c, hello
		case <-time.After(3 * time.Minute):
			t.Fatal("no connection")
			panic("unreachable")
		}
	}
	ready := make(chan struct{})
	l.node, _ = start(client.Options{
		Connect: func() protocol.ConnectParams {
			p := gateway.ClientParams("n")
			p.Client.Mode = protocol.ModeNode
			p.Tools = []protocol.ToolSpec{{Name: "Echo", Description: "Echoes", Effect: protocol.EffectRead, InputSchema: json.RawMessage(`{"type":"object"}`)}}
			p.NodeRuntime = &protocol.NodeRuntime{HostCapabilities: []string{protocol.CapRead}, ToolCapabilities: map[string][]string{"Echo": {protocol.CapRead}}}
			return p
		},
		OnEvent: func(e protocol.EventFrame) {
			wg.Go(func() {
				<-ready
				switch e.Event {
				case protocol.EventToolInvoke:
					var inv protocol.ToolInvoke
					json.Unmarshal(e.Payload, &inv)
					client.Call(ctx, l.node, protocol.ReturnResult, protocol.ToolResultParams{CallID: inv.CallID, Result: inv.Args})
				case protocol.EventLogsGet:
					var get protocol.LogsGet
					json.Unmarshal(e.Payload, &get)
					client.Call(ctx, l.node, protocol.ReturnLogs, protocol.LogsResultParams{CallID: get.CallID, Lines: []string{"a", "b"}})
				}
			})
		},
	})
	close(ready)
	l.chat, _ = start(client.Options{Connect: func() protocol.ConnectParams {
		p := gateway.ClientParams("pigeons")
		p.Client.Mode, p.Client.Channel, p.Client.AccountID = protocol.ModeChannel, "pigeon", "default"
		return p
	}})
	l.client, l.hello = start(client.Options{Connect: func() protocol.ConnectParams { return gateway.ClientParams("c") }})
	return l
}

// call sends raw params.
func (l *live) call(c *client.Client, method string, params any) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	return client.Call(ctx, c, protocol.Method[any, any]{Name: method}, params)
}

// unanswerable are samples that end with an error because nothing waits for them, or because a
// channel has its own driver; their parameters are checked nevertheless.
var unanswerable = map[string]bool{
	"channel.start": true, "channel.login": true, "channel.stop": true, "channel.logout": true,
	"tool.result": true, "logs.result": true, "transfer.meta": true, "transfer.accept": true, "transfer.complete": true, "transfer.done": true,
}

func TestRunningGatewayAnswersAsTheSpecificationSays(t *testing.T) {
	s, l := readProtocol(t), startLive(t)
	job := ""
	tried := map[string]bool{"connect": true}
	for _, c := range samples {
		tried[c.method] = true
		peer := l.client
		switch s.methods[c.method].senders[0] {
		case "N":
			peer = l.node
		case "H":
			peer = l.chat
		}
		raw := strings.ReplaceAll(c.params, "$job", job)
		l.refusesParts(s, peer, c.method, raw)
		got, err := l.call(peer, c.method, json.RawMessage(raw))
		if err != nil {
			if !unanswerable[c.method] || errors.Is(err, protocol.ErrBadRequest) {
				t.Errorf("%s %s: got error %v, want none", c.method, raw, err)
			}
			continue
		}
		if c.method == "cron.add" {
			job, _ = got.(map[string]any)["job"].(map[string]any)["id"].(string)
		}
		if b := s.methods[c.method]; !b.any {
			for _, err := range s.missingFields(c.method, b.fields, got) {
				t.Error(err)
			}
		}
	}
	for name := range s.methods {
		if !tried[name] {
			t.Errorf("%s: got no call, want one", name)
		}
	}
}

// lenient are methods whose invalid calls are accepted and dropped, as in GSV: otherwise a node
// would repeat the event forever.
var lenient = map[string]bool{"node.exec.event": true}

// refusesParts omits each parameter that the protocol requires, and sends each with a wrong type.
func (l *live) refusesParts(s spec, peer *client.Client, method, raw string) {
	l.t.Helper()
	var whole map[string]any
	if err := json.Unmarshal([]byte(raw), &whole); err != nil {
		l.t.Fatal(err)
	}
	for _, f := range s.methods[method].params {
		if !f.optional && f.name != "value" { // config.set without a value restores the default
			part := maps.Clone(whole)
			delete(part, f.name)
			if _, err := l.call(peer, method, part); !errors.Is(err, protocol.ErrBadRequest) && !lenient[method] {
				l.t.Errorf("%s without %s: got error %v, want %v", method, f.name, err, protocol.ErrBadRequest)
			}
		}
		if f.kind == "unknown" || f.kind == "object" && method == "tool.invoke" {
			continue
		}
		part := maps.Clone(whole)
		part[f.name] = any(true)
		if f.kind == "boolean" {
			part[f.name] = "yes"
		}
		if _, err := l.call(peer, method, part); !errors.Is(err, protocol.ErrBadRequest) {
			l.t.Errorf("%s with another type of %s: got error %v, want %v", method, f.name, err, protocol.ErrBadRequest)
		}
	}
}

// TestARequestedCallIsMadeOnce: the ID of a tool.request is unique, whatever comes under it later,
// and from whomever.
func TestARequestedCallIsMadeOnce(t *testing.T) {
	l := startLive(t)
	request := func(args, key string) error {
		_, err := l.call(l.client, "tool.request", json.RawMessage(`{"callId":"once","tool":"n__Echo","args":`+args+`,"sessionKey":"`+key+`"}`))
		return err
	}
	errs := make(chan error, 8)
	for i := range cap(errs) {
		go func() { errs <- request(`{"x":1}`, []string{"one", "two"}[i%2]) }()
	}
	taken := 0
	for range cap(errs) {
		if err := <-errs; err == nil {
			taken++
		} else if !errors.Is(err, protocol.ErrConflict) {
			t.Errorf("got %v; want the error protocol.ErrConflict", err)
		}
	}
	results := func() (n int) {
		for _, key := range []string{"one", "two"} {
			got, err := l.call(l.client, "session.preview", map[string]any{"sessionKey": key})
			if err != nil {
				t.Fatal(err)
			}
			n += len(got.(map[string]any)["messages"].([]any))
		}
		return n
	}
	for end := time.Now().Add(3 * time.Minute); results() == 0 && time.Now().Before(end); {
	}
	if err := request(`{"x":2}`, "one"); !errors.Is(err, protocol.ErrConflict) { // it has ended
		t.Errorf("got %v; want the error protocol.ErrConflict", err)
	}
	if n := results(); taken != 1 || n != 1 {
		t.Errorf("got %d accepted requests, %d results, want 1, 1", taken, n)
	}
}

func TestFeaturesListServedMethods(t *testing.T) {
	l := startLive(t)
	served := map[string]bool{}
	for _, name := range l.hello.Features.Methods {
		served[name] = true
		_, err := l.call(l.client, name, "not an object")
		if err == nil || errors.Is(err, protocol.ErrNotFound) && strings.Contains(err.Error(), "Unknown method") {
			t.Errorf("%s is advertised: %v", name, err)
		}
	}
	if len(served) != len(protocol.Methods) || len(l.hello.Features.Methods) != len(served) {
		t.Errorf("got %d advertised methods, %d different ones, want %d", len(l.hello.Features.Methods), len(served), len(protocol.Methods))
	}
	for _, name := range []string{"nothing", "chat.Send", "connect "} {
		if _, err := l.call(l.client, name, nil); !errors.Is(err, protocol.ErrNotFound) {
			t.Errorf("%q: got %v; want the error protocol.ErrNotFound", name, err)
		}
	}
	if !slices.Equal(l.hello.Features.Events, protocol.Events) || !slices.Equal(l.hello.Features.Extensions, protocol.Extensions) ||
		l.hello.Type != protocol.HelloOK || l.hello.Protocol != 1 {
		t.Errorf("got hello %+v, want all events and extensions", l.hello)
	}
}
