//go:build unix

package gateway_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/peer/porttest"
	framing "fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// viewer is a viewer of a terminal, with what it shows.
type viewer struct {
	t      testing.TB
	frames *framing.Frames
	info   protocol.Terminal

	mu    sync.Mutex // guards the fields below
	text  string     // since the last snapshot
	state protocol.TerminalState
	end   *protocol.TerminalEnd
	snaps int
	lost  error
}

// view opens or views a terminal of laptop with the options of a client.
func view(t testing.TB, o client.Options, p protocol.TerminalConnectParams) *viewer {
	t.Helper()
	v, err := tryView(t, o, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func tryView(t testing.TB, o client.Options, p protocol.TerminalConnectParams) (*viewer, error) {
	if o.Connect == nil {
		o.Connect = func() protocol.ConnectParams { return gateway.ClientParams("cli") }
	}
	if p.Node == "" {
		p.Node = "laptop"
	}
	frames, info, err := client.OpenTerminal(t.Context(), o, p)
	if err != nil {
		return nil, err
	}
	v := &viewer{t: t, frames: frames, info: info}
	done := make(chan struct{})
	go func() {
		defer close(done)
		v.read()
	}()
	t.Cleanup(func() { frames.Close(); <-done })
	return v, nil
}

func (v *viewer) read() {
	for {
		kind, body, err := v.frames.Read()
		v.mu.Lock()
		switch {
		case err != nil:
			v.lost = err
		case kind == protocol.TerminalSnapshot:
			v.text, v.snaps = string(body), v.snaps+1
		case kind == protocol.TerminalOutput:
			v.text += string(body)
		case kind == protocol.TerminalStateChanged:
			v.state = protocol.TerminalState{}
			json.Unmarshal(body, &v.state)
		case kind == protocol.TerminalEnded:
			v.end = &protocol.TerminalEnd{}
			json.Unmarshal(body, v.end)
		}
		v.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (v *viewer) write(kind byte, body string) {
	v.t.Helper()
	if err := v.frames.Write(kind, []byte(body)); err != nil {
		v.t.Errorf("write a frame: %v", err)
	}
}

func (v *viewer) enter(text string) { v.t.Helper(); v.write(protocol.TerminalInput, text) }

func (v *viewer) until(what string, ok func() bool) {
	v.t.Helper()
	polltest.Until(v.t, what, func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return ok()
	})
}

func (v *viewer) shows(text string) {
	v.t.Helper()
	v.until("the viewer shows "+text, func() bool { return strings.Contains(v.text, text) })
}

func (v *viewer) types(yes bool) {
	v.t.Helper()
	v.until(fmt.Sprint("the viewer types: ", yes), func() bool { return v.state.Cols > 0 && v.state.Typing == yes })
}

// owner is the owner at the gateway's computer.
func (f *forwarding) ownerOptions() client.Options {
	return client.Options{URL: f.gw.URL(), Token: "gateway-token-of-the-test"}
}

func (f *forwarding) terminals() []protocol.Terminal {
	f.t.Helper()
	return ask(f.accessGateway, protocol.TerminalList, protocol.TerminalListParams{}).Terminals
}

// terminalLines returns what the audit log says about terminals, newest first.
func (f *forwarding) terminalLines() (lines []string) {
	f.t.Helper()
	for _, e := range ask(f.accessGateway, protocol.AuditList, protocol.AuditListParams{Kind: protocol.AuditTerminal}).Entries {
		lines = append(lines, e.What)
	}
	return lines
}

func openShell(command string) protocol.TerminalConnectParams {
	return protocol.TerminalConnectParams{Open: &protocol.TerminalOpen{Command: command, Cols: 100, Rows: 30}}
}

func viewOf(info protocol.Terminal) protocol.TerminalConnectParams {
	return protocol.TerminalConnectParams{Node: info.Node, ID: info.ID}
}

func TestTerminalIsSharedByItsViewers(t *testing.T) {
	f := newForwarding(t)
	first := view(t, f.ownerOptions(), openShell("stty -echo; stty size; echo ready; while read x; do echo got $x; stty size; [ $x = quit ] && exit 7; done"))
	first.types(true)
	first.shows("ready")
	first.shows("30 100")
	second := view(t, f.ownerOptions(), viewOf(first.info))
	second.types(false)
	second.shows("ready")
	second.enter("ignored\n")
	second.write(protocol.TerminalResize, `{"cols":70,"rows":20}`)
	first.enter("one\n")
	for _, v := range []*viewer{first, second} {
		v.shows("got one")
		if strings.Contains(v.text, "ignored") {
			t.Error("the input of a viewer that does not type arrived")
		}
	}
	second.write(protocol.TerminalTakeOver, "")
	second.types(true)
	first.types(false)
	second.until("its own size counts", func() bool { return second.state.Cols == 70 && second.state.Rows == 20 })
	second.enter("two\n")
	first.shows("got two")
	first.shows("20 70")
	second.write(protocol.TerminalGiveBack, "")
	first.types(true)
	second.frames.Close()
	first.until("the other viewer is gone", func() bool { return first.state.Viewers == 1 })
	if list := f.terminals(); len(list) != 1 || list[0].Viewers != 1 || list[0].Typist == "" {
		t.Errorf("got the list %+v, want one terminal with one viewer that types", list)
	}
	first.enter("quit\n")
	first.until("the end", func() bool { return first.end != nil })
	if first.end.ExitCode == nil || *first.end.ExitCode != 7 {
		t.Errorf("got the end %+v, want exit code 7", first.end)
	}
	last := view(t, f.ownerOptions(), viewOf(first.info))
	last.shows("got quit")
	last.until("the end, later", func() bool { return last.end != nil })
	f.until("the log has its end", func() bool {
		return slices.ContainsFunc(f.terminalLines(), func(s string) bool { return strings.Contains(s, "ended after") })
	})
	if lines := strings.Join(f.terminalLines(), "\n"); !strings.Contains(lines, "opened a terminal") || strings.Contains(lines, "got one") {
		t.Errorf("got the audit log %q, want the start and the end without text", lines)
	}
}

func TestTerminalIsFoundAgain(t *testing.T) {
	f := newForwarding(t)
	first := view(t, f.ownerOptions(), openShell("echo ready; cat"))
	first.shows("ready")
	first.enter("hello\n")
	first.shows("hello")
	first.frames.Close() // a dropped connection
	f.until("nobody views it", func() bool { return f.terminals()[0].Viewers == 0 })
	again := view(t, f.ownerOptions(), viewOf(first.info))
	again.types(true)
	again.shows("hello")
	ask(f.accessGateway, protocol.TerminalClose, protocol.TerminalParams{Node: "laptop", ID: first.info.ID})
	again.until("it was closed", func() bool { return again.end != nil || again.lost != nil })
	if list := f.terminals(); len(list) != 0 {
		t.Errorf("got the list %+v, want it empty", list)
	}
	if _, err := tryView(t, f.ownerOptions(), viewOf(first.info)); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("view a closed terminal: got %v, want ErrNotFound", err)
	}
}

func TestTerminalEndsWithItsMachine(t *testing.T) {
	f := newForwarding(t)
	v := view(t, f.ownerOptions(), openShell("echo ready; cat"))
	v.shows("ready")
	f.stop()
	v.until("the viewer knows that the machine is away", func() bool { return v.state.Offline || v.end != nil })
	if list := f.terminals(); len(list) != 0 {
		t.Errorf("of a machine that is offline: got %+v, want nothing", list)
	}
	f.start(nil)
	v.until("the view ends", func() bool { return v.end != nil })
	if v.end.Error == "" || v.end.Lost {
		t.Errorf("got the end %+v, want the reason, and not that only the view is lost", v.end)
	}
}

func TestTerminalSaysWhyItCannotStart(t *testing.T) {
	f := newForwarding(t)
	for name, c := range map[string]struct {
		p    protocol.TerminalConnectParams
		want string
	}{
		"no folder":  {protocol.TerminalConnectParams{Open: &protocol.TerminalOpen{Workdir: "/no/such/folder"}}, "does not exist"},
		"no user":    {protocol.TerminalConnectParams{Open: &protocol.TerminalOpen{Username: "nobody-like-this"}}, "username"},
		"no machine": {protocol.TerminalConnectParams{Node: "tower"}, "tower"},
		"zero byte":  {protocol.TerminalConnectParams{Open: &protocol.TerminalOpen{Command: "a\x00b"}}, "zero byte"},
	} {
		if _, err := tryView(t, f.ownerOptions(), c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
	}
}

func TestTerminalIsOfTheOwnerOnly(t *testing.T) {
	f := newForwarding(t)
	v := view(t, f.ownerOptions(), openShell("echo ready; cat"))
	v.shows("ready")
	made := ask(f.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: "all", Scopes: protocol.AppScopes})
	app := client.Options{URL: f.gw.URL(), Token: made.Token}
	for name, p := range map[string]protocol.TerminalConnectParams{"open": openShell(""), "view": viewOf(v.info)} {
		if _, err := tryView(t, app, p); !errors.Is(err, protocol.ErrForbidden) {
			t.Errorf("an app with all rights, %s: got %v, want ErrForbidden", name, err)
		}
	}
	for _, token := range []string{"", "wrong"} {
		if _, err := tryView(t, client.Options{URL: f.gw.URL(), Token: token}, viewOf(v.info)); !errors.Is(err, protocol.ErrUnauthorized) {
			t.Errorf("the token %q: got %v, want ErrUnauthorized", token, err)
		}
	}
}

func TestManyBytesReachEveryViewer(t *testing.T) {
	f := newForwarding(t)
	first := view(t, f.ownerOptions(), openShell("read x; yes 0123456789012345678901234567890123456789 | head -c 50000000; echo; echo done; cat"))
	slow, _, err := client.OpenTerminal(t.Context(), withConnect(f.ownerOptions()), viewOf(first.info)) // never read
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slow.Close() })
	first.types(true)
	began := time.Now()
	first.enter("\n")
	first.until("the end of 50 MB", func() bool { return strings.Contains(first.text[max(0, len(first.text)-200):], "done") })
	t.Logf("50 MB took %s, with %d snapshots", time.Since(began), first.snaps)
	first.enter("alive\n")
	first.shows("alive")
}

