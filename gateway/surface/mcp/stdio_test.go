package mcp

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

// overStdio connects a client through the relay of fairlead mcp.
func (b *bench) overStdio(t *testing.T, token string, o *sdk.ClientOptions, legacy bool) *sdk.ClientSession {
	t.Helper()
	return throughStdio(t, b.URL, token, o, legacy)
}

func throughStdio(t *testing.T, gateway, token string, o *sdk.ClientOptions, legacy bool) *sdk.ClientSession {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := (Stdio{Endpoint: gateway + "/mcp", Token: token, Version: "1"}).Serve(ctx, in, out); err != nil && ctx.Err() == nil {
			t.Errorf("serve: got %v, want no error or Err set", err)
		}
	})
	options := &sdk.ClientSessionOptions{}
	if legacy {
		options.ProtocolVersion = "2025-11-25"
	}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		toServer.Close()
		fromServer.Close()
		cancel()
		serving.Wait()
	})
	return s
}

func TestStdioOffersTheToolsOfTheGateway(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		var mu sync.Mutex
		var heard []string
		s := b.overStdio(t, "all", &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, fmt.Sprint(r.Params.ProgressToken, " ", r.Params.Message))
		}}, legacy)
		b.answer(func(ctx context.Context, _ auth.Principal, r catalog.Request) (job.Result, error) {
			if r.Emit != nil {
				r.Emit(ctx, job.Part{Kind: job.PartChunk, Data: []byte(`{"matches":[1]}`)})
			}
			return job.Result{Data: []byte(`{"count":1}`)}, nil
		})
		tools, err := s.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) != 27 {
			t.Fatalf("got %+v, error %v, want 27 tools", tools, err)
		}
		params := &sdk.CallToolParams{Name: "fs_grep", Arguments: map[string]any{}}
		params.SetProgressToken("mine")
		r, err := s.CallTool(t.Context(), params)
		if err != nil || r.Content[0].(*sdk.TextContent).Text != `{"count":1,"matches":[1]}` {
			t.Fatalf("got %+v, error %v, want one match", r, err)
		}
		polltest.Until(t, "the progress", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return strings.Join(heard, ", ") == `mine {"matches":[1]}`
		})
		if prompt, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "deploy"}); err != nil || len(prompt.Messages) != 1 {
			t.Errorf("got %+v, error %v, want one message", prompt, err)
		}
		if list, err := s.ListResources(t.Context(), nil); err != nil || len(list.Resources) != 4 {
			t.Errorf("got %+v, error %v, want 4 resources", list, err)
		}
	})
}

func TestStdioHasTheInstructionsOfTheGateway(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		b.machines.set(protocol.NodeInfo{ID: "nas", Host: &protocol.HostInfo{Workspace: "/srv/work"}})
		got := b.overStdio(t, "all", nil, legacy).InitializeResult().Instructions
		if want := b.connect(t, "all", nil, legacy).InitializeResult().Instructions; got != want || !strings.Contains(got, "nas: /srv/work") {
			t.Errorf("got %q, want %q with the workspace of nas", got, want)
		}
	})
}

func TestFilesAreWatchedOverStdio(t *testing.T) {
	b := serve(t)
	files := withFiles(b)
	updated := make(chan string, 10)
	s := b.overStdio(t, "all", &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
	}, true)
	if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: fileA}); err != nil {
		t.Fatal(err)
	}
	files.set("/a.txt", "changed")
	select {
	case got := <-updated:
		if got != fileA {
			t.Errorf("got a change of %s, want %s", got, fileA)
		}
	case <-time.After(time.Minute):
		t.Fatal("no notification")
	}
}

// A refused subscription ended the stream, which the relay took for a lost connection: it connected
// again without a pause, as long as the client ran.
func TestRefusedSubscriptionIsAnsweredOverStdio(t *testing.T) {
	b := serve(t)
	withFiles(b)
	h := notices{make(chan string, 100), make(chan struct{}, 100)}
	s := b.overStdio(t, "all", h.options(), true)
	const private = "fairlead://nas/file/private/key"
	for range 2 {
		err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: private})
		if err == nil || !strings.Contains(err.Error(), "cannot be watched: it does not exist, or you may not read it") {
			t.Fatalf("subscription to a file that may not be read: got %v, want an error", err)
		}
	}
	if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: fileA}); err != nil {
		t.Errorf("subscription to another file: %v", err)
	}
	// A new connection would read the lists again and report every watched resource as changed.
	time.Sleep(firstPause)
	if len(h.updated) != 0 || len(h.listed) != 0 {
		t.Errorf("got %d changed resources and %d changed lists, want none", len(h.updated), len(h.listed))
	}
}

