package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/dispatch/dispatchtest"
	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

const (
	chat = protocol.SessionKey("agent:main:main")
	bash = protocol.ToolName("tower__Bash")
)

// gate is a gateway's part that calls go through, on a real store.
type gateway struct {
	*Dispatcher
	t     *testing.T
	path  string
	cfg   config.Config
	store *store.Store
	bus   *event.Bus
	hub   *nodes.Hub
	gate  *approval.Gate
	rules *approval.Rules
	tower *dispatchtest.Machine
}

func start(t *testing.T, m *dispatchtest.Machine) *gateway {
	g := &gateway{t: t, path: filepath.Join(t.TempDir(), "fairlead.db"), cfg: config.Default(), tower: m}
	g.open(nil)
	return g
}

// open starts the gateway, again after an earlier open. journal may stand before the store.
func (g *gateway) open(journal func(*store.Store) Journal) {
	g.t.Helper()
	s, err := store.Open(g.t.Context(), g.path)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { s.Close() })
	g.store, g.bus = s, new(event.Bus)
	g.hub, g.gate = nodes.New(g.bus, s), approval.New(s, g.bus)
	if err := g.hub.Load(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
	var j Journal = s
	if journal != nil {
		j = journal(s)
	}
	rules, err := approval.OpenRules(g.t.Context(), s, func() config.ToolApproval { return g.cfg.ToolApproval })
	if err != nil {
		g.t.Fatal(err)
	}
	g.rules = rules
	g.Dispatcher = New(g.hub, g.gate, rules, j, g.bus, func() config.Config { return g.cfg })
	if g.tower != nil {
		g.tower.ID = "tower"
		dispatchtest.Attach(g.t, g.hub, g.tower)
	}
}

// again is the next start on the same disk, with another machine's memory.
func (g *gateway) again(m *dispatchtest.Machine) {
	g.t.Helper()
	g.store.Close()
	g.tower = m
	g.open(nil)
}

func command(id, text string) Call {
	args, _ := json.Marshal(map[string]string{"command": text})
	return Call{ID: protocol.CallID(id), ToolCallID: "call_" + id, Tool: bash, Args: args, Session: chat, Run: "run"}
}

var agent = auth.Agent(chat, "run")

// ended is a call's end.
type ended struct {
	Result
	err error
}

func (g *gateway) do(ctx context.Context, c Call) <-chan ended {
	ch := make(chan ended, 1)
	go func() {
		r, err := g.Call(ctx, agent, c)
		ch <- ended{r, err}
	}()
	return ch
}

func (g *gateway) must(c Call) Result {
	g.t.Helper()
	e := within(g.t, g.do(g.t.Context(), c))
	if e.err != nil {
		g.t.Fatal(e.err)
	}
	return e.Result
}

func within[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came within 10 s")
		panic("unreachable")
	}
}

// until waits for a change.
func until(t *testing.T, sub *event.Subscription, ok func(protocol.Change) bool) protocol.Change {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for c := range sub.All(ctx) {
		if ok(c) {
			return c
		}
	}
	t.Fatal("the change did not come within 10 s")
	panic("unreachable")
}

func (g *gateway) question(sub *event.Subscription) protocol.Approval {
	g.t.Helper()
	return *until(g.t, sub, func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeApproval && c.Approval.State == protocol.ApprovalPending
	}).Approval
}

func (g *gateway) answer(a protocol.Approval, decision, scope, reason string) {
	g.t.Helper()
	res, err := g.gate.Answer(g.t.Context(), "ann", protocol.ApprovalAnswerParams{ID: a.ID, Hash: a.Hash, Decision: decision, Scope: scope, Reason: reason})
	if err != nil || !res.Won {
		g.t.Fatal(res, err)
	}
}

// ask does a call and answers its question.
func (g *gateway) ask(c Call, decision, scope, reason string) Result {
	g.t.Helper()
	sub := g.bus.Subscribe()
	defer sub.Close()
	end := g.do(g.t.Context(), c)
	g.answer(g.question(sub), decision, scope, reason)
	e := within(g.t, end)
	if e.err != nil {
		g.t.Fatal(e.err)
	}
	return e.Result
}

