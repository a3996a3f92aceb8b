//go:build unix

package servers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/gatewaytest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// testGateway is a gateway with a node, its owner, and a scripted model.
type testGateway struct {
	t       *testing.T
	gw      *gateway.Gateway
	owner   *client.Client
	model   *scriptedModel
	work    string // the node's workspace
	home    string
	restart func()
	// stopNode stops the machine, which startNode starts.
	stopNode func()

	mu    sync.Mutex // guards calls
	calls map[protocol.CallID]protocol.CallInfo
}

func startGateway(t *testing.T) *testGateway {
	t.Helper()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	slog.SetDefault(slog.New(slog.DiscardHandler))
	h := &testGateway{t: t, model: newScriptedModel(t), work: t.TempDir(), home: t.TempDir(), calls: make(map[protocol.CallID]protocol.CallInfo)}
	var stop func()
	start := func() {
		var stopGateway, stopOwner func()
		h.gw, stopGateway = gatewaytest.Start(t, h.home, "127.0.0.1:0")
		h.startNode()
		h.owner, stopOwner = gatewaytest.Owner(t, h.gw, func(c protocol.Change) {
			if c.Kind == protocol.ChangeCall {
				h.mu.Lock()
				h.calls[c.Call.CallID] = *c.Call
				h.mu.Unlock()
			}
		})
		stop = func() {
			stopOwner()
			h.stopNode()
			stopGateway()
		}
		h.until("the node is connected", func() bool {
			return slices.ContainsFunc(ask(h, protocol.NodesList, protocol.Empty{}).Nodes, func(n protocol.NodeInfo) bool { return n.Online })
		})
	}
	start()
	h.restart = func() { stop(); start() }
	t.Cleanup(func() { stop() })
	set := func(path, value string) {
		ask(h, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: json.RawMessage(value)})
	}
	set("apiKeys.openai", `"key-of-the-test"`)
	set("providers.openai", fmt.Sprintf(`{"baseUrl": %q, "wire": "chat"}`, h.model.url+"/v1"))
	set("model", `{"provider": "openai", "id": "scripted"}`)
	set("session.autoTitle", `false`)
	return h
}

func (h *testGateway) startNode() {
	n, err := node.New(node.Options{
		ID: "laptop", Workspace: h.work, Home: h.home, Dial: h.gw.Dial, Version: "test", Confine: node.Confinement{Network: node.AskNetwork},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { n.Run(ctx) })
	h.stopNode = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
	})
}

// ask calls a method as the owner.
func ask[P, R any](h *testGateway, m protocol.Method[P, R], p P) R {
	h.t.Helper()
	r, err := client.Call(h.t.Context(), h.owner, m, p)
	if err != nil {
		h.t.Fatalf("%s: %v", m.Name, err)
	}
	return r
}

// toolsQuestion waits for the question about changed tools of a server.
func (h *testGateway) toolsQuestion(name protocol.ServerName) (found protocol.Question) {
	h.t.Helper()
	h.until("a question about changed tools of "+string(name), func() bool {
		for _, q := range ask(h, protocol.QuestionList, protocol.Empty{}).Questions {
			if q.Tools != nil && q.Tools.Server == name {
				found = q
				return true
			}
		}
		return false
	})
	return found
}

// accept accepts changed tools; without names, all that wait.
func (h *testGateway) accept(name protocol.ServerName, tools ...string) {
	h.t.Helper()
	q := h.toolsQuestion(name)
	if r := ask(h, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Tools: tools}); !r.Won {
		h.t.Errorf("got %+v answered too late, want it in time", q)
	}
}

// patience is the timeout of a wait. Most take milliseconds; a server that npx downloads takes
// minutes where the machine and the network are busy.
const patience = 5 * time.Minute

func (h *testGateway) until(what string, ok func() bool) {
	h.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("got nothing after %s, want: %s", patience, what)
		}
	}
}

