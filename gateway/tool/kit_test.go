package tool_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/journal"
	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/tooltest"
)

const (
	chat = protocol.SessionKey("agent:main:main")
	bash = protocol.ToolName("tower__Bash")
)

// gateway is the part of a gateway that calls pass through, with a real store.
type gateway struct {
	*tool.Pipeline
	t     *testing.T
	path  string
	cfg   config.Config
	store *store.DB
	bus   *event.Bus
	hub   *nodes.Hub
	gate  *question.Queue
	rules *approval.Rules
	tower *tooltest.Machine
	own   []tool.Own // the gateway's own tools
	// machines, if set, wraps the hub, and put fails the writes of calls that it selects.
	machines func(*nodes.Hub) tool.Machines
	put      func(store.Call) error
	finish   func() error // if set, is called before the end of a call is stored
}

func start(t *testing.T, m *tooltest.Machine) *gateway {
	g := &gateway{t: t, path: filepath.Join(t.TempDir(), "fairlead.db"), cfg: config.Default(), tower: m}
	g.open()
	return g
}

// open starts the gateway, also again after an earlier open.
func (g *gateway) open() {
	g.t.Helper()
	s, err := store.Open(g.t.Context(), g.path)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { s.Close() })
	g.store, g.bus = s, new(event.Bus)
	g.hub = nodes.New(g.bus, s.Nodes)
	if err := g.hub.Load(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
	rules, err := approval.OpenRules(g.t.Context(), s.Rules, s.Grants, approval.RulesOptions{
		Config: func() config.Config { return g.cfg }, Bus: g.bus,
	})
	if err != nil {
		g.t.Fatal(err)
	}
	g.rules, g.gate = rules, question.New(s.Questions, rules, g.bus)
	var machines tool.Machines = g.hub
	if g.machines != nil {
		machines = g.machines(g.hub)
	}
	registry := tool.NewRegistry(machines, g.hub.Calls, nil)
	registry.Register(g.own...)
	g.Pipeline = tool.New(tool.Options{
		Registry: registry, Policy: rules, Approver: g.gate, Journal: journal.New(calls{s.Calls, g}, s.Calls), Steps: journal.New(s.Calls, s.Calls), Permissions: approval.Permissions{Grants: s.Grants, Chats: s.Sessions},
		Bus: g.bus, Config: func() config.Config { return g.cfg },
	})
	if g.tower != nil {
		g.tower.ID = "tower"
		tooltest.Attach(g.t, g.hub, g.tower)
	}
}

// calls stores calls, with the failures of a test.
type calls struct {
	*store.Calls
	g *gateway
}

func (c calls) Put(ctx context.Context, call store.Call, lines ...protocol.AuditEntry) error {
	if c.g.put != nil {
		if err := c.g.put(call); err != nil {
			return err
		}
	}
	return c.Calls.Put(ctx, call, lines...)
}

func (c calls) Finish(ctx context.Context, call store.Call, lines ...protocol.AuditEntry) (bool, error) {
	if c.g.finish != nil {
		if err := c.g.finish(); err != nil {
			return false, err
		}
	}
	return c.Calls.Finish(ctx, call, lines...)
}

// restart restarts the gateway on the same disk, with a new machine.
func (g *gateway) restart(m *tooltest.Machine) {
	g.t.Helper()
	g.store.Close()
	g.tower = m
	g.open()
}

func command(id, text string) tool.Call {
	args, _ := json.Marshal(map[string]string{"command": text})
	return tool.Call{ID: protocol.CallID(id), ToolCallID: "call_" + id, Tool: bash, Args: args, Session: chat, Run: "run"}
}

var agent = auth.Agent(chat, "run")

// callResult is the outcome of a call.
type callResult struct {
	tool.Result
	err error
}

func (g *gateway) runInBackground(ctx context.Context, c tool.Call) <-chan callResult {
	ch := make(chan callResult, 1)
	go func() {
		c.Principal = agent
		r, err := g.Run(ctx, c)
		ch <- callResult{r, err}
	}()
	return ch
}

func (g *gateway) mustRun(c tool.Call) tool.Result {
	g.t.Helper()
	e := waitResult(g.t, g.runInBackground(g.t.Context(), c))
	if e.err != nil {
		g.t.Fatal(e.err)
	}
	return e.Result
}

func waitResult[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(3 * time.Minute):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// until waits for a change.
func until(t *testing.T, sub *event.Subscription, ok func(protocol.Change) bool) protocol.Change {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for c := range sub.All(ctx) {
		if ok(c) {
			return c
		}
	}
	t.Fatal("the change did not come")
	panic("unreachable")
}

func (g *gateway) question(sub *event.Subscription) protocol.Question {
	g.t.Helper()
	return *until(g.t, sub, func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeQuestion && c.Question.State == protocol.QuestionPending
	}).Question
}

func (g *gateway) answer(a protocol.Question, decision, scope, reason string) {
	g.t.Helper()
	res, err := g.gate.Answer(g.t.Context(), auth.Owner("ann"), protocol.QuestionAnswerParams{ID: a.ID, Hash: a.Hash, Decision: decision, Scope: scope, Reason: reason})
	if err != nil || !res.Won {
		g.t.Fatal(res, err)
	}
}

// ask makes a call and answers its approval.
func (g *gateway) ask(c tool.Call, decision, scope, reason string) tool.Result {
	g.t.Helper()
	sub := g.bus.Subscribe()
	defer sub.Close()
	end := g.runInBackground(g.t.Context(), c)
	g.answer(g.question(sub), decision, scope, reason)
	e := waitResult(g.t, end)
	if e.err != nil {
		g.t.Fatal(e.err)
	}
	return e.Result
}

func (g *gateway) storedCall(id protocol.CallID) store.Call {
	g.t.Helper()
	c, err := g.store.Calls.Get(g.t.Context(), id)
	if err != nil {
		g.t.Fatal(err)
	}
	return c
}

func (g *gateway) noQuestions() {
	g.t.Helper()
	if list, err := g.gate.Pending(g.t.Context()); err != nil || len(list) > 0 {
		g.t.Errorf("open questions: %+v %v", list, err)
	}
}
