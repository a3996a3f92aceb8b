package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/surface/bearer"
)

// fake are the catalog's tools with outcomes of the test.
type fake struct {
	*catalog.Catalog

	withdraw func(p auth.Principal, id protocol.CallID) (catalog.Result, error)
	observe  func(call protocol.CallID) (string, error)

	mu   sync.Mutex // guards call
	call func(ctx context.Context, p auth.Principal, r catalog.Request) (catalog.Result, error)
}

func (f *fake) Call(ctx context.Context, p auth.Principal, r catalog.Request) (catalog.Result, error) {
	f.mu.Lock()
	call := f.call
	f.mu.Unlock()
	return call(ctx, p, r)
}

func (f *fake) Withdraw(_ context.Context, p auth.Principal, id protocol.CallID) (catalog.Result, error) {
	return f.withdraw(p, id)
}

func (f *fake) Observe(_ context.Context, p auth.Principal, call protocol.CallID) (string, error) {
	if !p.Has(protocol.ScopeFilesRead) {
		return "", protocol.NewFault(protocol.FaultForbidden, "no scope")
	}
	return f.observe(call)
}

func (f *fake) answer(call func(ctx context.Context, p auth.Principal, r catalog.Request) (catalog.Result, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.call = call
}

type noTools struct{}

func (noTools) Tools() []protocol.ToolSpec { return nil }

// skills are the main agent's: the skill deploy, and another one if it was added.
type skills struct{ added atomic.Bool }

func (s *skills) List(context.Context) ([]Prompt, error) {
	if s.added.Load() {
		return []Prompt{{"deploy", "How to deploy"}, {"tidy", "How to tidy"}}, nil
	}
	return []Prompt{{"deploy", "How to deploy"}}, nil
}

func (*skills) Text(_ context.Context, name string) (string, error) { return "# " + name, nil }

// scopes are those of the token of that name.
var scopes = map[string][]protocol.Scope{
	"all": protocol.AppScopes, "reader": {protocol.ScopeNetworkRead, protocol.ScopeFilesRead}, "other": protocol.AppScopes,
	"limited": protocol.AppScopes,
}

// nodes are the machines to which the token of that name is limited.
var nodes = map[string][]protocol.NodeID{"limited": {"nas"}}

// machines are those that the gateway knows.
type machines struct {
	mu     sync.Mutex // guards the fields below
	list   []protocol.NodeInfo
	broken bool // the next reading of the list panics
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
	f := &fake{Catalog: catalog.New(catalog.Options{Registry: noTools{}, Config: config.Default})}
	f.answer(func(_ context.Context, _ auth.Principal, r catalog.Request) (catalog.Result, error) {
		return catalog.Result{Data: json.RawMessage(`{"tool":"` + r.Tool + `"}`)}, nil
	})
	t.Cleanup(f.Close)
	b := &bench{fake: f, bus: new(event.Bus), machines: new(machines), skills: new(skills)}
	b.machines.set(protocol.NodeInfo{ID: "nas", Name: "NAS"})
	b.scopes.Store(&scopes)
	s := New(Options{
		Tools: f, Prompts: b.skills, Version: "1.2.3", Bus: b.bus, Machines: b.machines,
		Documents: []Document{{URI: "fairlead://journal", Name: "journal", Scope: protocol.ScopeAllTools, Changes: []string{protocol.ChangeCall}, Read: func(context.Context) (any, error) { return map[string]int{"calls": 7}, nil }}},
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

func TestToolsAreThoseOfTheToken(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		for token, want := range map[string]int{"all": 18, "reader": 8} {
			s := b.connect(t, token, nil, legacy)
			list, err := s.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != want {
				t.Fatalf("%s: %d tools, %v", token, len(list.Tools), err)
			}
			for _, x := range list.Tools {
				same := slices.ContainsFunc(b.Catalog.Tools(auth.App(protocol.App{Scopes: protocol.AppScopes})), func(t catalog.Tool) bool {
					return t.Name == x.Name && t.Title == x.Title && t.Description == x.Description && isSame(x.InputSchema, brief(t)) && isSame(x.OutputSchema, anyResult) &&
						x.Annotations.ReadOnlyHint == t.ReadOnly && *x.Annotations.OpenWorldHint == t.OpenWorld &&
						(t.ReadOnly || *x.Annotations.DestructiveHint == t.Destructive && x.Annotations.IdempotentHint == t.Idempotent)
				})
				if !same {
					t.Errorf("%s is not described as over REST: %+v", x.Name, x)
				}
			}
		}
	})
}

// Some clients check a failure, which is JSON in the text of a result, against the schema of results.
func TestFailureFitsTheSchemaOfEveryTool(t *testing.T) {
	b := serve(t)
	list, err := b.connect(t, "all", nil, false).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	raw := []byte(failure(protocol.NewFault(protocol.FaultNotFound, "no such file")).Content[0].(*sdk.TextContent).Text)
	for _, x := range list.Tools {
		schema, err := json.Marshal(x.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := toolkit.Arguments(schema, raw); err != nil {
			t.Errorf("%s: %v", x.Name, err)
		}
	}
}

// Models read the list in each request. A token is about 4 bytes.
func TestListOfToolsIsShortWithAnyScopes(t *testing.T) {
	all := catalog.New(catalog.Options{Registry: noTools{}, Config: config.Default})
	t.Cleanup(all.Close)
	for set := range 1 << len(protocol.AppScopes) {
		var scopes []protocol.Scope
		for i, s := range protocol.AppScopes {
			if set&(1<<i) != 0 {
				scopes = append(scopes, s)
			}
		}
		list := &sdk.ListToolsResult{}
		for _, tool := range all.Tools(auth.App(protocol.App{ID: "a", Scopes: scopes})) {
			list.Tools = append(list.Tools, describe(tool))
		}
		raw, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		const most = 250
		if n := len(list.Tools); n == 0 || len(raw) > most*4*n {
			t.Errorf("%s: got %d tools with %d bytes each, want at most %d tokens", scopes, n, len(raw)/max(n, 1), most)
		}
	}
}

func TestArgumentsOfMachinesToolsStayDescribed(t *testing.T) {
	in := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"target": {Type: "string", Description: "the branch"}}}
	if got := brief(catalog.Tool{Name: "git__merge", In: in}); got.Properties["target"].Description != "the branch" {
		t.Errorf("got %+v, want the description", got.Properties["target"])
	}
	if got := brief(catalog.Tool{Name: "fs_stat", In: in}); got.Properties["target"].Description != "" || in.Properties["target"].Description == "" {
		t.Errorf("got %+v, want no description, and the catalog unchanged", got.Properties["target"])
	}
}

func TestAllToolsAreListed(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		list, err := b.connect(t, "all", nil, legacy).ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 18 {
			t.Errorf("got %d tools, %v, want 18", len(list.Tools), err)
		}
	})
}

