package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestNodeIntroducesItself(t *testing.T) {
	g := start(t, nil)
	_, p := g.accept()
	if p.MinProtocol != 1 || p.MaxProtocol != 1 || p.Client.ID != "laptop" || p.Client.Mode != protocol.ModeNode || p.Client.Version != "1.2.3" || !strings.Contains(p.Client.Platform, "-") {
		t.Errorf("got client %+v, want this machine as a node", p.Client)
	}
	if p.Auth == nil || p.Auth.Token != "fl_secret" {
		t.Errorf("got auth %+v, want the token", p.Auth)
	}
	var names []string
	for _, spec := range p.Tools {
		names = append(names, spec.Name)
		if spec.Description == "" || !json.Valid(spec.InputSchema) || spec.Effect == protocol.EffectUnknown {
			t.Errorf("%s: got %+v, want a description, a schema and an effect", spec.Name, spec)
		}
		if len(p.NodeRuntime.ToolCapabilities[spec.Name]) == 0 {
			t.Errorf("%s: got no capabilities, want some", spec.Name)
		}
		for _, c := range p.NodeRuntime.ToolCapabilities[spec.Name] {
			if !slices.Contains(p.NodeRuntime.HostCapabilities, c) || !slices.Contains(protocol.Capabilities, c) {
				t.Errorf("%s: got capability %s, want one of the host", spec.Name, c)
			}
		}
	}
	names = slices.DeleteFunc(names, func(s string) bool { return s == "Process" || protocol.ForPrograms(s) })
	if strings.Join(names, " ") != "Bash Read Write Edit Glob Grep" {
		t.Errorf("got tools %v, want Bash Read Write Edit Glob Grep", names)
	}
	if !slices.Equal(p.Extensions, []string{protocol.ExtPreview, protocol.ExtProgress, protocol.ExtCancel, protocol.ExtTransfer, protocol.ExtUndo, protocol.ExtFiles, protocol.ExtKeep, protocol.ExtTunnel, protocol.ExtTerminal}) {
		t.Errorf("got extensions %v, want all", p.Extensions)
	}
	h := p.Host
	if h == nil || h.Hostname == "" || h.Home == "" || h.OS == "" || h.Arch == "" || h.Shell == "" || h.Sandbox == "" || h.Workspace != g.node.ws.Dir() {
		t.Errorf("got host %+v, want a description of this machine", h)
	}
	if e := h.Enforcement; e == nil || e.Mode != "workspace-write" || e.Network != "blocked" || e.Summary == "" || len(e.Checks) < 10 || e.Checks[0].ID == "" {
		t.Errorf("got enforcement %+v, want the checks of the confined mode", e)
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
		t.Errorf("got %+v, want the lines of the file", fast)
	}
	l.invoke("let", "Write", `{"path":"go","content":""}`)
	results := map[protocol.CallID]string{} // the file exists before its writer has reported it
	for range 2 {
		r := l.result()
		results[r.CallID] = string(r.Result)
	}
	if results["let"] == "" || !strings.Contains(results["slow"], `"output":"done\n"`) {
		t.Errorf("got results %q, want a cancelled call and a finished one", results)
	}
}

func TestNodeExplainsFailures(t *testing.T) {
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
			t.Errorf("%s %s: got error %q, result %s, want error %q", c.tool, c.args, r.Error, r.Result, c.want)
		}
	}
}

func TestNodePreviewHasNoEffect(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	preview := func(tool, args string) protocol.ToolResultParams {
		l.send(protocol.EventToolInvoke, protocol.ToolInvoke{CallID: protocol.CallID(protocol.NewID()), Tool: tool, Args: json.RawMessage(args), Preview: true})
		return l.result()
	}
	r := preview("Write", `{"path":"new.txt","content":"hello\n"}`)
	p := decode[protocol.CallPreview](t, r.Result)
	if !p.NewFile || p.Added != 1 || p.FileSHA256 != "absent" || !strings.Contains(p.Diff, "+hello") || p.Path != filepath.Join(g.node.ws.Dir(), "new.txt") {
		t.Errorf("got preview %+v, error %q, want the new file", p, r.Error)
	}
	if _, err := os.Stat(p.Path); !os.IsNotExist(err) {
		t.Errorf("the preview wrote: %v", err)
	}
	if r := preview("Bash", `{}`); !strings.HasPrefix(r.Error, "Invalid arguments: ") {
		t.Errorf("preview with invalid arguments: got %+v, want an error", r)
	}
	if _, ok := g.node.tools["Process"]; ok {
		if r := preview("Process", `{"action":"list"}`); string(r.Result) != "{}" {
			t.Errorf("preview of a list: got %s %q, want nothing", r.Result, r.Error)
		}
	}
}

func TestNodeChecksTheExpectedState(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.send(protocol.EventToolInvoke, protocol.ToolInvoke{CallID: "1", Tool: "Write", Args: json.RawMessage(`{"path":"a","content":"x"}`), Expect: strings.Repeat("0", 64)})
	if r := l.result(); r.Error != "The file changed after it was shown. Nothing was written; ask again." {
		t.Errorf("got %+v, want that the file changed", r)
	}
	if _, err := os.Stat(filepath.Join(g.node.ws.Dir(), "a")); !os.IsNotExist(err) {
		t.Errorf("it was written: %v", err)
	}
}