// Over HTTP, the gateway answers some errors with a status, of which the SDK writes into the text.
func TestErrorsOverStdioAreThoseOfTheGateway(t *testing.T) {
	b := serve(t)
	b.answer(func(context.Context, auth.Principal, catalog.Request) (job.Result, error) {
		return job.Result{}, protocol.NewFault(protocol.FaultNotFound, "no such file")
	})
	read := &sdk.ReadResourceParams{URI: fileA}
	_, want := b.connect(t, "all", nil, true).ReadResource(t.Context(), read)
	_, got := b.overStdio(t, "all", nil, true).ReadResource(t.Context(), read)
	if fmt.Sprint(got) != fmt.Sprint(want) || !strings.HasSuffix(fmt.Sprint(got), "no such file") {
		t.Errorf("over stdio: got %v, want %v", got, want)
	}
}

func TestStdioPassesNotificationsOn(t *testing.T) {
	b := serve(t)
	updated, listed := make(chan string, 10), make(chan struct{}, 10)
	s := b.overStdio(t, "all", &sdk.ClientOptions{
		ResourceUpdatedHandler:     func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { listed <- struct{}{} },
	}, true)
	if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "fairlead://nas/other"}); err == nil {
		t.Error("what does not exist can be watched")
	}
	if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "fairlead://journal"}); err != nil {
		t.Fatal(err)
	}
	b.bus.Publish(call("a", protocol.CallDone))
	select {
	case got := <-updated:
		if got != "fairlead://journal" {
			t.Errorf("a call: got a change of %s, want fairlead://journal", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("no notification")
	}
	b.machines.set(protocol.NodeInfo{ID: "nas", Name: "NAS"}, protocol.NodeInfo{ID: "laptop"})
	b.bus.Publish(node("laptop", true, 0))
	for end, found := time.Now().Add(3*time.Minute), false; !found; {
		select {
		case <-listed:
		case <-time.After(time.Until(end)):
			t.Fatal("the new machine is not listed")
		}
		list, err := s.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.Resources {
			found = found || r.URI == "fairlead://machines/laptop"
		}
	}
}

func TestStdioPassesQuestionsOn(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		var allowed atomic.Bool
		calls := b.waiting(&allowed)
		s := b.overStdio(t, "all", person(func(*sdk.ElicitRequest) string {
			allowed.Store(true)
			return "accept"
		}), legacy)
		if got := command(t, s); got != `{"done":true}` || calls.Load() != 2 {
			t.Errorf("got %s after %d calls, want it done after 2", got, calls.Load())
		}
		allowed.Store(false)
		if got := command(t, b.overStdio(t, "all", nil, legacy)); !strings.Contains(got, `"code":"approval_required"`) {
			t.Errorf("a client that cannot ask: got %s, want approval_required", got)
		}
	})
}

func TestEndOfInputWaitsForAnswersOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{}}}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}` + "\n"
		p := newPending(strings.NewReader(lines), io.Discard, func() {})
		began := time.Now()
		time.AfterFunc(5*time.Second, func() { p.Write([]byte(`{"jsonrpc":"2.0","id":2,"result":{}}` + "\n")) })
		if got, err := io.ReadAll(p); err != nil || string(got) != lines {
			t.Errorf("got %q, error %v, want %q", got, err, lines)
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("got the end after %v, want 5s", took)
		}
	})
}

// A client that ended in the middle of a call closes its end, and never reads the answer.
func TestOpenCallIsCancelledAfterTheEndOfInput(t *testing.T) {
	b := serve(t)
	cancelled := make(chan struct{})
	in, toServer := io.Pipe()
	b.answer(func(ctx context.Context, _ auth.Principal, _ catalog.Request) (job.Result, error) {
		toServer.Close()
		<-ctx.Done()
		close(cancelled)
		return job.Result{}, ctx.Err()
	})
	var sending sync.WaitGroup
	defer sending.Wait()
	sending.Go(func() {
		io.WriteString(toServer, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"command","arguments":{}}}
`)
	})
	if err := (Stdio{Endpoint: b.URL + "/mcp", Token: "all", drainTime: time.Millisecond}).Serve(t.Context(), in, io.Discard); err != nil {
		t.Errorf("serve: %v", err)
	}
	select {
	case <-cancelled:
	case <-time.After(5 * time.Minute):
		t.Error("the call goes on")
	}
}