func TestDescriptionsSayWhichToolToUse(t *testing.T) {
	list, err := serve(t).connect(t, "all", nil, false).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, others := range map[string][]string{
		"file": {"batch", "fetch_url", "fs_"}, "fs_read": {"command"}, "fs_write": {"file", "batch"}, "command": {"Bash", "file", "fs_"},
	} {
		i := slices.IndexFunc(list.Tools, func(x *sdk.Tool) bool { return x.Name == name })
		for _, other := range others {
			if got := list.Tools[i].Description; !strings.Contains(got, other) {
				t.Errorf("%s: got %q, want a word on %s", name, got, other)
			}
		}
	}
}

// isSame reports whether two schemas have the same JSON.
func isSame(a, b any) bool {
	decoded := func(v any) (out any) {
		raw, _ := json.Marshal(v)
		json.Unmarshal(raw, &out)
		return out
	}
	return reflect.DeepEqual(decoded(a), decoded(b))
}

func TestResultHasStructureAndText(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		s := b.connect(t, "all", nil, legacy)
		r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "whoami", Arguments: map[string]any{}})
		if err != nil || r.IsError || len(r.Content) != 1 || r.Content[0].(*sdk.TextContent).Text != `{"tool":"whoami"}` {
			t.Fatalf("got %+v, %v", r, err)
		}
		if m, ok := r.StructuredContent.(map[string]any); !ok || m["tool"] != "whoami" {
			t.Errorf("structure %v", r.StructuredContent)
		}
	})
}