func (g *gateway) row(id protocol.CallID) store.Call {
	g.t.Helper()
	c, err := g.store.Call(g.t.Context(), id)
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

func TestJournalKnowsACallBeforeTheMachineDoes(t *testing.T) {
	m := &dispatchtest.Machine{}
	g := start(t, m)
	var before store.Call
	m.Run = func(inv protocol.ToolInvoke, _ <-chan struct{}) (any, error) {
		before = g.row(inv.CallID)
		return map[string]any{"status": "completed", "exitCode": 0}, nil
	}
	res := g.ask(command("a", "make"), protocol.DecisionAllow, "", "")
	if before.Info.State != protocol.CallRunning || before.Info.StartedAt == 0 || before.Principal == "" || before.IdempotencyKey == "" {
		t.Errorf("when the machine was told, the journal had %+v", before)
	}
	after := g.row("a")
	if res.IsError || after.Info.State != protocol.CallDone || *after.Info.ExitCode != 0 || after.Info.EndedAt == 0 {
		t.Errorf("%+v\n%+v", res, after)
	}
	if inv := m.Calls()[0]; inv.IdempotencyKey != after.IdempotencyKey || inv.Tool != "Bash" || inv.SessionKey != chat || inv.RunID != "run" {
		t.Errorf("%+v", inv)
	}
}

func TestEndedCallIsReplayedFromTheJournal(t *testing.T) {
	g := start(t, &dispatchtest.Machine{Run: func(inv protocol.ToolInvoke, _ <-chan struct{}) (any, error) {
		if strings.Contains(string(inv.Args), "broken") {
			return nil, errors.New("no such program")
		}
		return map[string]any{"status": "failed", "exitCode": 2, "output": "two errors"}, nil
	}})
	for _, c := range []Call{command("a", "make"), command("b", "broken")} {
		first := g.ask(c, protocol.DecisionAllow, "", "")
		g.again(&dispatchtest.Machine{Run: g.tower.Run})
		second := g.must(c)
		if len(g.tower.Calls()) != 0 {
			t.Fatal("the call was sent again")
		}
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(second)
		if string(a) != string(b) {
			t.Errorf("first:  %s\nreplay: %s", a, b)
		}
	}
}

func TestCallThatRanAtACrashIsUnknownAndNeverSentAgain(t *testing.T) {
	began := make(chan struct{})
	g := start(t, &dispatchtest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
		close(began)
		<-stop
		return nil, errors.New("stopped")
	}})
	g.cfg.ToolApproval.DefaultDecision = "allow"
	ctx, cancel := context.WithCancel(t.Context())
	end := g.do(ctx, command("a", "make"))
	within(t, began)
	row := g.row("a")
	g.again(&dispatchtest.Machine{}) // the first gateway can write no more, as if it had been killed
	cancel()
	within(t, end)
	res := g.must(command("a", "make"))
	if res.Info.State != protocol.CallUnknown || !res.IsError || !strings.Contains(res.Content.Text(), "do not repeat it without looking") ||
		!strings.Contains(res.Content.Text(), row.IdempotencyKey) {
		t.Errorf("%+v", res)
	}
	if g.must(command("a", "make")).Info.State != protocol.CallUnknown || len(g.tower.Calls()) != 0 {
		t.Error("the call was sent again")
	}
}

func TestWaitingCallAsksTheSameQuestionAfterARestart(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	sub := g.bus.Subscribe()
	ctx, cancel := context.WithCancelCause(t.Context())
	end := g.do(ctx, command("a", "make"))
	first := g.question(sub)
	cancel(approval.ErrSuspended)
	if e := within(t, end); !errors.Is(e.err, approval.ErrSuspended) {
		t.Fatal(e)
	}
	g.again(&dispatchtest.Machine{})
	sub = g.bus.Subscribe()
	end = g.do(t.Context(), command("a", "make"))
	second := g.question(sub)
	if second.ID != first.ID || second.Hash != first.Hash {
		t.Errorf("asked %s %s, then %s %s", first.ID, first.Hash, second.ID, second.Hash)
	}
	if len(g.tower.Calls()) != 0 {
		t.Error("it ran without an answer")
	}
	g.answer(second, protocol.DecisionAllow, "", "")
	if e := within(t, end); e.err != nil || e.Info.State != protocol.CallDone || len(g.tower.Calls()) != 1 {
		t.Errorf("%+v", e)
	}
}

// watched tells when a tool was looked for.
type watched struct {
	*nodes.Hub
	looked chan struct{}
}

