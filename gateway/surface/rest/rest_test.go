package rest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
	"fairlead/gateway/surface/bearer"
	"fairlead/gateway/surface/surfacetest"
	"fairlead/gateway/tool/job"
)

var update = flag.Bool("update", false, "write the snapshots")

// fake are tools of which the test decides the outcome.
type fake struct {
	*catalog.Catalog // for Tools
	got              catalog.Request
	who              auth.Principal
	call             func(ctx context.Context, r catalog.Request) (job.Result, error)
}

func (f *fake) Call(ctx context.Context, p auth.Principal, r catalog.Request) (job.Result, error) {
	f.got, f.who = r, p
	return f.call(ctx, r)
}

func (f *fake) Outcome(_ context.Context, _ auth.Principal, id protocol.CallID) (job.Result, error) {
	if id != "c1" {
		return job.Result{}, protocol.NewFault(protocol.FaultNotFound, "no such call")
	}
	return job.Result{Data: json.RawMessage(`{"late":true}`)}, nil
}

type noTools struct{ catalog.Registry }

func (noTools) ToolsOf(auth.Principal) []protocol.ToolSpec { return nil }

func serve(t testing.TB) (*fake, *httptest.Server) {
	f := &fake{
		Catalog: catalog.New(catalog.Options{Services: new(service.Services), Registry: noTools{}, Config: config.Default}),
		call: func(context.Context, catalog.Request) (job.Result, error) {
			return job.Result{Data: json.RawMessage(`{"ok":true}`), Message: "Done"}, nil
		},
	}
	s := httptest.NewServer(New(Options{Tools: f, Waiting: f, Version: "1.2.3", Guard: bearer.Guard{
		Path: "/mcp", Base: func(r *http.Request) string { return "http://" + r.Host },
		Verify: func(_ context.Context, token, resource string) (auth.Principal, error) {
			if token != "right" || !strings.HasSuffix(resource, "/mcp") {
				return auth.Principal{}, protocol.ErrUnauthorized
			}
			return auth.App(protocol.App{ID: "a", Scopes: protocol.AppScopes}), nil
		},
	}}))
	t.Cleanup(s.Close)
	return f, s
}

// request makes a request with the right token. Headers are pairs.
func request(t testing.TB, s *httptest.Server, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	return surfacetest.Answer(t, method, s.URL+path, body, append([]string{"Authorization", "Bearer right"}, headers...)...)
}

func TestCallIsPassedOn(t *testing.T) {
	f, s := serve(t)
	resp, body := request(t, s, "POST", "/api/v1/tools/whoami", `{"a":1}`, "Idempotency-Key", "k", "Content-Type", "application/json; charset=utf-8")
	if resp.StatusCode != 200 || body != `{"data":{"ok":true},"message":"Done"}` || resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("got status %d, %s, headers %v, want the result, not cached", resp.StatusCode, body, resp.Header)
	}
	if f.got.Tool != "whoami" || string(f.got.Args) != `{"a":1}` || f.got.IdempotencyKey != "k" || f.got.Emit != nil || f.who.App != "a" {
		t.Errorf("got call %+v, want whoami of the app a", f.got)
	}
	request(t, s, "POST", "/api/v1/tools/whoami", " ")
	if string(f.got.Args) != `{}` {
		t.Errorf("an empty body: got %s, want {}", f.got.Args)
	}
	if _, body := request(t, s, "GET", "/api/v1/calls/c1", ""); body != `{"data":{"late":true},"message":""}` {
		t.Errorf("got %s, want the result of the call", body)
	}
}