func TestFailureIsAResultForTheModel(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		s := b.connect(t, "all", nil, legacy)
		b.answer(func(context.Context, auth.Principal, catalog.Request) (catalog.Result, error) {
			return catalog.Result{}, protocol.NewFault(protocol.FaultApprovalRequired, "not yet").With(map[string]string{"call_id": "c"})
		})
		r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "command", Arguments: map[string]any{}})
		want := `{"error":{"code":"approval_required","message":"not yet","retryable":true,"details":{"call_id":"c"}}}`
		if err != nil || !r.IsError || r.Content[0].(*sdk.TextContent).Text != want {
			t.Errorf("got %+v, %v", r, err)
		}
		if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "nothing"}); err == nil {
			t.Error("an unknown tool is called")
		}
	})
}

func TestPartsAreProgressAndPartOfTheResult(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		var mu sync.Mutex
		var heard []string
		s := b.connect(t, "all", &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, fmt.Sprint(r.Params.Progress, " ", r.Params.Message))
		}}, legacy)
		b.answer(func(ctx context.Context, _ auth.Principal, r catalog.Request) (catalog.Result, error) {
			if r.Emit != nil {
				r.Emit(ctx, catalog.Part{Kind: catalog.PartWaiting, Data: json.RawMessage(`{"message":"Fairlead asks its owner"}`)})
				r.Emit(ctx, catalog.Part{Kind: catalog.PartChunk, Data: json.RawMessage(`{"matches":[1]}`)})
				r.Emit(ctx, catalog.Part{Kind: catalog.PartChunk, Data: json.RawMessage(`{"matches":[2]}`)})
			}
			return catalog.Result{Data: json.RawMessage(`{"count":2}`)}, nil
		})
		params := &sdk.CallToolParams{Name: "fs_grep", Arguments: map[string]any{}}
		params.SetProgressToken("p")
		r, err := s.CallTool(t.Context(), params)
		if err != nil || r.Content[0].(*sdk.TextContent).Text != `{"count":2,"matches":[1,2]}` {
			t.Fatalf("got %+v, %v", r, err)
		}
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			mu.Lock()
			done := len(heard) == 3
			got := strings.Join(heard, ", ")
			mu.Unlock()
			if done {
				if got != `1 Fairlead asks its owner, 2 {"matches":[1]}, 3 {"matches":[2]}` {
					t.Errorf("heard %s", got)
				}
				break
			}
			if time.Now().After(end) {
				t.Fatalf("heard %s", got)
			}
		}
	})
}

func TestCancelledCallEnds(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		s := b.connect(t, "all", nil, legacy)
		began, ended := make(chan struct{}), make(chan struct{})
		b.answer(func(ctx context.Context, _ auth.Principal, r catalog.Request) (catalog.Result, error) {
			close(began)
			<-ctx.Done()
			close(ended)
			return catalog.Result{}, ctx.Err()
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-began
			cancel()
		}()
		if _, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "command", Arguments: map[string]any{}}); err == nil {
			t.Error("a cancelled call succeeded")
		}
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("the call goes on")
		}
	})
}

