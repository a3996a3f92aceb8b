//go:build unix

package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

const (
	agents  = protocol.SessionKey("agent:main:app:chat:agents")  // the agent has made its call
	persons = protocol.SessionKey("agent:main:app:chat:persons") // the person has
)

// restartableGateway is a gateway and a node, each in its own process, with a connection between
// them that can be cut. The node runs two calls, which end when the gate is open.
type restartableGateway struct {
	t      *testing.T
	home   string // the gateway's
	dir    string // the machine's
	listen string // the gateway's address
	wire   *cutter
	g      *child
	c      *client.Client
	stop   func()
	leave  func() // the machine's end
}

func newRestartableGateway(t *testing.T) *restartableGateway {
	w := &restartableGateway{t: t, home: t.TempDir(), dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(w.dir, "work.sh"), []byte("echo begun >> $1\nuntil [ -e gate ]; do sleep 0.05; done\necho finished $1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.listen = porttest.Free(t)
	w.start(w.listen)
	t.Cleanup(func() { w.stop(); w.g.kill() })
	w.wire = newCutter(t, w.listen)
	w.machine()
	must(t, w.c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: agents, Message: "run sh work.sh agents on box"})
	polltest.Until(t, "the question", func() bool {
		list := must(t, w.c, protocol.QuestionList, protocol.Empty{}).Questions
		if len(list) == 0 {
			return false
		}
		must(t, w.c, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: list[0].ID, Hash: list[0].Hash, Decision: protocol.DecisionAllow})
		return true
	})
	args, _ := json.Marshal(map[string]any{"command": "sh work.sh persons"})
	must(t, w.c, protocol.RequestTool, protocol.ToolRequestParams{CallID: protocol.NewCallID(), Tool: "box__Bash", Args: args, SessionKey: persons})
	for _, name := range []string{"agents", "persons"} {
		polltest.Until(t, "the beginning of "+name, func() bool { return w.began(name) == 1 })
	}
	return w
}

// start starts the gateway.
func (w *restartableGateway) start(listen string) {
	w.t.Helper()
	w.g = startChild(w.t, w.home, childListen+"="+listen)
	w.c, w.stop = dial(w.t, w.g.url)
}

// kill kills the gateway.
func (w *restartableGateway) kill() {
	w.stop()
	w.g.kill()
}

// machine starts the node, and waits for it.
func (w *restartableGateway) machine() {
	w.t.Helper()
	w.leave = startNodeIn(w.t, "ws://"+w.wire.addr+"/ws", w.dir)
	w.online()
}

// online waits until the node is connected.
func (w *restartableGateway) online() {
	w.t.Helper()
	polltest.Until(w.t, "the machine", func() bool {
		return slices.ContainsFunc(must(w.t, w.c, protocol.NodesList, protocol.Empty{}).Nodes, func(n protocol.NodeInfo) bool { return n.ID == "box" && n.Online })
	})
}

// runs waits until the gateway knows that the agent's call continues.
func (w *restartableGateway) runs() {
	w.t.Helper()
	polltest.Until(w.t, "the call to be taken up", func() bool {
		s := must(w.t, w.c, protocol.FeedSubscribe, protocol.Empty{})
		return slices.ContainsFunc(s.Calls, func(c protocol.CallInfo) bool { return c.SessionKey == agents && c.State == protocol.CallRunning })
	})
}

func (w *restartableGateway) open() {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "gate"), nil, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// began returns how often a command was started.
func (w *restartableGateway) began(name string) int {
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		return 0
	}
	return strings.Count(string(data), "begun")
}

// results returns the results of a chat's calls.
func (w *restartableGateway) results(chat protocol.SessionKey) (texts []string) {
	for _, m := range chatMessages(w.t, w.c, chat) {
		if m.Role == protocol.RoleToolResult {
			texts = append(texts, m.Content.Text())
		}
	}
	return texts
}