func TestWrongRequestsAreRefused(t *testing.T) {
	_, s := serve(t)
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code                     protocol.FaultCode
		header, value            string
	}{
		{"no token", "POST", "/api/v1/tools/x", "{}", []string{"Authorization", ""}, 401, "unauthorized", "WWW-Authenticate", `Bearer resource_metadata="` + s.URL + `/.well-known/oauth-protected-resource/mcp"`},
		{"wrong token", "GET", "/api/v1/tools", "", []string{"Authorization", "Bearer wrong"}, 401, "unauthorized", "WWW-Authenticate", `Bearer error="invalid_token", resource_metadata="` + s.URL + `/.well-known/oauth-protected-resource/mcp"`},
		{"another scheme", "GET", "/api/v1/tools", "", []string{"Authorization", "Basic right"}, 401, "unauthorized", "", ""},
		{"the document without a token", "GET", "/api/v1/openapi.json", "", []string{"Authorization", ""}, 401, "unauthorized", "", ""},
		{"an outcome without a token", "GET", "/api/v1/calls/c1", "", []string{"Authorization", ""}, 401, "unauthorized", "", ""},
		{"GET of a tool", "GET", "/api/v1/tools/x", "", nil, 405, "method_not_allowed", "Allow", "POST"},
		{"POST of the list", "POST", "/api/v1/tools", "{}", nil, 405, "method_not_allowed", "Allow", "GET, HEAD"},
		{"nothing there", "GET", "/api/v2", "", nil, 404, "not_found", "", ""},
		{"no JSON", "POST", "/api/v1/tools/x", "x", nil, 400, "invalid_args", "", ""},
		{"a list", "POST", "/api/v1/tools/x", "[]", nil, 400, "invalid_args", "", ""},
		{"null", "POST", "/api/v1/tools/x", "null", nil, 400, "invalid_args", "", ""},
		{"two values", "POST", "/api/v1/tools/x", "{}{}", nil, 400, "invalid_args", "", ""},
		{"text", "POST", "/api/v1/tools/x", "{}", []string{"Content-Type", "text/plain"}, 415, "invalid_args", "", ""},
		{"compressed", "POST", "/api/v1/tools/x", "{}", []string{"Content-Encoding", "gzip"}, 400, "invalid_args", "", ""},
		{"large", "POST", "/api/v1/tools/x", `{"a":"` + strings.Repeat("x", bearer.MaxBody) + `"}`, nil, 413, "too_large", "", ""},
		{"long key", "POST", "/api/v1/tools/x", "{}", []string{"Idempotency-Key", strings.Repeat("k", maxKey+1)}, 400, "invalid_args", "", ""},
		{"unknown call", "GET", "/api/v1/calls/x", "", nil, 404, "not_found", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, body := request(t, s, c.method, c.path, c.body, c.headers...)
			var got struct{ Error protocol.Fault }
			if err := json.Unmarshal([]byte(body), &got); err != nil || resp.StatusCode != c.status || got.Error.Code != c.code || got.Error.Message == "" || resp.Header.Get("Content-Type") != "application/json" {
				t.Errorf("got status %d, %s, error %v, want %d, %s", resp.StatusCode, body, err, c.status, c.code)
			}
			if c.header != "" && resp.Header.Get(c.header) != c.value {
				t.Errorf("%s: got %q, want %q", c.header, resp.Header.Get(c.header), c.value)
			}
		})
	}
}

func TestListDescribesEachTool(t *testing.T) {
	f, s := serve(t)
	_, body := request(t, s, "GET", "/api/v1/tools", "")
	var got struct{ Tools []map[string]any }
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	tools := f.Tools(auth.App(protocol.App{Scopes: protocol.AppScopes}))
	for i, x := range tools {
		capabilities := []any{}
		for _, scope := range x.Scopes {
			capabilities = append(capabilities, string(scope))
		}
		want := map[string]any{"name": x.Name, "title": x.Title, "description": x.Description, "mode": string(x.Mode), "capabilities": capabilities}
		if len(got.Tools) != len(tools) || !reflect.DeepEqual(got.Tools[i], want) {
			t.Errorf("got %v, want %v", got.Tools, want)
		}
	}
}

func TestFailuresHaveTheirStatus(t *testing.T) {
	f, s := serve(t)
	for code, want := range map[protocol.FaultCode]int{
		protocol.FaultForbidden: 403, protocol.FaultPermissionDenied: 403, protocol.FaultApprovalRequired: 409, protocol.FaultNotFound: 404, protocol.FaultInvalidArgs: 400,
		protocol.FaultTargetNotFound: 404, protocol.FaultTargetUnreachable: 503, protocol.FaultAlreadyExists: 409, protocol.FaultTooLarge: 413, protocol.FaultTimeout: 504,
		protocol.FaultRateLimited: 429, protocol.FaultResourceExhausted: 429, protocol.FaultUnsupported: 501, protocol.FaultFailedPrecondition: 412, protocol.FaultInternal: 500,
		protocol.FaultCanceled: 499,
	} {
		f.call = func(context.Context, catalog.Request) (job.Result, error) {
			return job.Result{}, protocol.NewFault(code, "no").With(map[string]any{"retry_after_ms": 1500, "required_scopes": []string{"fs.read", "fs.write"}})
		}
		resp, body := request(t, s, "POST", "/api/v1/tools/x", "{}")
		if resp.StatusCode != want || resp.Header.Get("Retry-After") != "2" || !strings.Contains(body, `"retry_after_ms":1500`) {
			t.Errorf("%s: got status %d, %s, want %d after 2 seconds", code, resp.StatusCode, body, want)
		}
		if code == protocol.FaultForbidden && !strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), `Bearer error="insufficient_scope", scope="fs.read fs.write", resource_metadata=`) {
			t.Errorf("got challenge %q, want the missing scopes", resp.Header.Get("WWW-Authenticate"))
		}
		if resp, body := request(t, s, "POST", "/api/v1/tools/x", "{}", "Accept", "text/event-stream"); resp.StatusCode != want {
			t.Errorf("%s, before the first event: got status %d, %s, want %d", code, resp.StatusCode, body, want)
		}
	}
	f.call = func(context.Context, catalog.Request) (job.Result, error) {
		return job.Result{}, errors.New("secret")
	}
	if resp, body := request(t, s, "POST", "/api/v1/tools/x", "{}"); resp.StatusCode != 500 || strings.Contains(body, "secret") {
		t.Errorf("got status %d, %s, want 500 without the cause", resp.StatusCode, body)
	}
}