func (w *watched) Lookup(name protocol.ToolName) (protocol.NodeID, protocol.ToolSpec, error) {
	id, spec, err := w.Hub.Lookup(name)
	w.looked <- struct{}{}
	return id, spec, err
}

func TestWaitingCallAsksAgainWhenItsMachineComesBackLate(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	sub := g.bus.Subscribe()
	ctx, cancel := context.WithCancelCause(t.Context())
	end := g.do(ctx, command("a", "make"))
	first := g.question(sub)
	cancel(approval.ErrSuspended)
	within(t, end)
	g.again(nil)
	looked := make(chan struct{}, 10)
	g.Dispatcher.nodes = &watched{g.hub, looked}
	end = g.do(t.Context(), command("a", "make"))
	within(t, looked)
	g.tower = dispatchtest.Attach(t, g.hub, &dispatchtest.Machine{ID: "tower"})
	g.answer(first, protocol.DecisionAllow, "", "")
	if e := within(t, end); e.err != nil || e.Info.State != protocol.CallDone {
		t.Errorf("%+v", e)
	}
}

func TestWaitingCallThatARuleNowAllowsTakesItsQuestionBack(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	sub := g.bus.Subscribe()
	ctx, cancel := context.WithCancelCause(t.Context())
	end := g.do(ctx, command("a", "make"))
	g.question(sub)
	cancel(approval.ErrSuspended)
	within(t, end)
	g.cfg.ToolApproval.DefaultDecision = "allow"
	g.again(&dispatchtest.Machine{})
	if res := g.must(command("a", "make")); res.Info.State != protocol.CallDone {
		t.Errorf("%+v", res)
	}
	g.noQuestions()
}

func TestQuestionThatWasCancelledWithItsRunEndsTheCall(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	sub := g.bus.Subscribe()
	ctx, cancel := context.WithCancelCause(t.Context())
	end := g.do(ctx, command("a", "make"))
	q := g.question(sub)
	cancel(approval.ErrSuspended)
	within(t, end)
	q.State = protocol.ApprovalCancelled
	if _, err := g.store.CloseApproval(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	g.again(&dispatchtest.Machine{})
	if res := g.must(command("a", "make")); res.Info.State != protocol.CallCancelled || !res.IsError || res.Content.Text() == "" {
		t.Errorf("%+v", res)
	}
}

func TestDenialSaysWhyAndNothingRuns(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	res := g.ask(command("a", "make"), protocol.DecisionDeny, "", "not on this machine")
	if res.Info.State != protocol.CallDenied || !res.IsError || !strings.Contains(res.Content.Text(), "not on this machine") {
		t.Errorf("%+v", res)
	}
	if row := g.row("a"); row.Info.State != protocol.CallDenied || len(g.tower.Calls()) != 0 {
		t.Errorf("%+v", row)
	}
}

func TestUnansweredQuestionIsNoDenial(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	g.cfg.Approvals.Timeout = 20
	res := g.must(command("a", "make"))
	if !res.IsError || !strings.Contains(res.Content.Text(), "Nobody answered") || !strings.Contains(res.Content.Text(), "no denial") || len(g.tower.Calls()) != 0 {
		t.Errorf("%+v", res)
	}
	g.noQuestions()
}

func TestOwnActIsNotAskedButARuleStopsIt(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	own := command("a", "make")
	own.Direct = true
	if res := g.must(own); res.Info.State != protocol.CallDone || !res.Info.Direct {
		t.Errorf("%+v", res)
	}
	g.cfg.ToolApproval.Rules = []config.ToolRule{{ID: "r", Tool: "*__Bash", Decision: "deny", Reason: "no commands today"}}
	own.ID = "b"
	if res := g.must(own); res.Info.State != protocol.CallDenied || !strings.Contains(res.Content.Text(), "no commands today") {
		t.Errorf("%+v", res)
	}
	if len(g.tower.Calls()) != 1 || g.row("b").Info.State != protocol.CallDenied {
		t.Error("a denied act ran, or has no row")
	}
}

func TestGrantForTheSessionLetsExactlyTheSameCallThrough(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	g.ask(command("a", "make"), protocol.DecisionAllow, protocol.ScopeSession, "")
	if res := g.must(command("b", "make")); res.Info.State != protocol.CallDone || res.Info.ApprovalID != "" {
		t.Errorf("the same call: %+v", res)
	}
	if res := g.ask(command("c", "make clean"), protocol.DecisionDeny, "", ""); res.Info.State != protocol.CallDenied {
		t.Errorf("another command: %+v", res)
	}
	other := command("d", "make")
	other.Session = "agent:main:app:chat:other"
	if res := g.ask(other, protocol.DecisionDeny, "", ""); res.Info.State != protocol.CallDenied {
		t.Errorf("another session: %+v", res)
	}
}

func TestCallThatWouldFailIsNotAskedAbout(t *testing.T) {
	g := start(t, &dispatchtest.Machine{Preview: func(protocol.ToolInvoke) protocol.CallPreview {
		return protocol.CallPreview{Path: "/home/ann/x", Problem: "oldString not found"}
	}})
	res := g.must(Call{ID: "a", Tool: "tower__Write", Args: json.RawMessage(`{"path":"x"}`), Session: chat})
	if res.Info.State != protocol.CallFailed || !res.IsError || res.Content.Text() != "Error: oldString not found" || res.Info.ApprovalID != "" || len(g.tower.Calls()) != 0 {
		t.Errorf("%+v", res)
	}
	g.noQuestions()
}

func TestWriteExpectsTheFileThatWasShown(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	c := Call{ID: "a", Tool: "tower__Write", Args: json.RawMessage(`{"path":"x"}`), Session: chat}
	g.ask(c, protocol.DecisionAllow, "", "")
	if inv := g.tower.Calls()[0]; inv.Expect != "sum of x" {
		t.Errorf("%+v", inv)
	}
}

func TestStoppedCallReturnsWhatThereIs(t *testing.T) {
	began := make(chan struct{})
	g := start(t, &dispatchtest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
		close(began)
		<-stop
		return map[string]any{"status": "cancelled", "output": "half"}, nil
	}})
	g.cfg.ToolApproval.DefaultDecision = "allow"
	end := g.do(t.Context(), command("a", "make"))
	within(t, began)
	if list := g.Running(); len(list) != 1 || list[0].State != protocol.CallRunning {
		t.Errorf("%+v", list)
	}
	if !g.Cancel("a") {
		t.Error("the call was not under way")
	}
	e := within(t, end)
	if e.err != nil || e.Info.State != protocol.CallCancelled || !e.IsError || !strings.Contains(e.Content.Text(), "half") || !strings.Contains(e.Content.Text(), "person stopped") {
		t.Errorf("%+v", e)
	}
	if g.Cancel("a") || len(g.Running()) != 0 {
		t.Error("it is still under way")
	}
}