func TestCancelReturnsTheOutputSoFar(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.invoke("long", "Bash", `{"command":"echo begun; sleep 999"}`)
	req := l.next(protocol.ReportProgress.Name)
	if p := decode[protocol.ToolProgress](t, req.Params); p.CallID != "long" || p.Tail != "begun\n" || p.Bytes != 6 {
		t.Errorf("got progress %+v, want the first line", p)
	}
	l.answer(req, protocol.Ack{OK: true})
	began := time.Now()
	l.send(protocol.EventToolCancel, protocol.ToolCancel{CallID: "unknown"})
	l.send(protocol.EventToolCancel, protocol.ToolCancel{CallID: "long"})
	r := l.result()
	if r.CallID != "long" || r.Error != "" || !strings.Contains(string(r.Result), `"output":"begun\n"`) || !strings.Contains(string(r.Result), `"status":"failed"`) {
		t.Errorf("got %+v, want a failed command with its output", r)
	}
	if d := time.Since(began); d > 5*time.Minute {
		t.Errorf("took %v, want less than 5m", d)
	}
}

func TestResultsSurviveALostConnection(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.invoke("kept", "Write", `{"path":"a","content":"x"}`)
	l.next(protocol.ReturnResult.Name) // and no confirmation
	l.invoke("goes on", "Bash", `{"command":"until [ -e go ]; do sleep 0.02; done"}`)
	l.invoke("seen", "Read", `{"path":"a"}`)
	l.result()
	l.ws.NetConn().Close()
	receive(t, l.gone, "the end of the connection")
	l, p := g.accept()
	if !slices.Equal(p.Calls, []protocol.CallID{"goes on", "kept"}) {
		t.Errorf("got calls %q, want the two that run", p.Calls)
	}
	if r := l.result(); r.CallID != "kept" || r.Error != "" {
		t.Errorf("got %+v, want the result of the call kept", r)
	}
	l.invoke("let", "Write", `{"path":"go","content":""}`)
	ends := map[protocol.CallID]string{}
	for range 2 {
		r := l.result()
		ends[r.CallID] = r.Error
	}
	if text, ok := ends["goes on"]; !ok || text != "" || len(ends) != 2 {
		t.Errorf("got results %q, want both calls without an error", ends)
	}
	// Once confirmed, it is not sent again.
	l.invoke("next", "Read", `{"path":"a"}`)
	if r := l.result(); r.CallID != "next" {
		t.Errorf("got %+v, want the result of the call next", r)
	}
}

func TestRepeatedCallRunsOnce(t *testing.T) {
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
		t.Errorf("got results %v, then %s, want each once, and one run", seen, last.Result)
	}
}

func TestARefusedResultIsDropped(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.invoke("old", "Read", `{"path":"none"}`)
	l.write(protocol.EncodeError(l.next(protocol.ReturnResult.Name).ID, protocol.ErrNotFound.With("Unknown callId")))
	l.invoke("new", "Read", `{"path":"none"}`)
	if r := l.result(); r.CallID != "new" {
		t.Errorf("got %+v, want the result of the call new", r)
	}
}

func TestBrokenEventsAreIgnored(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	for _, payload := range []any{nil, "text", 7, []int{1}, map[string]any{"callId": 7}, map[string]any{"tool": "Bash"}} {
		for _, event := range []string{protocol.EventToolInvoke, protocol.EventToolCancel, protocol.EventLogsGet, "unheard.of"} {
			l.send(event, payload)
		}
	}
	l.invoke("after", "Read", `{"path":"none"}`)
	if r := l.result(); r.CallID != "after" {
		t.Errorf("got %+v, want the result of the call after", r)
	}
}

// TestServerWithoutAReaderIsStopped plays a gateway that was killed and does not know its servers.
func TestServerWithoutAReaderIsStopped(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	serve := func(id protocol.CallID, args string) {
		l.send(protocol.EventToolInvoke, protocol.ToolInvoke{CallID: id, Tool: "serve", Args: json.RawMessage(args), Direct: true})
	}
	serve("srv", `{"command":"cat"}`)
	l.answer(l.next(protocol.ReportProgress.Name), protocol.Ack{OK: true})
	l.invoke("read", "Read", `{"path":"none"}`)
	l.result() // so the answer before it has arrived too
	l.ws.NetConn().Close()
	receive(t, l.gone, "the end of the connection")
	l, p := g.accept()
	if !slices.Contains(p.Calls, "srv") {
		t.Fatalf("got calls %q, want srv among them", p.Calls)
	}
	serve("in", `{"session":"srv","input":"aGk="}`) // it prints something
	seen := map[protocol.CallID]string{"read": ""}  // this result may come again
	for len(seen) < 3 {
		req := receive(t, l.got, "a request")
		switch req.Method {
		case protocol.ReportProgress.Name:
			l.answer(req, protocol.Ack{OK: true, Dropped: true})
		case protocol.ReturnResult.Name:
			r := decode[protocol.ToolResultParams](t, req.Params)
			seen[r.CallID] = r.Error
			l.answer(req, protocol.Ack{OK: true})
		}
	}
	if !strings.Contains(seen["srv"], "nobody reads the result") || seen["in"] != "" {
		t.Errorf("got results %q, want an error of srv alone", seen)
	}
}
