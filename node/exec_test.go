package node

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
)

func TestEventsOfCommandsSurviveALostConnection(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.invoke("bg", "Bash", `{"command":"exit 3","background":true}`)
	first := decode[protocol.NodeExecEvent](t, l.next(protocol.ReportExec.Name).Params) // and no confirmation
	l.ws.NetConn().Close()
	receive(t, l.gone, "the end of the connection")
	l, _ = g.accept()
	var events []protocol.NodeExecEvent
	for len(events) < 2 {
		req := l.next(protocol.ReportExec.Name)
		events = append(events, decode[protocol.NodeExecEvent](t, req.Params))
		l.answer(req, protocol.Ack{OK: true})
	}
	start, end := events[0], events[1]
	if start.CallID != "bg" || end.CallID != "bg" {
		t.Errorf("got call IDs %q, %q, want bg", start.CallID, end.CallID)
	}
	if start.Event != "started" || start.EventID != first.EventID || start.SessionID != first.SessionID {
		t.Errorf("got %+v the second time, want %+v", start, first)
	}
	if end.Event != "failed" || end.SessionID != start.SessionID || end.ExitCode == nil || *end.ExitCode != 3 || end.EventID == start.EventID {
		t.Errorf("got %+v, want the failed end with exit code 3", end)
	}
}

func TestCommandsOfADeadNodeAreReported(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "commands"), 0o700); err != nil {
		t.Fatal(err)
	}
	const entry = `{"node":{"pid":1,"born":"long ago"},"command":{"pid":1,"born":"long ago"},"started":7,"background":true,"call":"c7"}`
	if err := os.WriteFile(filepath.Join(home, "commands", "left.json"), []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	g := start(t, func(o *Options) { o.Home = home })
	l, _ := g.accept()
	e := decode[protocol.NodeExecEvent](t, l.next(protocol.ReportExec.Name).Params)
	if e.Event != "failed" || e.SessionID != "left" || e.StartedAt != 7 || e.CallID != "c7" || e.EndedAt == 0 || !strings.Contains(e.OutputTail, "node ended") {
		t.Errorf("got %+v, want the failed end of the command that was left", e)
	}
}

// end waits for the report of an end, without confirming it.
func (l *link) end() (protocol.Request, protocol.NodeExecEvent) {
	l.t.Helper()
	for {
		req := l.next(protocol.ReportExec.Name)
		if e := decode[protocol.NodeExecEvent](l.t, req.Params); e.Event != protocol.ExecStarted {
			return req, e
		}
		l.answer(req, protocol.Ack{OK: true})
	}
}

// storedEnds returns the files of the ledger.
func storedEnds(t *testing.T, home string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(home, "commands"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatalf("got %v; want no error or ErrNotExist", err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// waitForNoEnds waits until the ledger is empty.
func waitForNoEnds(t *testing.T, home string) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); len(storedEnds(t, home)) > 0; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("got unreported ends %v, want none", storedEnds(t, home))
		}
	}
}

func TestUnconfirmedEndIsReportedAgain(t *testing.T) {
	home := t.TempDir()
	at := func(o *Options) { o.Home = home }
	g := start(t, at)
	l, _ := g.accept()
	l.invoke("bg", "Bash", `{"command":"echo last words; exit 3","background":true}`)
	_, first := l.end()
	g.quit()
	// The node after the next reports it too, if the next one got no confirmation either.
	for range 2 {
		g = start(t, at)
		l, _ = g.accept()
		_, again := l.end()
		if again.EventID != first.EventID || again.SessionID != first.SessionID || *again.ExitCode != 3 || again.OutputTail != "last words\n" || again.EndedAt != first.EndedAt {
			t.Fatalf("got %+v the second time, want %+v", again, first)
		}
		g.quit()
	}
	g = start(t, at)
	l, _ = g.accept()
	req, _ := l.end()
	l.answer(req, protocol.Ack{OK: true})
	waitForNoEnds(t, home)
	g.quit()
	waitForNoEnds(t, home)
}

func TestCommandsEndedByQuittingAreReported(t *testing.T) {
	home := t.TempDir()
	at := func(o *Options) { o.Home = home }
	g := start(t, at)
	l, _ := g.accept()
	l.invoke("bg", "Bash", `{"command":"echo busy; sleep 999","background":true}`)
	l.result()
	g.quit()
	l, _ = start(t, at).accept()
	_, e := l.end()
	if e.CallID != "bg" || e.Event != protocol.ExecFailed || e.Signal == "" || !strings.Contains(e.OutputTail, "its node stopped") {
		t.Errorf("got %+v, want a failed end by a signal", e)
	}
}

func TestRefusedReportBlocksNoOther(t *testing.T) {
	home := t.TempDir()
	g := start(t, func(o *Options) { o.Home = home })
	l, _ := g.accept()
	l.invoke("one", "Bash", `{"command":"exit 1","background":true}`)
	req, one := l.end()
	l.write(protocol.EncodeError(req.ID, protocol.ErrForbidden))
	l.invoke("two", "Bash", `{"command":"exit 2","background":true}`)
	req, two := l.end()
	if two.SessionID == one.SessionID {
		t.Fatalf("got %+v a second time, want the end of another command", two)
	}
	l.answer(req, protocol.Ack{OK: true})
	waitForNoEnds(t, home)
	out := g.node.out
	polltest.Until(t, "no queue in memory", func() bool { // the results of the calls are confirmed, too
		out.mu.Lock()
		defer out.mu.Unlock()
		return len(out.queues) == 0
	})
	g.quit()
}

// tellVar names the home in which the test program is a node whose command ends; it reports nothing
// and prints the event.
const tellVar = "NODE_TEST_TELL"

func init() {
	if home := os.Getenv(tellVar); home != "" {
		sandbox.Main()
		endUnreported(home)
	}
}

func endUnreported(home string) {
	n, err := New(Options{ID: "a", URL: "ws://x/ws", Workspace: home, Home: home})
	if err != nil {
		panic(err)
	}
	n.call(context.Background(), protocol.ToolInvoke{CallID: "bg", Tool: "Bash", Args: json.RawMessage(`{"command":"exit 3","background":true}`)})
	for {
		names, _ := filepath.Glob(filepath.Join(home, "commands", "*.json")) // the pattern is valid
		for _, name := range names {
			var record struct {
				End *protocol.NodeExecEvent `json:"end"`
			}
			data, err := os.ReadFile(name)
			if err == nil && json.Unmarshal(data, &record) == nil && record.End != nil {
				fmt.Println(record.End.EventID)
				select {}
			}
		}
		time.Sleep(time.Millisecond)
	}
}

func TestUnconfirmedEndSurvivesAKill(t *testing.T) {
	home := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), tellVar+"="+home, "SHELL=/bin/sh")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := bufio.NewReader(out).ReadString('\n')
	cmd.Process.Kill()
	cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	l, _ := start(t, func(o *Options) { o.Home = home }).accept()
	if _, e := l.end(); e.EventID != strings.TrimSpace(id) || e.CallID != "bg" || e.ExitCode == nil || *e.ExitCode != 3 {
		t.Errorf("got %+v, want the end of %s with exit code 3", e, id)
	}
}