func TestStoppedQuestionEndsItsCall(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	sub := g.bus.Subscribe()
	end := g.do(t.Context(), command("a", "make"))
	g.question(sub)
	g.Cancel("a")
	if e := within(t, end); e.err != nil || e.Info.State != protocol.CallCancelled || len(g.tower.Calls()) != 0 {
		t.Errorf("%+v", e)
	}
	g.noQuestions()
}

func TestStoppedCallSaysWhenTheMachineIsSilent(t *testing.T) {
	began, quiet := make(chan struct{}), make(chan struct{})
	g := start(t, &dispatchtest.Machine{Run: func(protocol.ToolInvoke, <-chan struct{}) (any, error) {
		close(began)
		<-quiet
		return nil, nil
	}})
	t.Cleanup(func() { close(quiet) })
	g.cfg.ToolApproval.DefaultDecision = "allow"
	end := g.do(t.Context(), command("a", "make"))
	within(t, began)
	g.Cancel("a")
	if e := within(t, end); e.err != nil || e.Info.State != protocol.CallCancelled || !strings.Contains(e.Content.Text(), "look before you repeat") {
		t.Errorf("%+v", e)
	}
}

func TestMachineThatLeavesMakesTheOutcomeUnknown(t *testing.T) {
	began := make(chan struct{}, 1)
	g := start(t, &dispatchtest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
		began <- struct{}{}
		<-stop
		return nil, errors.New("too late")
	}})
	g.cfg.ToolApproval.DefaultDecision = "allow"
	end := g.do(t.Context(), command("a", "make"))
	within(t, began)
	g.tower.Detach()
	if e := within(t, end); e.err != nil || e.Info.State != protocol.CallUnknown || !strings.Contains(e.Content.Text(), "Unknown outcome") {
		t.Errorf("%+v", e)
	}
}