func withConnect(o client.Options) client.Options {
	o.Connect = func() protocol.ConnectParams { return gateway.ClientParams("cli") }
	return o
}

func TestCommandOfTheAgentIsWatchedAndTakenOver(t *testing.T) {
	f := newForwarding(t)
	bash := func(args string) map[string]any {
		t.Helper()
		r := ask(f.accessGateway, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "laptop__Bash", Args: json.RawMessage(args)})
		var out map[string]any
		json.Unmarshal(r.Result, &out)
		return out
	}
	process := func(args string) string {
		t.Helper()
		r := ask(f.accessGateway, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "laptop__Process", Args: json.RawMessage(args)})
		return string(r.Result)
	}
	typed := bash(`{"command":"stty -echo; echo ready; while read x; do echo got $x; done","background":true,"pty":true}`)["sessionId"].(string)
	bash(`{"command":"echo plain; exec sleep 100","background":true}`)
	f.until("both commands are listed", func() bool { return len(f.terminals()) == 2 })
	list := f.terminals()
	if list[0].CommandID != typed || list[0].WatchOnly || !list[1].WatchOnly {
		t.Fatalf("got %+v, want the command with a terminal, and one that can only be watched", list)
	}
	v := view(t, f.ownerOptions(), viewOf(list[0]))
	v.types(false)
	v.shows("ready")
	process(`{"action":"submit","sessionId":"` + typed + `","data":"agent"}`)
	v.shows("got agent")
	v.write(protocol.TerminalTakeOver, "")
	v.types(true)
	v.enter("person\r")
	v.shows("got person")
	if got := process(`{"action":"submit","sessionId":"` + typed + `","data":"late"}`); !strings.Contains(got, "person has taken over") {
		t.Errorf("the agent types meanwhile: got %s, want the reason why it cannot", got)
	}
	if got := process(`{"action":"poll","sessionId":"` + typed + `"}`); !strings.Contains(got, "person has taken over") || !strings.Contains(got, "got person") {
		t.Errorf("the agent reads: got %s, want the output and that a person types", got)
	}
	v.enter("more\r")
	v.shows("got more")
	v.write(protocol.TerminalGiveBack, "")
	v.types(false)
	f.until("the agent knows what happened", func() bool {
		return strings.Contains(process(`{"action":"poll","sessionId":"`+typed+`"}`), "person typed")
	})
	process(`{"action":"submit","sessionId":"` + typed + `","data":"again"}`)
	v.shows("got again")
	if lines := f.terminalLines(); len(lines) != 1 || !strings.Contains(lines[0], "took over") {
		t.Errorf("got the audit log %q, want one line about the take over", lines)
	}
	plain := view(t, f.ownerOptions(), viewOf(list[1]))
	plain.shows("plain")
	plain.write(protocol.TerminalTakeOver, "")
	plain.enter("ignored")
	plain.types(false)
	process(`{"action":"kill","sessionId":"` + typed + `"}`)
	v.until("the end of the command", func() bool { return v.end != nil })
}