// stdio adds the test binary as a server, and waits until it is ready. It returns the folder in
// which the server writes what it notices.
func (h *testGateway) stdio(name protocol.ServerName) string {
	h.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	h.add(name, protocol.ServerSpec{Command: exe, Args: []string{"-test.run=^$", "it's an argument"}, Env: map[string]string{asServer: h.work}})
	return h.work
}

func (h *testGateway) add(name protocol.ServerName, spec protocol.ServerSpec) {
	h.t.Helper()
	ask(h, protocol.ServerSet, protocol.ServerSetParams{Name: name, Spec: spec})
	h.untilState(name, protocol.ServerReady)
}

func (h *testGateway) status(name protocol.ServerName) (s protocol.ServerStatus) {
	h.t.Helper()
	for _, one := range ask(h, protocol.ServersList, protocol.Empty{}).Servers {
		if one.Name == name {
			s = one
		}
	}
	return s
}

func (h *testGateway) untilState(name protocol.ServerName, state string) {
	h.t.Helper()
	defer func() {
		if s := h.status(name); s.State != state {
			h.t.Logf("%s is %s: %s\n%s", name, s.State, s.Error, strings.Join(ask(h, protocol.ServerLogs, protocol.ServerParams{Name: name}).Lines, "\n"))
		}
	}()
	h.until(string(name)+" is "+state, func() bool { return h.status(name).State == state })
}

// failure waits until a server has failed, and returns why. It starts again a second later.
func (h *testGateway) failure(name protocol.ServerName) (text string) {
	h.t.Helper()
	h.until(string(name)+" fails", func() bool {
		s := h.status(name)
		text = s.Error
		return s.State == protocol.ServerFailed
	})
	return text
}

// tools lists the tools of a server that calls can use.
func (h *testGateway) tools(name protocol.ServerName) (list []string) {
	h.t.Helper()
	for _, t := range ask(h, protocol.ToolsList, protocol.Empty{}).Tools {
		if bare, ok := strings.CutPrefix(t.Name, string(name)+"__"); ok {
			list = append(list, bare)
		}
	}
	return list
}

// invoke calls a tool as the person, and returns its result or error as text.
func (h *testGateway) invoke(tool protocol.ToolName, args string) string {
	h.t.Helper()
	r, err := client.Call(h.t.Context(), h.owner, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: tool, Args: json.RawMessage(args)})
	if err != nil {
		return "error: " + err.Error()
	}
	var out struct{ Content protocol.Content }
	if json.Unmarshal(r.Result, &out) != nil {
		return string(r.Result)
	}
	return out.Content.Text()
}

// call lets the agent call a tool in a chat. It returns at once; the answer is in the chat.
func (h *testGateway) call(tool protocol.ToolName, args string) {
	h.t.Helper()
	h.model.add(reply{tool: string(tool), args: args}, reply{text: "done"})
	ask(h, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "go on"})
}

// question waits for an approval.
func (h *testGateway) question() (a protocol.Question) {
	h.t.Helper()
	h.until("an approval", func() bool {
		list := ask(h, protocol.QuestionList, protocol.Empty{}).Questions
		if len(list) > 0 {
			a = list[0]
		}
		return len(list) > 0
	})
	return a
}

func (h *testGateway) allow(a protocol.Question, scope string) {
	h.t.Helper()
	ask(h, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: a.ID, Hash: a.Hash, Decision: protocol.DecisionAllow, Scope: scope})
}

// waitLastCall waits for the end of the last call of a tool.
func (h *testGateway) waitLastCall(tool protocol.ToolName) (c protocol.JournalEntry) {
	h.t.Helper()
	h.until("the end of "+string(tool), func() bool {
		list := ask(h, protocol.JournalList, protocol.JournalListParams{Limit: 50}).Calls
		for _, one := range list {
			if protocol.NewToolName(one.Node, one.Tool) == tool && one.EndedAt > 0 {
				c = one
				return true
			}
		}
		return false
	})
	return c
}