// answers returns the agent's answers.
func (w *restartableGateway) answers() []string {
	_, all := completionReports(w.t, w.c, agents)
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// ended waits for the single result of each chat, which contains the given text and not the other
// one; then nothing more arrives.
func (w *restartableGateway) ended(want map[protocol.SessionKey]string, not string) {
	w.t.Helper()
	for chat, text := range want {
		polltest.Until(w.t, "the result in "+string(chat), func() bool {
			return slices.ContainsFunc(w.results(chat), func(s string) bool { return strings.Contains(s, text) })
		})
	}
	polltest.Until(w.t, "the agent's answer", func() bool { return len(w.answers()) > 0 })
	w.online()
	// The node's remaining reports come before the result of another call.
	args, _ := json.Marshal(map[string]any{"path": "work.sh"})
	must(w.t, w.c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "box__Read", Args: args})
	for chat, text := range want {
		list := w.results(chat)
		if len(list) != 1 || !strings.Contains(list[0], text) || not != "" && strings.Contains(list[0], not) {
			w.t.Errorf("%s has %q; want length 1, %v in list[0] and either an empty not or no %v in list[0]", chat, list, text, not)
		}
	}
	for _, name := range []string{"agents", "persons"} {
		if n := w.began(name); n != 1 {
			w.t.Errorf("the command of %s was begun %d times, want 1", name, n)
		}
	}
	if answers := w.answers(); len(answers) != 1 {
		w.t.Errorf("the agent said %q, want one answer", answers)
	}
}

func TestACallOutlivesTwoLostConnections(t *testing.T) {
	w := newRestartableGateway(t)
	for range 2 {
		w.wire.cut()
		polltest.Until(t, "the loss", func() bool { return w.wire.count() > 0 })
		w.online()
	}
	w.open()
	w.ended(map[protocol.SessionKey]string{agents: "finished agents", persons: "finished persons"}, "nknown")
}

func TestACallOutlivesTwoKillsOfTheGateway(t *testing.T) {
	for _, when := range []string{"after both", "while it is down", "while it is down, the wire cut as well"} {
		t.Run(when, func(t *testing.T) {
			w := newRestartableGateway(t)
			w.kill()
			w.start(w.listen)
			w.online()
			w.runs()
			w.kill()
			if when != "after both" {
				w.open()
			}
			w.start(w.listen)
			if strings.Contains(when, "cut") {
				w.online()
				w.wire.cut()
			}
			w.online()
			w.open()
			// After a kill, no run waits for a person's own call: its outcome is unknown until the
			// node reports.
			w.ended(map[protocol.SessionKey]string{agents: "finished agents", persons: "The machine has now reported it:"}, "")
			if list := w.results(agents); strings.Contains(fmt.Sprint(list), "nknown") {
				t.Errorf("the agent was told %q, want no unknown call", list)
			}
		})
	}
}

func TestACallAfterBothKillsHasAnUnknownOutcome(t *testing.T) {
	w := newRestartableGateway(t)
	w.kill()
	w.leave()
	w.start(w.listen)
	w.machine()
	w.kill()
	w.start(w.listen)
	w.online()
	w.open()
	w.ended(map[protocol.SessionKey]string{agents: "do not repeat it without checking"}, "finished")
	if list := w.results(persons); len(list) != 0 {
		t.Errorf("the person's chat has %q, want nothing", list)
	}
}

// cutter forwards connections to an address until it cuts them.
type cutter struct {
	addr string

	mu    sync.Mutex // guards conns
	conns []net.Conn
}

func newCutter(t *testing.T, to string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{addr: l.Addr().String()}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		c.cut()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			on, err := net.Dial("tcp", to)
			if err != nil {
				from.Close()
				continue
			}
			c.mu.Lock()
			c.conns = append(c.conns, from, on)
			c.mu.Unlock()
			pass := func(a, b net.Conn) {
				io.Copy(a, b)
				a.Close()
				b.Close()
			}
			wg.Go(func() { pass(from, on) })
			wg.Go(func() { pass(on, from) })
		}
	})
	return c
}

// count returns the number of connections since the last cut.
func (c *cutter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.conns) / 2
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}
