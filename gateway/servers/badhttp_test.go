//go:build unix

package servers_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// badHTTP is an MCP server at an address without an SDK. Its tools do wrong what their names say.
type badHTTP struct {
	url      string
	sessions atomic.Int32 // begun
	calls    atomic.Int32 // of the tool counted
	forgets  atomic.Value // string: how the next call of the tool counted is refused
	open     chan struct{}
}

func newBadHTTP(t *testing.T) *badHTTP {
	b := &badHTTP{open: make(chan struct{})}
	b.forgets.Store("")
	s := httptest.NewServer(b)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	b.url = s.URL
	return b
}

// badTools are the tools, with what a call of each must say.
var badTools = []struct {
	name, want string
	isUnknown  bool // the outcome may have happened
}{
	{"status-400", "did not carry out the call: the server refuses the request (status 400): no such thing", false},
	{"status-401", "did not carry out the call", false},
	{"status-403", "denies access (status 403)", false},
	{"status-404", "ended the session", false},
	{"status-429", "(status 429): try again in 7 s", false},
	{"status-500", "a fault of its own (status 500)", true},
	{"status-502", "a fault of its own (status 502)", true},
	{"html", `answers with "text/html" (status 200)`, true},
	{"garbage", "cannot be read", true},
	{"half", "cannot be read", true},
	{"long", "longer than 32 MiB", true},
	{"longEvent", "longer than 32 MiB", true},
	{"badEvent", "cannot be read", true},
	{"cut", "", true},
	{"noAnswer", "", true},
}

func (b *badHTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	raw, _ := io.ReadAll(r.Body)
	json.Unmarshal(raw, &m)
	answer := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}
	switch m.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", b.sessions.Add(1)))
		answer(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}}`)
	case "tools/list":
		list := []string{`{"name":"counted","inputSchema":{"type":"object"}}`, `{"name":"waits","inputSchema":{"type":"object"}}`}
		for _, one := range badTools {
			list = append(list, `{"name":"`+one.name+`","inputSchema":{"type":"object"}}`)
		}
		answer(`{"tools":[` + strings.Join(list, ",") + `]}`)
	case "tools/call":
		b.call(w, r, m.Params.Name, string(m.ID), answer)
	case "server/discover":
		http.Error(w, "no such method", http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func (b *badHTTP) call(w http.ResponseWriter, r *http.Request, name, id string, answer func(string)) {
	var status int
	if n, _ := fmt.Sscanf(name, "status-%d", &status); n == 1 {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "no such thing", status)
		return
	}
	kind, body := "application/json", ""
	switch name {
	case "counted":
		switch b.forgets.Swap("") {
		case "404":
			http.Error(w, "session not found", http.StatusNotFound)
			return
		case "body":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"Session not found"}}`, id)
			return
		case "400":
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
			return
		}
		answer(fmt.Sprintf(`{"content":[{"type":"text","text":"call %d in session %d"}]}`, b.calls.Add(1), b.sessions.Load()))
		return
	case "waits":
		<-b.open
		answer(`{"content":[{"type":"text","text":"waited"}]}`)
		return
	case "html":
		kind, body = "text/html", "<h1>Login</h1>"
	case "garbage":
		body = "not JSON at all"
	case "half":
		body = `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"ty`
	case "long":
		body = `{"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 40<<20) + `"}]},"jsonrpc":"2.0","id":` + id + `}`
	case "longEvent":
		kind, body = "text/event-stream", `data: {"jsonrpc":"2.0","id":`+id+`,"result":{"content":[{"type":"text","text":"`+strings.Repeat("x", 40<<20)+`"}]}}`+"\n\n"
	case "badEvent":
		kind, body = "text/event-stream", "data: hello\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":"+id+",\"result\":[\n\n"
	case "cut":
		w.Header().Set("Content-Length", "1000")
		body = `{"jsonrpc"`
	case "noAnswer":
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", kind)
	fmt.Fprint(w, body)
}

// TestABadResponseFailsItsCallAlone makes bad calls while another one waits, which must not notice.
func TestABadResponseFailsItsCallAlone(t *testing.T) {
	h := startGateway(t)
	b := newBadHTTP(t)
	h.add("web", protocol.ServerSpec{URL: b.url + "/mcp", Headers: map[string]string{"Authorization": "Bearer x"}})
	waits := make(chan string, 1)
	go func() { waits <- h.invoke("web__waits", `{}`) }()
	for _, c := range badTools {
		if c.name == "status-404" {
			continue // it ends the session
		}
		tool := protocol.NewToolName("web", c.name)
		_, _ = client.Call(t.Context(), h.owner, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: tool})
		got := h.waitLastCall(tool)
		isUnknown := got.Status == protocol.CallUnknown
		if !strings.Contains(got.Error, c.want) || isUnknown != c.isUnknown || isUnknown != strings.Contains(got.Error, "Unknown outcome") {
			t.Errorf("%s: got %s, %q; want %q, unknown %v", c.name, got.Status, got.Error, c.want, c.isUnknown)
		}
	}
	close(b.open)
	if got := <-waits; got != "waited" {
		t.Errorf("the other call: got %q, want waited\n%s", got, h.log("web"))
	}
	if n := b.sessions.Load(); n != 1 {
		t.Errorf("%d sessions were begun, want 1", n)
	}
}

// TestExpiredSessionIsRestarted calls a tool after the server has forgotten the session, in each
// way in which servers say so.
func TestExpiredSessionIsRestarted(t *testing.T) {
	h := startGateway(t)
	b := newBadHTTP(t)
	h.add("web", protocol.ServerSpec{URL: b.url + "/mcp"})
	for i, how := range []string{"404", "body", "400"} {
		b.forgets.Store(how)
		if got, want := h.invoke("web__counted", `{}`), fmt.Sprintf("call %d in session %d", i+1, i+2); got != want {
			t.Errorf("%s: got %q, want %q\n%s", how, got, want, h.log("web"))
		}
	}
}

// TestUnsentCallReportsIt calls a server that has ended.
func TestUnsentCallReportsIt(t *testing.T) {
	h := startGateway(t)
	b := newBadHTTP(t)
	s := httptest.NewServer(b)
	h.add("web", protocol.ServerSpec{URL: s.URL + "/mcp"})
	s.CloseClientConnections()
	s.Close()
	h.invoke("web__counted", `{}`)
	got := h.waitLastCall("web__counted")
	if got.Status != protocol.CallFailed || !strings.Contains(got.Error, "did not carry out the call: nothing answers at") {
		t.Errorf("got %s, error %q, want that nothing answers", got.Status, got.Error)
	}
}