func TestResourcesAndPrompts(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		s := b.connect(t, "all", nil, legacy)
		b.answer(func(_ context.Context, _ auth.Principal, r catalog.Request) (catalog.Result, error) {
			switch r.Tool {
			case "network_directory":
				return catalog.Result{Data: json.RawMessage(`{"networks":[{"nodes":[{"id":"laptop","name":"Laptop"},{"id":"nas","name":"nas"}]}]}`)}, nil
			case "fs_list":
				return catalog.Result{Data: json.RawMessage(`{"entries":[{"name":"notes","is_dir":true},{"name":"node.txt"},{"name":"x"}]}`)}, nil
			}
			content := "aGVsbG8=" // hello
			if strings.Contains(string(r.Args), "binary") {
				content = "AP8="
			}
			return catalog.Result{Data: json.RawMessage(`{"chunk_b64":"` + content + `","done":` + fmt.Sprint(!strings.Contains(string(r.Args), "large")) + `}`)}, nil
		})
		list, err := s.ListResources(t.Context(), nil)
		if err != nil || len(list.Resources) != 3 {
			t.Fatalf("got %+v, %v", list, err)
		}
		read := func(uri string) (*sdk.ResourceContents, error) {
			r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			if err != nil {
				return nil, err
			}
			return r.Contents[0], nil
		}
		for uri, want := range map[string]string{
			"fairlead://journal": `{"calls":7}`, "fairlead://nas/file/etc/hosts": "hello", "fairlead://machines": `{"networks":[{"nodes":[{"id":"laptop","name":"Laptop"},{"id":"nas","name":"nas"}]}]}`,
			"fairlead://machines/nas": `{"id":"nas","name":"nas"}`, "fairlead://My%20computer/file/etc/hosts": "hello",
		} {
			if got, err := read(uri); err != nil || got.Text != want {
				t.Errorf("%s: got %+v, %v", uri, got, err)
			}
		}
		if got, err := read("fairlead://nas/file/binary"); err != nil || string(got.Blob) != "\x00\xff" {
			t.Errorf("a binary file: %+v, %v", got, err)
		}
		for _, uri := range []string{"fairlead://nas/file/large", "fairlead://nas/other", "https://x/y"} {
			if got, err := read(uri); err == nil {
				t.Errorf("%s: got %+v", uri, got)
			}
		}
		reader := b.connect(t, "reader", nil, legacy)
		if _, err := reader.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "fairlead://journal"}); err == nil {
			t.Error("a token without the scope reads the journal")
		}
		prompt, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "deploy"})
		if err != nil || prompt.Messages[0].Content.(*sdk.TextContent).Text != "# deploy" {
			t.Errorf("got %+v, %v", prompt, err)
		}
		complete := func(name, value, machine string) []string {
			p := &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/resource", URI: fileURI}, Argument: sdk.CompleteParamsArgument{Name: name, Value: value}}
			if machine != "" {
				p.Context = &sdk.CompleteContext{Arguments: map[string]string{"machine": machine}}
			}
			r, err := s.Complete(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			return r.Completion.Values
		}
		if got := complete("machine", "la", ""); !slices.Equal(got, []string{"Laptop"}) {
			t.Errorf("machines %v", got)
		}
		if got := complete("path", "/home/no", "nas"); !slices.Equal(got, []string{"/home/notes/", "/home/node.txt"}) {
			t.Errorf("paths %v", got)
		}
		if got := complete("path", "/home/no", ""); len(got) != 0 {
			t.Errorf("paths without a machine %v", got)
		}
	})
}

func TestPromptsNeedTheScopeToReadFilesOfAllMachines(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		noFiles := maps.Clone(scopes)
		noFiles["reader"] = []protocol.Scope{protocol.ScopeNetworkRead}
		for _, c := range []struct {
			token  string
			scopes map[string][]protocol.Scope
			want   int
		}{{"all", scopes, 1}, {"reader", scopes, 1}, {"limited", scopes, 0}, {"reader", noFiles, 0}} {
			b.scopes.Store(&c.scopes)
			s := b.connect(t, c.token, nil, legacy)
			list, err := s.ListPrompts(t.Context(), nil)
			if err != nil || len(list.Prompts) != c.want {
				t.Errorf("%s with %v: got %+v, %v, want %d prompts", c.token, c.scopes[c.token], list, err, c.want)
			}
			if _, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "deploy"}); (err == nil) != (c.want > 0) {
				t.Errorf("%s with %v: get: %v", c.token, c.scopes[c.token], err)
			}
		}
	})
}

func TestFileAddresses(t *testing.T) {
	for uri, want := range map[string][2]string{
		"fairlead://nas/file/etc/hosts": {"nas", "/etc/hosts"}, "fairlead://pc/file/C:/Users/a%20b": {"pc", "C:/Users/a b"}, "fairlead://nas/files/x": {}, "fairlead://My%20computer/file/a": {"My computer", "/a"}, "fairlead://a%2Fb/file/x": {}, "fairlead:///file/x": {}, "file:///etc": {}, "fairlead://nas/file": {}, ":": {},
	} {
		machine, path, ok := parseFileURI(uri)
		if ok != (want[0] != "") || ok && (machine != want[0] || path != want[1]) {
			t.Errorf("%s: got %q %q %v", uri, machine, path, ok)
		}
	}
}