func TestCallThatTakesTooLongIsStopped(t *testing.T) {
	g := start(t, &dispatchtest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
		<-stop
		return map[string]any{"output": "half"}, nil
	}})
	g.cfg.ToolApproval.DefaultDecision = "allow"
	g.cfg.Timeouts.Tool = 30
	res := g.must(command("a", "make"))
	if res.Info.State != protocol.CallFailed || !strings.Contains(res.Content.Text(), "took longer than 30ms") || !strings.Contains(res.Content.Text(), "half") {
		t.Errorf("%+v", res)
	}
}

func TestOwnTimeoutOfACallIsRespected(t *testing.T) {
	cfg := config.Default()
	cfg.Timeouts.Tool = 1000
	task := &task{Dispatcher: &Dispatcher{config: func() config.Config { return cfg }}}
	for args, want := range map[string]time.Duration{
		`{}`: time.Second, `{"timeout":60000}`: 65 * time.Second, `{"timeout":-1}`: time.Second, `{"timeout":"x"}`: time.Second, `{"timeout":1e300}`: time.Second,
	} {
		task.call.Args = json.RawMessage(args)
		if got := task.limit(); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// fullDisk refuses what a test says.
type fullDisk struct {
	*store.Store
	put func(store.Call) bool
}

func (f *fullDisk) PutCall(ctx context.Context, c store.Call, lines ...protocol.AuditEntry) error {
	if f.put(c) {
		return protocol.ErrStorage.With("The disk is full.")
	}
	return f.Store.PutCall(ctx, c, lines...)
}

func TestNothingRunsThatCannotBeJournaled(t *testing.T) {
	for _, state := range []string{protocol.CallWaiting, protocol.CallRunning} {
		g := start(t, nil)
		g.cfg.ToolApproval.DefaultDecision = "allow"
		if state == protocol.CallWaiting {
			g.cfg.ToolApproval.DefaultDecision = "ask"
		}
		g.store.Close()
		g.tower = &dispatchtest.Machine{}
		g.open(func(s *store.Store) Journal {
			return &fullDisk{s, func(c store.Call) bool { return c.Info.State == state }}
		})
		e := within(t, g.do(t.Context(), command("a", "make")))
		if !errors.Is(e.err, protocol.ErrStorage) || len(g.tower.Calls()) != 0 {
			t.Errorf("%s: %+v", state, e)
		}
		g.noQuestions()
	}
}

func TestOneCallRunsOnceForManyWhoAsk(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	g.cfg.ToolApproval.DefaultDecision = "allow"
	var all []<-chan ended
	for range 8 {
		all = append(all, g.do(t.Context(), command("a", "make")))
	}
	for _, ch := range all {
		if e := within(t, ch); e.err != nil && !errors.Is(e.err, protocol.ErrConflict) {
			t.Error(e.err)
		}
	}
	if n := len(g.tower.Calls()); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

func TestWhatDoesNotFitIsAnErrorBeforeAnything(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	for name, c := range map[string]struct {
		tool protocol.ToolName
		args string
		want error
	}{
		"unknown tool": {"tower__Fly", `{}`, protocol.ErrNotFound},
		"no machine":   {"desk__Bash", `{"command":"x"}`, protocol.ErrNotFound},
		"arguments":    {bash, `{"command":1}`, nil},
	} {
		_, err := g.Call(t.Context(), agent, Call{Tool: c.tool, Args: json.RawMessage(c.args), Session: chat})
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	g.tower.Detach()
	if _, err := g.Call(t.Context(), agent, command("a", "make")); !errors.Is(err, protocol.ErrUnavailable) {
		t.Error(err)
	}
	if open, _ := g.store.OpenCalls(t.Context()); len(open) != 0 {
		t.Errorf("%+v", open)
	}
}

func TestAnswerForAlwaysMakesARuleAndTheAuditTellsOfBoth(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	sub := g.bus.Subscribe()
	end := g.do(t.Context(), command("a", "go vet ./gateway"))
	q := g.question(sub)
	sub.Close()
	if len(q.Parts) == 0 || len(q.Offers) == 0 {
		t.Fatalf("%+v", q)
	}
	g.answer(q, protocol.DecisionAllow, protocol.ScopeAlways, "")
	if e := within(t, end); e.err != nil || e.IsError {
		t.Fatalf("%+v", e)
	}
	g.must(command("b", "go vet ./gateway")) // nobody is asked: must would wait
	g.noQuestions()
	rules := g.rules.List().Rules
	if as := q.Offers[0].As[protocol.ScopeAlways]; as.Words != rules[0].Words || string(as.Policy) != string(rules[0].Policy) {
		t.Errorf("offered %+v, made %+v", as, rules[0])
	}
	lines, _, err := g.store.AuditLines(t.Context(), protocol.AuditListParams{Limit: 10})
	if err != nil || len(rules) != 1 || len(lines) != 3 {
		t.Fatalf("%+v\n%+v %v", rules, lines, err)
	}
	if l := lines[0]; l.By != "rule "+rules[0].ID || l.Rule != rules[0].ID || l.What != "go vet ./gateway" || l.State != protocol.CallDone || l.Node != "tower" {
		t.Errorf("%+v", l)
	}
	if l := lines[1]; l.By != "ann" || l.Approval != q.ID || l.Verdict != "allow" {
		t.Errorf("%+v", l)
	}
	if l := lines[2]; l.Kind != protocol.AuditRuleMade || l.By != "ann" || l.Rule != rules[0].ID || len(l.Policy) == 0 {
		t.Errorf("%+v", l)
	}
	if v, err := g.store.VerifyAudit(t.Context(), store.AuditHead{}); err != nil || v.Broken != 0 || v.Lines != 3 {
		t.Errorf("%+v %v", v, err)
	}
}

func TestModeOfAChatHolds(t *testing.T) {
	g := start(t, &dispatchtest.Machine{})
	set := func(mode string) {
		if _, err := g.store.EnsureSession(t.Context(), chat, 1); err != nil {
			t.Fatal(err)
		}
		_, err := g.store.UpdateSession(t.Context(), chat, func(s *store.Session) { s.Prefs.Approvals = &protocol.ApprovalMode{Mode: mode} })
		if err != nil {
			t.Fatal(err)
		}
	}
	set(protocol.ModeReadOnly)
	if res := g.must(command("a", "make")); res.Info.State != protocol.CallDenied || !strings.Contains(res.Content.Text(), "may only read") {
		t.Errorf("%+v", res)
	}
	set(protocol.ModeAcceptEdits)
	res := g.must(Call{ID: "b", Tool: "tower__Write", Args: json.RawMessage(`{"path":"/x/a"}`), Session: chat})
	if res.Info.State != protocol.CallDone {
		t.Errorf("%+v", res)
	}
	if len(g.tower.Calls()) != 1 {
		t.Errorf("%+v", g.tower.Calls())
	}
}

func TestChangedCallRunsAsThePersonWantsItAndIsCheckedAnew(t *testing.T) {
	for _, c := range []struct {
		args, state, text string
		runs              int
	}{
		{`{"command":"make test"}`, protocol.CallDone, "The person changed the call", 1},
		{`{"command":7}`, protocol.CallFailed, "could not be run", 0},
		{`{"command":"shutdown now"}`, protocol.CallFailed, "not now", 0},
	} {
		g := start(t, &dispatchtest.Machine{})
		if _, err := g.rules.Put(t.Context(), "ann", protocol.RulePutParams{Policy: json.RawMessage(`{"tool":"Bash","argv":["shutdown","**"],"verdict":"deny","reason":"not now"}`)}); err != nil {
			t.Fatal(err)
		}
		sub := g.bus.Subscribe()
		end := g.do(t.Context(), command("a", "make install"))
		q := g.question(sub)
		sub.Close()
		params := protocol.ApprovalAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Args: json.RawMessage(c.args)}
		params.Scope = protocol.ScopeSession
		if _, err := g.gate.Answer(t.Context(), "ann", params); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("a changed call was allowed for more than once: %v", err)
		}
		params.Scope = protocol.ScopeOnce
		if res, err := g.gate.Answer(t.Context(), "ann", params); err != nil || !res.Won {
			t.Fatal(res, err)
		}
		e := within(t, end)
		if e.err != nil || e.Info.State != c.state || !strings.Contains(e.Content.Text(), c.text) || len(g.tower.Calls()) != c.runs {
			t.Errorf("%s: %+v, %d calls", c.args, e, len(g.tower.Calls()))
		}
		for _, inv := range g.tower.Calls() {
			if string(inv.Args) != c.args || inv.Approved == "" || inv.Approved == q.Hash {
				t.Errorf("%+v", inv)
			}
		}
	}
}