func TestStreamHasAllEventsInOrder(t *testing.T) {
	f, s := serve(t)
	f.call = func(ctx context.Context, r catalog.Request) (job.Result, error) {
		for _, p := range []job.Part{{Kind: job.PartWaiting, Data: []byte(`{"message":"asks"}`)}, {Kind: job.PartChunk, Data: []byte(`{"matches":[1]}`)}, {Kind: job.PartProgress, Data: []byte(`{"bytes":1}`)}, {Kind: job.PartChunk, Data: []byte(`{"matches":[2]}`)}} {
			if err := r.Emit(ctx, p); err != nil {
				return job.Result{}, err
			}
		}
		if r.Tool == "fails" {
			return job.Result{}, protocol.NewFault(protocol.FaultTimeout, "late")
		}
		return job.Result{Data: []byte(`{"count":2}`), Message: "2 matches"}, nil
	}
	head := "event: progress\ndata: {\"message\":\"asks\"}\n\nevent: chunk\ndata: {\"matches\":[1]}\n\nevent: progress\ndata: {\"bytes\":1}\n\nevent: chunk\ndata: {\"matches\":[2]}\n\n"
	resp, body := request(t, s, "POST", "/api/v1/tools/fs_grep", "{}", "Accept", "application/json;q=0.1, text/event-stream")
	if want := head + "event: done\ndata: {\"data\":{\"count\":2},\"message\":\"2 matches\"}\n\n"; body != want || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("got %q, headers %v, want %q", body, resp.Header, want)
	}
	resp, body = request(t, s, "POST", "/api/v1/tools/fails", "{}", "Accept", "text/event-stream")
	if want := head + "event: error\ndata: {\"error\":{\"code\":\"timeout\",\"message\":\"late\",\"retryable\":true}}\n\n"; body != want || resp.StatusCode != 200 {
		t.Errorf("got status %d, %q, want %q", resp.StatusCode, body, want)
	}
}

func TestAcceptDecidesBetweenEventsAndJSON(t *testing.T) {
	const events, result = "text/event-stream", "application/json"
	_, s := serve(t)
	for accept, want := range map[string]struct{ oneShot, stream string }{
		"":                                    {result, result},
		"*/*":                                 {result, result},
		"application/json":                    {result, result},
		"text/event-stream":                   {events, events},
		"Text/Event-Stream;q=0.5":             {events, events},
		"text/event-stream;q=0":               {result, result},
		"application/json, text/event-stream": {result, events},
		"text/event-stream, application/*":    {result, events},
		"text/event-stream, */*;q=0.8":        {events, events},
		"application/json;q=0, */*, text/event-stream": {events, events},
		"application/json;q=0.1, text/event-stream":    {events, events},
		"application/json, text/event-stream;q=0.9":    {result, result},
		"application/json;q=x, text/event-stream":      {result, events},
	} {
		for tool, want := range map[string]string{"whoami": want.oneShot, "fs_grep": want.stream} {
			if resp, body := request(t, s, "POST", "/api/v1/tools/"+tool, "{}", "Accept", accept); resp.StatusCode != 200 || resp.Header.Get("Content-Type") != want {
				t.Errorf("%s with Accept: %s: got %d %s %s, want %s", tool, accept, resp.StatusCode, resp.Header.Get("Content-Type"), body, want)
			}
		}
	}
}

func TestStreamWithoutEventsStaysAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		ctx, cancel := context.WithTimeout(t.Context(), 2*beat+time.Second)
		defer cancel()
		s := &events{w: w, control: http.NewResponseController(w), cancel: cancel}
		s.beat(ctx)
		if got := w.Body.String(); got != ": waiting\n\n: waiting\n\n" || w.Header().Get("Content-Type") != "text/event-stream" {
			t.Errorf("got %q, headers %v, want two comments", got, w.Header())
		}
	})
}