func TestTerminalOutlivesAKilledGateway(t *testing.T) {
	home, listen := t.TempDir(), porttest.Free(t)
	g := startChild(t, home, childListen+"="+listen)
	conn, stop := dial(t, g.url)
	startNode(t, g.url)
	polltest.Until(t, "the node", func() bool {
		return slices.ContainsFunc(must(t, conn, protocol.NodesList, protocol.Empty{}).Nodes, func(n protocol.NodeInfo) bool { return n.ID == "box" && n.Online })
	})
	owner := client.Options{URL: g.url, Token: "kill-test"}
	p := openShell("stty -echo; echo started with $$; while read x; do echo got $x in $$; done")
	p.Node = "box"
	v := view(t, owner, p)
	v.shows("started with")
	v.enter("one\n")
	v.shows("got one")
	stop()
	g.kill()
	v.until("the viewer lost its gateway", func() bool { return v.lost != nil })
	g = startChild(t, home, childListen+"="+listen)
	defer func() { g.kill() }()
	conn, stop = dial(t, g.url)
	defer stop()
	polltest.Until(t, "the terminal is known again", func() bool {
		list := must(t, conn, protocol.TerminalList, protocol.TerminalListParams{}).Terminals
		return len(list) == 1 && list[0].ID == v.info.ID
	})
	again := view(t, owner, viewOf(v.info))
	again.shows("got one")
	again.types(true)
	again.enter("two\n")
	again.shows("got two")
	must(t, conn, protocol.TerminalClose, protocol.TerminalParams{Node: "box", ID: v.info.ID})
	again.until("it was closed", func() bool { return again.end != nil || again.lost != nil })
}
