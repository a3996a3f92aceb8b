package detect

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
)

// fake answers "METHOD /path" with a body, and other paths with notFound. It records its requests.
type fake struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newFake(t *testing.T, notFound int, answers map[string]string) *fake {
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.asked = append(f.asked, r.Method+" "+r.URL.Path)
		f.mu.Unlock()
		body, ok := answers[r.Method+" "+r.URL.Path]
		if !ok {
			w.WriteHeader(notFound)
			io.WriteString(w, `{"error":{"message":"no"}}`)
			return
		}
		io.WriteString(w, body)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) address() string { return strings.TrimPrefix(f.URL, "http://") }

// one scans until the server answers in time, which takes several attempts on a busy machine.
func one(t *testing.T, address string) protocol.DetectedServer {
	t.Helper()
	var found []protocol.DetectedServer
	polltest.Until(t, "the server is found", func() bool {
		found = Scan(t.Context(), []string{address})
		return len(found) == 1
	})
	return found[0]
}

func TestServersAreDistinguishedByTheirAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		notFound        int
		answers         map[string]string
		provider, state string
		says            string // part of the name
		path            string // of the base URL
		models          int
	}{
		"Ollama": {404, map[string]string{
			"GET /api/version": `{"version":"0.20.0"}`, "GET /api/tags": `{"models":[{"name":"qwen3"}]}`, "GET /api/ps": `{"models":[]}`,
			"POST /api/show": `{"capabilities":["completion","tools"]}`, "GET /v1/models": `{"object":"list","data":[{"id":"qwen3","owned_by":"library"}]}`,
		}, "ollama", Ready, "Ollama", "", 1},
		"Ollama without models": {404, map[string]string{
			"GET /api/version": `{"version":"0.20.0"}`, "GET /api/tags": `{"models":[]}`, "GET /v1/models": `{"object":"list","data":null}`,
		}, "ollama", Ready, "Ollama", "", 0},
		// LM Studio answers 200 to everything.
		"LM Studio": {200, map[string]string{
			"GET /v1/models":     `{"data":[{"id":"q","object":"model","owned_by":"organization_owner"}]}`,
			"GET /api/v1/models": `{"models":[{"type":"llm","key":"q","loaded_instances":[],"capabilities":{"trained_for_tool_use":true}}]}`,
		}, "lmstudio", Ready, "LM Studio", "/v1", 1},
		"LM Studio without models": {200, map[string]string{"GET /v1/models": `{"data":[]}`, "GET /api/v1/models": `{"models":[]}`}, "lmstudio", Ready, "LM Studio", "/v1", 0},
		"vLLM":                     {404, map[string]string{"GET /v1/models": `{"data":[{"id":"m","owned_by":"vllm","max_model_len":4096}]}`}, "compatible", Ready, "vLLM", "/v1", 1},
		"any other":                {404, map[string]string{"GET /v1/models": `{"data":[{"id":"m"}]}`}, "compatible", Ready, "on port", "/v1", 1},
		"one that wants a key":     {401, nil, "compatible", NeedsKey, "on port", "/v1", 0},
		"one that is loading":      {503, nil, "compatible", Loading, "on port", "/v1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, tc.notFound, tc.answers)
			got := one(t, f.address())
			if got.Provider != tc.provider || got.State != tc.state || !strings.Contains(got.Name, tc.says) || got.BaseURL != f.URL+tc.path || len(got.Models) != tc.models {
				t.Errorf("got %+v; want provider %v, state %v, a name with %q, address %v and %d models", got, tc.provider, tc.state, tc.says, f.URL+tc.path, tc.models)
			}
			for _, a := range f.asked {
				if strings.HasPrefix(a, "POST ") && a != "POST /api/show" {
					t.Errorf("asked to do something: %s", a)
				}
			}
		})
	}
}

func TestOtherServersAreNotTakenForModelServers(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"a web page":       func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") },
		"a login page":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401); io.WriteString(w, "<html>") },
		"another JSON API": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":[{"name":"x"}]}`) },
		"a redirect elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		},
		"nothing of the sort": http.NotFound,
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(handler)
			if found := Scan(t.Context(), []string{strings.TrimPrefix(s.URL, "http://")}); len(found) > 0 {
				t.Errorf("%s: got %+v; want no results", name, found)
			}
			s.Close()
		})
	}
}

func TestLlamaServerThatLoadsIsSaidToLoad(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Server", "llama.cpp")
		w.WriteHeader(503)
		io.WriteString(w, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`)
	}))
	defer s.Close()
	if got := one(t, strings.TrimPrefix(s.URL, "http://")); got.Provider != "llamacpp" || got.State != Loading {
		t.Errorf(`got %+v; want Provider "llamacpp" and State %v`, got, Loading)
	}
}

func TestOnlyThisMachineIsAsked(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true,
		"192.168.0.1:1": false, "0.0.0.0:1": false, "example.com:1": false, "localhost.example.com:1": false, "127.0.0.1": false, "": false,
	} {
		t.Run(address, func(t *testing.T) {
			if got := loopback(address); got != want {
				t.Errorf("%q: got %v, want %v", address, got, want)
			}
		})
	}
	if found := Scan(t.Context(), []string{"192.0.2.1:80", "example.com:80"}); len(found) > 0 {
		t.Errorf("got %v; want no results", found)
	}
}

func TestOllamaHostIsReadAsOllamaDoes(t *testing.T) {
	for value, want := range map[string]string{
		"": "", "0.0.0.0": "127.0.0.1:11434", "0.0.0.0:11500": "127.0.0.1:11500", ":11500": "127.0.0.1:11500", "localhost": "localhost:11434",
		"http://localhost:11500/": "localhost:11500", "http://localhost": "localhost:80", "https://ollama.example": "", "box:1": "box:1", "[::1]:5": "[::1]:5", "[::]": "127.0.0.1:11434",
	} {
		t.Run(value, func(t *testing.T) {
			if got := ollamaHost(value); got != want {
				t.Errorf("%q: %q, want %q", value, got, want)
			}
		})
	}
	t.Setenv("OLLAMA_HOST", "box:1")
	if list := Addresses(); list[0] != "box:1" || len(list) != 8 {
		t.Errorf(`got %v; want list[0] "box:1" and length 8`, list)
	}
}

func TestSilentServerDoesNotHoldUpTheScan(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts in the kernel, never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f := newFake(t, 404, map[string]string{"GET /v1/models": `{"data":[{"id":"m"}]}`})
	polltest.Until(t, "the other server is found once", func() bool {
		return len(Scan(t.Context(), []string{l.Addr().String(), f.address(), f.address()})) == 1
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found := Scan(ctx, []string{f.address()}); len(found) > 0 {
		t.Errorf("got %v; want no results", found)
	}
}
