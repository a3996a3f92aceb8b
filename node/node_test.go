package node

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// gateway is the other end: it accepts nodes over memory and hands the test every request.
type gateway struct {
	t     *testing.T
	links chan *link
	node  *Node
	quit  func() // ends the node in order
}

type link struct {
	t    *testing.T
	ws   *websocket.Conn
	mu   sync.Mutex // one writer
	got  chan protocol.Request
	gone chan struct{}
}

func start(t *testing.T, change func(*Options)) *gateway {
	t.Helper()
	dial, listener := client.Memory()
	g := &gateway{t: t, links: make(chan *link, 16)}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		l := &link{t: t, ws: ws, got: make(chan protocol.Request, 64), gone: make(chan struct{})}
		g.links <- l
		defer close(l.gone)
		for {
			_, data, err := ws.ReadMessage()
			if err != nil {
				return
			}
			frame, err := protocol.DecodeFrame(data)
			if err != nil {
				t.Error(err)
			} else if frame.Request != nil {
				l.got <- *frame.Request
			}
		}
	})}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	opts := Options{ID: "laptop", Workspace: t.TempDir(), Dial: dial, LogDir: t.TempDir(), Version: "1.2.3", Token: "fl_secret"}
	if change != nil {
		change(&opts)
	}
	n, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	g.node = n
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	g.quit = sync.OnceFunc(func() {
		stop()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("Run does not return")
		}
	})
	t.Cleanup(g.quit)
	return g
}

func receive[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(10 * time.Second):
		t.Fatal("nothing arrived: " + what)
		panic("unreachable")
	}
}

// accept takes the next connection through its handshake.
func (g *gateway) accept() (*link, protocol.ConnectParams) {
	g.t.Helper()
	l := receive(g.t, g.links, "a connection")
	req := receive(g.t, l.got, "connect")
	params := decode[protocol.ConnectParams](g.t, req.Params)
	if req.Method != protocol.Connect.Name {
		g.t.Fatalf("first request is %s", req.Method)
	}
	l.answer(req, protocol.ConnectResult{Type: protocol.HelloOK, Protocol: 1, Server: protocol.ServerInfo{Version: "9"}})
	return l, params
}

func decode[T any](t *testing.T, raw json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

func (l *link) write(data []byte, err error) {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		err = l.ws.WriteMessage(websocket.TextMessage, data)
	}
	if err != nil {
		l.t.Error(err)
	}
}

func (l *link) answer(req protocol.Request, payload any) {
	l.t.Helper()
	l.write(protocol.EncodeResult(req.ID, payload))
}

func (l *link) send(event string, payload any) {
	l.t.Helper()
	l.write(protocol.EncodeEvent(event, payload, 0))
}

func (l *link) invoke(call, tool, args string) {
	l.t.Helper()
	l.send(protocol.EventToolInvoke, protocol.ToolInvoke{CallID: protocol.CallID(call), Tool: tool, Args: json.RawMessage(args)})
}

// next waits for a request of a method, confirming everything else.
func (l *link) next(method string) protocol.Request {
	l.t.Helper()
	for {
		req := receive(l.t, l.got, method)
		if req.Method == method {
			return req
		}
		l.answer(req, protocol.Ack{OK: true})
	}
}

// result waits for the next result and confirms it.
func (l *link) result() protocol.ToolResultParams {
	l.t.Helper()
	req := l.next(protocol.ReturnResult.Name)
	l.answer(req, protocol.Ack{OK: true})
	return decode[protocol.ToolResultParams](l.t, req.Params)
}

func TestNodeIntroducesItself(t *testing.T) {
	g := start(t, nil)
	_, p := g.accept()
	if p.MinProtocol != 1 || p.MaxProtocol != 1 || p.Client.ID != "laptop" || p.Client.Mode != protocol.ModeNode || p.Client.Version != "1.2.3" || !strings.Contains(p.Client.Platform, "-") {
		t.Errorf("client = %+v", p.Client)
	}
	if p.Auth == nil || p.Auth.Token != "fl_secret" {
		t.Errorf("auth = %+v", p.Auth)
	}
	var names []string
	for _, spec := range p.Tools {
		names = append(names, spec.Name)
		if spec.Description == "" || !json.Valid(spec.InputSchema) || spec.Effect == protocol.EffectUnknown {
			t.Errorf("%s is not described: %+v", spec.Name, spec)
		}
		if len(p.NodeRuntime.ToolCapabilities[spec.Name]) == 0 {
			t.Errorf("%s has no capabilities", spec.Name)
		}
		for _, c := range p.NodeRuntime.ToolCapabilities[spec.Name] {
			if !slices.Contains(p.NodeRuntime.HostCapabilities, c) || !slices.Contains(protocol.Capabilities, c) {
				t.Errorf("%s: capability %s is not the host's", spec.Name, c)
			}
		}
	}
	names = slices.DeleteFunc(names, func(s string) bool { return s == "Process" })
	if strings.Join(names, " ") != "Bash Read Write Edit Glob Grep" {
		t.Errorf("tools = %v", names)
	}
	if !slices.Equal(p.Extensions, []string{protocol.ExtPreview, protocol.ExtProgress, protocol.ExtCancel, protocol.ExtTransfer, protocol.ExtFiles}) {
		t.Errorf("extensions = %v", p.Extensions)
	}
	h := p.Host
	if h == nil || h.Hostname == "" || h.Home == "" || h.OS == "" || h.Arch == "" || h.Shell == "" || h.Sandbox == "" || h.Workspace != g.node.ws.Dir() {
		t.Errorf("host = %+v", h)
	}
	if e := h.Enforcement; e == nil || e.Mode != "workspace-write" || e.Network != "blocked" || e.Summary == "" || len(e.Checks) < 10 || e.Checks[0].ID == "" {
		t.Errorf("enforcement = %+v", e)
	}
}