func post(t *testing.T, b *bench, token, session, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", b.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body)
	return resp, string(raw)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

func TestTokenAndScopesAreChecked(t *testing.T) {
	b := serve(t)
	for token, want := range map[string]string{
		"":      `Bearer resource_metadata="` + b.URL + `/.well-known/oauth-protected-resource/mcp"`,
		"wrong": `Bearer error="invalid_token", resource_metadata="` + b.URL + `/.well-known/oauth-protected-resource/mcp"`,
	} {
		if resp, _ := post(t, b, token, "", initialize); resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") != want {
			t.Errorf("%q: got %d %q", token, resp.StatusCode, resp.Header.Get("WWW-Authenticate"))
		}
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"file","arguments":{"op":"batch","ops":[{"op":"stat"},{"op":"write"}]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	resp, body := post(t, b, "reader", "", call)
	if want := `Bearer error="insufficient_scope", scope="fs.read fs.write", resource_metadata="` + b.URL + `/.well-known/oauth-protected-resource/mcp"`; resp.StatusCode != 403 || resp.Header.Get("WWW-Authenticate") != want {
		t.Errorf("got %d %q %s", resp.StatusCode, resp.Header.Get("WWW-Authenticate"), body)
	}
	if resp, _ := post(t, b, "all", "", `{"x":"`+strings.Repeat("x", maxBody)+`"}`); resp.StatusCode != 413 {
		t.Errorf("a large body: %d", resp.StatusCode)
	}
}

func TestSessionBelongsToItsToken(t *testing.T) {
	b := serve(t)
	resp, body := post(t, b, "all", "", initialize)
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != 200 || id == "" || resp.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("got %d %s %v", resp.StatusCode, body, resp.Header)
	}
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if resp, body := post(t, b, "other", id, list); resp.StatusCode == 200 && strings.Contains(body, "whoami") {
		t.Errorf("another token uses the session: %s", body)
	}
	if resp, body := post(t, b, "all", id, list); resp.StatusCode != 200 || !strings.Contains(body, "whoami") {
		t.Errorf("its own token: %d %s", resp.StatusCode, body)
	}
	if resp, _ := post(t, b, "all", "unknown", list); resp.StatusCode != 404 {
		t.Errorf("an unknown session: %d", resp.StatusCode)
	}
}

func TestChangedScopesChangeTheTools(t *testing.T) {
	b := serve(t)
	changed := make(chan struct{}, 10)
	s := b.connect(t, "all", &sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} }}, true)
	before, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.mcp.client(auth.App(protocol.App{ID: "app_all", Scopes: []protocol.Scope{protocol.ScopeNetworkRead}}))
	select {
	case <-changed:
	case <-time.After(30 * time.Second):
		t.Fatal("the client is not told")
	}
	if len(before.Tools) != 18 || len(b.mcp.clients["app_all"].tools) != 2 {
		t.Errorf("%d tools before, %d after", len(before.Tools), len(b.mcp.clients["app_all"].tools))
	}
}

func TestChangedSkillsChangeThePrompts(t *testing.T) {
	b := serve(t)
	changed := make(chan struct{}, 10)
	s := b.connect(t, "all", &sdk.ClientOptions{PromptListChangedHandler: func(context.Context, *sdk.PromptListChangedRequest) { changed <- struct{}{} }}, true)
	b.skills.added.Store(true)
	b.bus.Publish(protocol.Change{Kind: protocol.ChangeSkills})
	select {
	case <-changed:
	case <-time.After(30 * time.Second):
		t.Fatal("the client is not told")
	}
	if list, err := s.ListPrompts(t.Context(), nil); err != nil || len(list.Prompts) != 2 {
		t.Errorf("got %+v, %v", list, err)
	}
}