func TestDisconnectedReaderCancelsTheCall(t *testing.T) {
	f, s := serve(t)
	ended := make(chan error, 1)
	f.call = func(ctx context.Context, r catalog.Request) (job.Result, error) {
		r.Emit(ctx, job.Part{Kind: job.PartChunk, Data: []byte(`{}`)})
		<-ctx.Done()
		ended <- ctx.Err()
		return job.Result{}, ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	resp := surfacetest.Request(ctx, t, http.MethodPost, s.URL+"/api/v1/tools/fs_grep", "{}", "Authorization", "Bearer right", "Accept", "text/event-stream")
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "event: chunk\n" {
		t.Errorf("got %q, error %v, want the first chunk", line, err)
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the call goes on")
	}
}

// TestDocumentIsAsCommitted compares the OpenAPI document with its snapshot. Write the snapshot
// with -update, after looking at what changed: a client may rely on it.
func TestDocumentIsAsCommitted(t *testing.T) {
	_, s := serve(t)
	resp, body := request(t, s, "GET", "/api/v1/openapi.json", "")
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(body), "", "  "); err != nil || resp.StatusCode != 200 {
		t.Fatalf("got status %d, error %v, want JSON", resp.StatusCode, err)
	}
	out.WriteByte('\n')
	path := filepath.Join("testdata", "openapi.json")
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("the document differs from %s (%v): look at the change, and write it with -update; want no error", path, err)
	}
	_, again := request(t, s, "GET", "/api/v1/openapi.json", "")
	tag := resp.Header.Get("ETag")
	if again != body || tag == "" {
		t.Error("the document is not always the same")
	}
	if resp, _ := request(t, s, "GET", "/api/v1/openapi.json", "", "If-None-Match", tag); resp.StatusCode != 304 {
		t.Errorf("with its tag: got status %d, want 304", resp.StatusCode)
	}
}

func TestDocumentHasTheSchemasOfTheTools(t *testing.T) {
	f, s := serve(t)
	_, body := request(t, s, "GET", "/api/v1/openapi.json", "")
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Schema json.RawMessage }
			}
			Responses map[string]struct {
				Content map[string]struct {
					Schema struct{ Properties map[string]json.RawMessage }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	same := func(a json.RawMessage, b any) bool {
		raw, _ := json.Marshal(b)
		var x, y any
		json.Unmarshal(a, &x)
		json.Unmarshal(raw, &y)
		return fmt.Sprint(x) == fmt.Sprint(y)
	}
	tools := f.Tools(auth.App(protocol.App{Scopes: protocol.AppScopes}))
	for _, x := range tools {
		op, ok := doc.Paths["/api/v1/tools/"+x.Name]["post"]
		if !ok || !same(op.RequestBody.Content["application/json"].Schema, x.In) || !same(op.Responses["200"].Content["application/json"].Schema.Properties["data"], x.Out) {
			t.Errorf("%s: its schemas differ", x.Name)
		}
		for _, status := range []string{"400", "401", "403", "404", "409", "412", "413", "429", "500", "501", "503", "504"} {
			if _, ok := op.Responses[status]; !ok {
				t.Errorf("%s: got no response for status %s, want one", x.Name, status)
			}
		}
	}
	if len(tools) < 18 {
		t.Errorf("got %d tools, want at least 18", len(tools))
	}
}

func TestPageNeedsNoTokenAndRunsNoScript(t *testing.T) {
	_, s := serve(t)
	resp, body := request(t, s, "GET", "/api/", "", "Authorization", "")
	if resp.StatusCode != 200 || !strings.Contains(body, `id="fs_grep"`) || !strings.Contains(body, "approval_required") || strings.Contains(body, "<script") {
		t.Errorf("got status %d, %.200s, want the page without scripts", resp.StatusCode, body)
	}
	for _, want := range []string{"curl -X POST " + s.URL + "/api/v1/tools/whoami", "<code>target.node_id</code> <span class=\"muted\">string", "base64 or utf8", "<code>path</code> <span class=\"muted\">string, required"} {
		if !strings.Contains(body, want) {
			t.Errorf("got a page without %q, want it", want)
		}
	}
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("got policy %q, want default-src 'none'", policy)
	}
	if resp, _ := request(t, s, "POST", "/api/", ""); resp.StatusCode != 405 {
		t.Errorf("POST: got status %d, want 405", resp.StatusCode)
	}
}

func FuzzBody(f *testing.F) {
	f.Add(`{"a":1}`, "application/json")
	f.Fuzz(func(t *testing.T, text, kind string) {
		r := httptest.NewRequest("POST", "/", strings.NewReader(text))
		r.Header["Content-Type"] = []string{kind}
		raw, err := body(httptest.NewRecorder(), r)
		if err == nil && !json.Valid(raw) {
			t.Errorf("%q: got %q, want JSON", text, raw)
		}
	})
}

// BenchmarkCall measures what REST adds to a call.
func BenchmarkCall(b *testing.B) {
	_, s := serve(b)
	for b.Loop() {
		if resp, _ := request(b, s, "POST", "/api/v1/tools/whoami", `{}`); resp.StatusCode != 200 {
			b.Fatalf("got status %d, want 200", resp.StatusCode)
		}
	}
}