func TestNodeRunsCallsAtTheSameTime(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	if err := os.WriteFile(filepath.Join(g.node.ws.Dir(), "a.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.invoke("slow", "Bash", `{"command":"until [ -e go ]; do sleep 0.02; done; echo done"}`)
	l.invoke("fast", "Read", `{"path":"a.txt"}`)
	fast := l.result()
	if fast.CallID != "fast" || fast.Error != "" || !strings.Contains(string(fast.Result), `"content":"1\tone\n2\ttwo"`) {
		t.Errorf("fast = %+v %s", fast, fast.Result)
	}
	l.invoke("let", "Write", `{"path":"go","content":""}`)
	first, second := l.result(), l.result()
	if first.CallID != "let" || second.CallID != "slow" || !strings.Contains(string(second.Result), `"output":"done\n"`) {
		t.Errorf("results = %s %s", first.CallID, second.Result)
	}
}

func TestNodeTellsFailuresInWords(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	for _, c := range []struct{ tool, args, want string }{
		{"Fly", `{}`, "Tool not found: Fly"},
		{"Read", `{}`, "Invalid arguments: "},
		{"Read", `{"path":"none.txt"}`, "none.txt"},
		{"Read", `{"path":"/etc/passwd"}`, "outside the workspace"},
	} {
		l.invoke("call-"+c.tool+c.args, c.tool, c.args)
		if r := l.result(); !strings.Contains(r.Error, c.want) || len(r.Result) > 0 {
			t.Errorf("%s %s: %q, result %s", c.tool, c.args, r.Error, r.Result)
		}
	}
}

func TestNodePreviewsWithoutDoing(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	preview := func(tool, args string) protocol.ToolResultParams {
		l.send(protocol.EventToolInvoke, protocol.ToolInvoke{CallID: protocol.CallID(protocol.NewID()), Tool: tool, Args: json.RawMessage(args), Preview: true})
		return l.result()
	}
	r := preview("Write", `{"path":"new.txt","content":"hello\n"}`)
	p := decode[protocol.CallPreview](t, r.Result)
	if !p.NewFile || p.Added != 1 || p.FileSHA256 != "absent" || !strings.Contains(p.Diff, "+hello") || p.Path != filepath.Join(g.node.ws.Dir(), "new.txt") {
		t.Errorf("preview = %+v, error %q", p, r.Error)
	}
	if _, err := os.Stat(p.Path); !os.IsNotExist(err) {
		t.Errorf("the preview wrote: %v", err)
	}
	if r := preview("Bash", `{}`); !strings.HasPrefix(r.Error, "Invalid arguments: ") {
		t.Errorf("preview of bad arguments = %+v", r)
	}
	if _, ok := g.node.tools["Process"]; ok {
		if r := preview("Process", `{"action":"list"}`); string(r.Result) != "null" {
			t.Errorf("a tool without preview says %s %q", r.Result, r.Error)
		}
	}
}

func TestNodeObeysExpect(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.send(protocol.EventToolInvoke, protocol.ToolInvoke{CallID: "1", Tool: "Write", Args: json.RawMessage(`{"path":"a","content":"x"}`), Expect: strings.Repeat("0", 64)})
	if r := l.result(); r.Error != "The file changed after it was shown. Nothing was written; ask again." {
		t.Errorf("result = %+v", r)
	}
	if _, err := os.Stat(filepath.Join(g.node.ws.Dir(), "a")); !os.IsNotExist(err) {
		t.Errorf("it was written: %v", err)
	}
}

func TestCancelReturnsWhatThereIs(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.invoke("long", "Bash", `{"command":"echo begun; sleep 60"}`)
	req := l.next(protocol.ReportProgress.Name)
	if p := decode[protocol.ToolProgress](t, req.Params); p.CallID != "long" || p.Tail != "begun\n" || p.Bytes != 6 {
		t.Errorf("progress = %+v", p)
	}
	l.answer(req, protocol.Ack{OK: true})
	began := time.Now()
	l.send(protocol.EventToolCancel, protocol.ToolCancel{CallID: "unknown"})
	l.send(protocol.EventToolCancel, protocol.ToolCancel{CallID: "long"})
	r := l.result()
	if r.CallID != "long" || r.Error != "" || !strings.Contains(string(r.Result), `"output":"begun\n"`) || !strings.Contains(string(r.Result), `"status":"failed"`) {
		t.Errorf("result = %+v %s", r, r.Result)
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestResultsSurviveALostConnection(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.invoke("kept", "Write", `{"path":"a","content":"x"}`)
	l.next(protocol.ReturnResult.Name) // and no confirmation
	l.ws.NetConn().Close()
	receive(t, l.gone, "the end of the connection")
	l, _ = g.accept()
	if r := l.result(); r.CallID != "kept" || r.Error != "" {
		t.Errorf("result = %+v", r)
	}
	// Once confirmed, it is not sent again.
	l.invoke("next", "Read", `{"path":"a"}`)
	if r := l.result(); r.CallID != "next" {
		t.Errorf("result = %+v", r)
	}
}

func TestACallAskedForTwiceRunsOnce(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	args := `{"command":"echo x >>runs; until [ -e go ]; do sleep 0.02; done"}`
	l.invoke("one", "Bash", args)
	l.invoke("one", "Bash", args)
	l.invoke("let", "Write", `{"path":"go","content":""}`)
	seen := map[protocol.CallID]int{}
	seen[l.result().CallID]++
	seen[l.result().CallID]++
	l.invoke("count", "Read", `{"path":"runs"}`)
	last := l.result()
	if seen["one"] != 1 || seen["let"] != 1 || !strings.Contains(string(last.Result), `"lines":1`) {
		t.Errorf("seen %v, then %s", seen, last.Result)
	}
}

func TestARefusedResultIsDropped(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.invoke("old", "Read", `{"path":"none"}`)
	l.write(protocol.EncodeError(l.next(protocol.ReturnResult.Name).ID, protocol.ErrNotFound.With("Unknown callId")))
	l.invoke("new", "Read", `{"path":"none"}`)
	if r := l.result(); r.CallID != "new" {
		t.Errorf("result = %+v", r)
	}
}

func TestLogsHoldNeitherArgumentsNorOutput(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.invoke("one", "Bash", `{"command":"echo spoken-$((40+2))"}`)
	l.result()
	l.invoke("two", "Read", `{"path":"secret-name.txt"}`)
	l.result()
	l.send(protocol.EventLogsGet, protocol.LogsGet{CallID: "logs", Lines: 50})
	req := l.next(protocol.ReturnLogs.Name)
	l.answer(req, protocol.Ack{OK: true})
	p := decode[protocol.LogsResultParams](t, req.Params)
	all := strings.Join(p.Lines, "\n")
	if p.CallID != "logs" || p.Error != "" || !strings.Contains(all, `"call":"one"`) || !strings.Contains(all, `"tool":"Bash"`) {
		t.Errorf("logs = %+v", p)
	}
	for _, secret := range []string{"spoken", "secret-name", "fl_secret"} {
		if strings.Contains(all, secret) {
			t.Errorf("the log tells %q:\n%s", secret, all)
		}
	}
	for _, line := range p.Lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

func TestNodeWithoutLogSaysSo(t *testing.T) {
	g := start(t, func(o *Options) { o.LogDir = "" })
	l, _ := g.accept()
	l.send(protocol.EventLogsGet, protocol.LogsGet{CallID: "logs", Lines: 5})
	req := l.next(protocol.ReturnLogs.Name)
	l.answer(req, protocol.Ack{OK: true})
	if p := decode[protocol.LogsResultParams](t, req.Params); p.Error == "" {
		t.Errorf("answer = %+v", p)
	}
}

func TestBrokenEventsDoNoHarm(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	for _, payload := range []any{nil, "text", 7, []int{1}, map[string]any{"callId": 7}, map[string]any{"tool": "Bash"}} {
		for _, event := range []string{protocol.EventToolInvoke, protocol.EventToolCancel, protocol.EventLogsGet, "unheard.of"} {
			l.send(event, payload)
		}
	}
	l.invoke("after", "Read", `{"path":"none"}`)
	if r := l.result(); r.CallID != "after" {
		t.Errorf("result = %+v", r)
	}
}
