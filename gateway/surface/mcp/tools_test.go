package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/config"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/job"
)

func TestToolsAreThoseOfTheToken(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		for token, want := range map[string]int{"all": 27, "reader": 8} {
			s := b.connect(t, token, nil, legacy)
			list, err := s.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != want {
				t.Fatalf("%s: got %d tools, error %v, want %d", token, len(list.Tools), err, want)
			}
			for _, x := range list.Tools {
				same := slices.ContainsFunc(b.Catalog.Tools(auth.App(protocol.App{Scopes: protocol.AppScopes})), func(t catalog.Tool) bool {
					return t.Name == x.Name && t.Title == x.Title && t.Description == x.Description && isSame(x.InputSchema, brief(t)) && isSame(x.OutputSchema, anyResult) &&
						x.Annotations.ReadOnlyHint == t.ReadOnly && *x.Annotations.OpenWorldHint == t.OpenWorld &&
						(t.ReadOnly || *x.Annotations.DestructiveHint == t.Destructive && x.Annotations.IdempotentHint == t.Idempotent)
				})
				if !same {
					t.Errorf("%s: got %+v, want the description of REST", x.Name, x)
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
	all := catalog.New(catalog.Options{Services: new(service.Services), Registry: tool.NewRegistry(new(machines), nil, nil), Config: config.Default})
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
	if got := brief(catalog.Tool{CatalogTool: protocol.CatalogTool{Name: "git__merge"}, In: in}); got.Properties["target"].Description != "the branch" {
		t.Errorf("got %+v, want the description", got.Properties["target"])
	}
	if got := brief(catalog.Tool{CatalogTool: protocol.CatalogTool{Name: "fs_stat"}, In: in}); got.Properties["target"].Description != "" || in.Properties["target"].Description == "" {
		t.Errorf("got %+v, want no description, and the catalog unchanged", got.Properties["target"])
	}
}

func TestAllToolsAreListed(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		list, err := b.connect(t, "all", nil, legacy).ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 27 {
			t.Errorf("got %d tools, %v, want 27", len(list.Tools), err)
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
			t.Fatalf("got %+v, error %v, want the result of whoami", r, err)
		}
		if m, ok := r.StructuredContent.(map[string]any); !ok || m["tool"] != "whoami" {
			t.Errorf("got structure %v, want the tool whoami", r.StructuredContent)
		}
	})
}

func TestFailureIsAResultForTheModel(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		s := b.connect(t, "all", nil, legacy)
		b.answer(func(context.Context, auth.Principal, catalog.Request) (job.Result, error) {
			return job.Result{}, protocol.NewFault(protocol.FaultApprovalRequired, "not yet").With(map[string]string{"call_id": "c"})
		})
		r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "command", Arguments: map[string]any{}})
		want := `{"error":{"code":"approval_required","message":"not yet","retryable":true,"details":{"call_id":"c"}}}`
		if err != nil || !r.IsError || r.Content[0].(*sdk.TextContent).Text != want {
			t.Errorf("got %+v, error %v, want %s", r, err, want)
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
		b.answer(func(ctx context.Context, _ auth.Principal, r catalog.Request) (job.Result, error) {
			if r.Emit != nil {
				r.Emit(ctx, job.Part{Kind: job.PartWaiting, Data: json.RawMessage(`{"message":"Fairlead asks its owner"}`)})
				r.Emit(ctx, job.Part{Kind: job.PartChunk, Data: json.RawMessage(`{"matches":[1]}`)})
				r.Emit(ctx, job.Part{Kind: job.PartChunk, Data: json.RawMessage(`{"matches":[2]}`)})
			}
			return job.Result{Data: json.RawMessage(`{"count":2}`)}, nil
		})
		params := &sdk.CallToolParams{Name: "fs_grep", Arguments: map[string]any{}}
		params.SetProgressToken("p")
		r, err := s.CallTool(t.Context(), params)
		if err != nil || r.Content[0].(*sdk.TextContent).Text != `{"count":2,"matches":[1,2]}` {
			t.Fatalf("got %+v, error %v, want both matches", r, err)
		}
		for end := time.Now().Add(3 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
			mu.Lock()
			done := len(heard) == 3
			got := strings.Join(heard, ", ")
			mu.Unlock()
			if done {
				if got != `1 Fairlead asks its owner, 2 {"matches":[1]}, 3 {"matches":[2]}` {
					t.Errorf("got progress %s, want the question and both parts", got)
				}
				break
			}
			if time.Now().After(end) {
				t.Fatalf("got progress %s, want all of it in time", got)
			}
		}
	})
}

func TestCancelledCallEnds(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		s := b.connect(t, "all", nil, legacy)
		began, ended := make(chan struct{}), make(chan struct{})
		b.answer(func(ctx context.Context, _ auth.Principal, r catalog.Request) (job.Result, error) {
			close(began)
			<-ctx.Done()
			close(ended)
			return job.Result{}, ctx.Err()
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
	case <-time.After(3 * time.Minute):
		t.Fatal("got no notification in time, want one")
	}
	if len(before.Tools) != 27 || len(b.mcp.clients["app_all"].tools) != 2 {
		t.Errorf("got %d tools before, %d after, want 27, 2", len(before.Tools), len(b.mcp.clients["app_all"].tools))
	}
}
