package session

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/dispatch"
	"fairlead/gateway/dispatch/dispatchtest"
	"fairlead/gateway/event"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/workspace"
)

const (
	chat = protocol.MainSession
	bash = protocol.ToolName("tower__Bash")
)

var ann = auth.Owner("ann")

// gateway is everything below the RPC surface, on a real store.
type gateway struct {
	*Manager
	t     *testing.T
	home  string
	cfg   config.Config
	model *llmtest.Model
	tower *dispatchtest.Machine
	store *store.Store
	bus   *event.Bus
	gate  *approval.Gate
	sub   *event.Subscription // from before Resume
}

func start(t *testing.T, steps ...llmtest.Step) *gateway {
	t.Helper()
	return startWith(t, &dispatchtest.Machine{}, steps...)
}

func startWith(t *testing.T, m *dispatchtest.Machine, steps ...llmtest.Step) *gateway {
	t.Helper()
	g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: m}
	g.open(steps...)
	return g
}

// open starts the gateway, again on the same disk after an earlier one.
func (g *gateway) open(steps ...llmtest.Step) {
	g.t.Helper()
	s, err := store.Open(g.t.Context(), filepath.Join(g.home, "fairlead.db"))
	if err != nil {
		g.t.Fatal(err)
	}
	w, err := workspace.Open(g.home, protocol.MainAgent)
	if err != nil {
		g.t.Fatal(err)
	}
	g.store, g.bus, g.model = s, new(event.Bus), llmtest.Script(steps...)
	g.gate = approval.New(s, g.bus)
	hub, cfg := nodes.New(g.bus, nil), g.cfg
	calls := dispatch.New(hub, g.gate, openRules(g.t, s, cfg), s, g.bus, func() config.Config { return cfg })
	m := New(Options{
		Store: s, Bus: g.bus, Tools: calls, Questions: g.gate, Models: g.model, Workspace: w, Nodes: hub.Nodes,
		Config: func() config.Config { return cfg }, Home: g.home,
	})
	g.t.Cleanup(func() { m.Close(); s.Close() })
	g.Manager = m
	g.tower.ID = "tower"
	dispatchtest.Attach(g.t, hub, g.tower)
	g.sub = g.bus.Subscribe()
	if err := m.Load(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
	if err := m.Resume(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
}

// again starts the gateway anew. A crash leaves the old one without a disk instead of closing it.
func (g *gateway) again(crash bool, m *dispatchtest.Machine, steps ...llmtest.Step) {
	g.t.Helper()
	if !crash {
		g.Close()
	}
	g.store.Close()
	g.tower = m
	g.open(steps...)
}

func (g *gateway) send(text string) protocol.ChatSendResult {
	g.t.Helper()
	res, err := g.Send(g.t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: text})
	if err != nil {
		g.t.Fatal(err)
	}
	return res
}

// until waits for a change.
func (g *gateway) until(ok func(protocol.Change) bool) protocol.Change {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 10*time.Second)
	defer cancel()
	for c := range g.sub.All(ctx) {
		if ok(c) {
			return c
		}
	}
	g.t.Fatal("the change did not come within 10 s")
	panic("unreachable")
}

func terminal(c protocol.Change) bool {
	return c.Kind == protocol.ChangeChat && (c.Chat.State == protocol.ChatFinal || c.Chat.State == protocol.ChatErrState)
}

// end waits for the end of a run.
func (g *gateway) end(id protocol.RunID) *protocol.ChatEvent {
	g.t.Helper()
	return g.until(func(c protocol.Change) bool { return terminal(c) && *c.Chat.RunID == id }).Chat
}

func (g *gateway) question() protocol.Approval {
	g.t.Helper()
	return *g.until(func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeApproval && c.Approval.State == protocol.ApprovalPending
	}).Approval
}

func (g *gateway) state(id protocol.RunID, state string) {
	g.t.Helper()
	g.until(func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeRun && c.Run.RunID == id && c.Run.State == state
	})
}

func (g *gateway) allow(q protocol.Approval, scope string) {
	g.t.Helper()
	res, err := g.gate.Answer(g.t.Context(), "ann", protocol.ApprovalAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Scope: scope})
	if err != nil || !res.Won {
		g.t.Fatal(res, err)
	}
}

// words are a chat's messages in short.
func (g *gateway) words(key protocol.SessionKey) []string {
	g.t.Helper()
	msgs, err := g.store.Messages(g.t.Context(), key, 0, 0)
	if err != nil {
		g.t.Fatal(err)
	}
	out := []string{}
	for _, m := range msgs {
		w := string(m.Role) + ": " + m.Content.Text()
		if m.Origin != "" {
			w = m.Origin + " " + w
		}
		if n := len(m.Content.Calls()); n > 0 {
			w += strings.Repeat(" <call>", n)
		}
		out = append(out, w)
	}
	return out
}

func (g *gateway) check(want ...string) {
	g.t.Helper()
	if got := g.words(chat); !slices.Equal(got, want) {
		g.t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (g *gateway) noneOpen() {
	g.t.Helper()
	runs, err := g.store.OpenRuns(g.t.Context())
	if err != nil || len(runs) > 0 {
		g.t.Errorf("open runs: %+v %v", runs, err)
	}
	if list, err := g.gate.Pending(g.t.Context()); err != nil || len(list) > 0 {
		g.t.Errorf("open questions: %+v %v", list, err)
	}
}

func TestMessageGetsItsAnswer(t *testing.T) {
	g := start(t, llmtest.Say("Hello Ann."))
	res := g.send("Hello")
	if res.Status != protocol.ChatStarted || res.Queued {
		t.Errorf("%+v", res)
	}
	if e := g.end(res.RunID); e.State != protocol.ChatFinal || e.Message.Content.Text() != "Hello Ann." {
		t.Errorf("%+v", e)
	}
	g.check("user: Hello", "assistant: Hello Ann.")
	g.noneOpen()
}

func TestQueuedMessagesRunInOrderAndEachGetsItsEnd(t *testing.T) {
	ready := make(chan struct{})
	g := start(t, llmtest.Say("one").Wait(ready), llmtest.Say("two"), llmtest.Say("three"))
	var ids []protocol.RunID
	for i, text := range []string{"1", "2", "3"} {
		res := g.send(text)
		if res.Queued != (i > 0) {
			t.Errorf("%s: %+v", text, res)
		}
		ids = append(ids, res.RunID)
	}
	close(ready)
	for i, want := range []string{"one", "two", "three"} {
		c := g.until(terminal)
		if *c.Chat.RunID != ids[i] || c.Chat.State != protocol.ChatFinal || c.Chat.Message.Content.Text() != want {
			t.Errorf("%d: %+v", i, c.Chat)
		}
	}
	g.check("user: 1", "assistant: one", "user: 2", "assistant: two", "user: 3", "assistant: three")
}

func TestQueueKeepsItsOrderWithinAMillisecond(t *testing.T) {
	g := start(t)
	g.SetPaused(true)
	want := []protocol.RunID{"e", "d", "c", "b", "a"}
	for _, id := range want {
		run := store.Run{ID: id, Session: chat, Params: protocol.ChatSendParams{SessionKey: chat, Message: "hello"}, CreatedAt: 1}
		if err := g.do(t.Context(), chat, func(s *session) {
			if _, err := s.accept(run); err != nil {
				t.Error(err)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := g.store.OpenRuns(t.Context()) // what the next start goes by
	if err != nil {
		t.Fatal(err)
	}
	var got []protocol.RunID
	for _, r := range runs {
		got = append(got, r.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestQueuedMessageCanBeTakenBack(t *testing.T) {
	ready := make(chan struct{})
	g := start(t, llmtest.Say("one").Wait(ready))
	first, second := g.send("1"), g.send("2")
	res, err := g.Cancel(t.Context(), protocol.ChatCancelParams{SessionKey: chat, RunID: second.RunID})
	if err != nil || !res.Cancelled || res.RunID != second.RunID {
		t.Fatal(res, err)
	}
	if e := g.end(second.RunID); e.State != protocol.ChatErrState {
		t.Errorf("%+v", e)
	}
	close(ready)
	g.end(first.RunID)
	g.check("user: 1", "assistant: one")
	g.noneOpen()
}

func TestStopKeepsWhatWasSaidAndTheQueueGoesOn(t *testing.T) {
	g := start(t, llmtest.Say("half").Hang(), llmtest.Say("two"))
	first, second := g.send("1"), g.send("2")
	g.until(func(c protocol.Change) bool { return c.Kind == protocol.ChangeDelta })
	if res := g.send("/stop"); res.Response != "Stopped run "+string(first.RunID)+"." {
		t.Errorf("%+v", res)
	}
	if e := g.end(first.RunID); e.State != protocol.ChatErrState || e.Error != "Run cancelled by user" {
		t.Errorf("%+v", e)
	}
	g.end(second.RunID)
	g.check("user: 1", "assistant: half", "notice assistant: Stopped.", "user: 2", "assistant: two")
	if res := g.send("/stop"); res.Response != "No run in progress." {
		t.Errorf("%+v", res)
	}
}

func TestRunIDIsTakenOnce(t *testing.T) {
	ready := make(chan struct{})
	defer close(ready)
	g := start(t, llmtest.Say("one").Wait(ready))
	in := protocol.ChatSendParams{SessionKey: chat, Message: "1", RunID: "mine"}
	if _, err := g.Send(t.Context(), ann, in); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Send(t.Context(), ann, in); !errors.Is(err, protocol.ErrConflict) {
		t.Error(err)
	}
}

func TestRestartAsksTheSameQuestionAndGoesOn(t *testing.T) {
	for _, crash := range []bool{false, true} {
		g := start(t, llmtest.Say("Let me.").Call(bash, `{"command":"make"}`))
		res := g.send("Build it")
		second := g.send("And then?")
		third := g.send("And then that?")
		first := g.question()
		g.again(crash, &dispatchtest.Machine{}, llmtest.Say("Built."), llmtest.Say("Rest."), llmtest.Say("More rest."))
		q := g.question()
		if q.ID != first.ID || q.Hash != first.Hash || q.RunID != res.RunID {
			t.Errorf("crash %v: asked %+v, then %+v", crash, first, q)
		}
		if len(g.tower.Calls()) != 0 {
			t.Error("it ran without an answer")
		}
		g.allow(q, "")
		for _, r := range []protocol.ChatSendResult{res, second, third} {
			if e := g.until(terminal).Chat; *e.RunID != r.RunID || e.State != protocol.ChatFinal {
				t.Errorf("crash %v: %+v", crash, e)
			}
		}
		g.check("user: Build it", "assistant: Let me. <call>", "toolResult: ok", "assistant: Built.", "user: And then?", "assistant: Rest.",
			"user: And then that?", "assistant: More rest.")
		if len(g.tower.Calls()) != 1 {
			t.Errorf("it ran %d times", len(g.tower.Calls()))
		}
		g.noneOpen()
	}
}

func TestRestartAsksAgainWhetherToGoOn(t *testing.T) {
	for _, yes := range []bool{true, false} {
		g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: &dispatchtest.Machine{}}
		g.cfg.Agent.MaxSteps = 1
		g.cfg.ToolApproval.DefaultDecision = "allow"
		g.open(llmtest.Call(bash, `{"command":"make"}`))
		res := g.send("Build it")
		first := g.question()
		if first.Kind != protocol.AskContinue {
			t.Fatalf("%+v", first)
		}
		g.again(true, &dispatchtest.Machine{}, llmtest.Say("Built."))
		if q := g.question(); q.ID != first.ID || q.Kind != protocol.AskContinue {
			t.Errorf("%+v", q)
		}
		word, want := "yes", protocol.ChatFinal
		if !yes {
			word, want = "no", protocol.ChatErrState
		}
		if answer := g.send(word); answer.Status != protocol.ChatPaused {
			t.Errorf("%+v", answer)
		}
		if e := g.end(res.RunID); e.State != want {
			t.Errorf("%+v", e)
		}
		g.noneOpen()
	}
}

func TestOwnCommandRunsBesideARun(t *testing.T) {
	ready := make(chan struct{})
	g := start(t, llmtest.Say("one").Wait(ready))
	first := g.send("1")
	own := g.send("! ls -l")
	if own.Status != protocol.ChatStarted || own.Queued {
		t.Errorf("%+v", own)
	}
	if e := g.end(own.RunID); e.State != protocol.ChatFinal {
		t.Errorf("%+v", e)
	}
	close(ready)
	g.end(first.RunID)
	g.check("user: 1", "direct user: !ls -l", "direct toolResult: ok", "assistant: one")
	if inv := g.tower.Calls(); len(inv) != 1 || string(inv[0].Args) != `{"command":"ls -l"}` {
		t.Errorf("%+v", inv)
	}
	g.noneOpen()
}

func TestOwnCommandIsNotRunAgainAfterARestart(t *testing.T) {
	began := make(chan struct{}, 1)
	g := startWith(t, &dispatchtest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
		began <- struct{}{}
		<-stop
		return nil, errors.New("stopped")
	}})
	own := g.send("!make")
	select {
	case <-began:
	case <-time.After(10 * time.Second):
		t.Fatal("it did not begin")
	}
	g.again(true, &dispatchtest.Machine{})
	g.end(own.RunID)
	if len(g.tower.Calls()) != 0 {
		t.Error("it ran again")
	}
	if w := g.words(chat); len(w) != 2 || !strings.Contains(w[1], "Unknown outcome") {
		t.Errorf("%q", w)
	}
	g.noneOpen()

	// Killed after the result was stored, before the run's end was: nothing is told twice.
	run, err := g.store.Run(t.Context(), own.RunID)
	if err != nil {
		t.Fatal(err)
	}
	run.State, run.EndedAt = protocol.RunTools, 0
	if err := g.store.PutRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	g.again(true, &dispatchtest.Machine{})
	g.end(own.RunID)
	if w := g.words(chat); len(w) != 2 {
		t.Errorf("%q", w)
	}
}

func TestWhatAnEarlierStartLeftCanBeStoppedBeforeItIsTakenUp(t *testing.T) {
	g := start(t)
	own := store.Run{
		ID: "own", Session: chat, State: protocol.RunTools, Principal: directPrincipal + "owner ann", CreatedAt: 1, StartedAt: 1,
		Params: protocol.ChatSendParams{SessionKey: chat, Message: "!make", Node: "tower"},
	}
	said := protocol.Message{RunID: "own", Role: protocol.RoleUser, Origin: protocol.OriginDirect, Content: protocol.Content{protocol.Text("!make")}}
	if _, err := g.store.StartRun(t.Context(), own, said); err != nil {
		t.Fatal(err)
	}
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   protocol.RunID
		want bool
	}{{"", false}, {"own", true}, {"own", false}} {
		res, err := g.Cancel(t.Context(), protocol.ChatCancelParams{SessionKey: chat, RunID: c.id})
		if err != nil || res.Cancelled != c.want {
			t.Errorf("%q: %+v %v", c.id, res, err)
		}
	}
	if e := g.end("own"); e.State != protocol.ChatErrState {
		t.Errorf("%+v", e)
	}
	g.noneOpen()
}

func TestOwnCommandCanBeStopped(t *testing.T) {
	began := make(chan struct{}, 1)
	g := startWith(t, &dispatchtest.Machine{Run: func(_ protocol.ToolInvoke, stop <-chan struct{}) (any, error) {
		began <- struct{}{}
		<-stop
		return map[string]any{"output": "half"}, nil
	}})
	own := g.send("!make")
	<-began
	if res, err := g.Cancel(t.Context(), protocol.ChatCancelParams{SessionKey: chat, RunID: own.RunID}); err != nil || !res.Cancelled {
		t.Error(res, err)
	}
	if e := g.end(own.RunID); e.State != protocol.ChatErrState {
		t.Errorf("%+v", e)
	}
	g.noneOpen()
}

func TestYesAndNoAnswerAQuestionAndOtherTextQueues(t *testing.T) {
	for word, want := range map[string]string{"yes": "toolResult: ok", "No, use ninja": "toolResult: Error: The person denied this call. Their reason: use ninja"} {
		g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Well."), llmtest.Say("Later."))
		first := g.send("Build it")
		q := g.question()
		other := g.send("what would that do?")
		if other.Status != protocol.ChatStarted || !other.Queued {
			t.Errorf("%+v", other)
		}
		if res := g.send(word); res.Status != protocol.ChatPaused || res.ApprovalID != q.ID || res.RunID != first.RunID {
			t.Errorf("%+v", res)
		}
		g.end(first.RunID)
		g.end(other.RunID)
		g.check("user: Build it", "assistant:  <call>", want, "assistant: Well.", "user: what would that do?", "assistant: Later.")
	}
}

func TestYesWithoutAQuestionIsAMessage(t *testing.T) {
	g := start(t, llmtest.Say("Good."))
	g.end(g.send("yes").RunID)
	g.check("user: yes", "assistant: Good.")
}

func TestPausedStartsNothing(t *testing.T) {
	g := start(t, llmtest.Say("one"))
	g.SetPaused(true)
	res := g.send("1")
	if !res.Queued || len(g.model.Requests()) != 0 {
		t.Errorf("%+v", res)
	}
	g.state(res.RunID, protocol.RunQueued)
	st, err := g.Stats(t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil || st.IsProcessing || st.QueueSize != 1 {
		t.Error(st, err)
	}
	g.SetPaused(false)
	g.end(res.RunID)
	g.check("user: 1", "assistant: one")
}

func TestPauseHoldsARunBetweenItsSteps(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Done."))
	res := g.send("Build it")
	q := g.question()
	g.SetPaused(true)
	g.allow(q, "")
	g.until(func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeMessage && c.Message.Role == protocol.RoleToolResult
	})
	if n := len(g.model.Requests()); n != 1 {
		t.Errorf("%d requests while paused", n)
	}
	g.SetPaused(false)
	g.end(res.RunID)
	g.noneOpen()
}

// TestTextOfAnAgentNeitherCommandsNorAnswers holds what another chat's agent or a schedule writes to what it is: text. Else an agent could allow
// its own calls, or run a command as the person.
func TestTextOfAnAgentNeitherCommandsNorAnswers(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Well."), llmtest.Say("a"), llmtest.Say("b"), llmtest.Say("c"))
	first := g.send("Build it")
	q := g.question()
	var last protocol.ChatSendResult
	for _, text := range []string{"yes", "!rm -rf .", "/reset"} {
		var err error
		last, err = g.Send(t.Context(), auth.Agent("agent:main:other", "r"), protocol.ChatSendParams{SessionKey: chat, Message: text})
		if err != nil || last.Status != protocol.ChatStarted || !last.Queued {
			t.Errorf("%q: %+v %v", text, last, err)
		}
	}
	if list, err := g.gate.Pending(t.Context()); err != nil || len(list) != 1 || list[0].ID != q.ID {
		t.Errorf("the question is gone: %+v %v", list, err)
	}
	g.send("no")
	g.end(first.RunID)
	g.end(last.RunID)
	g.check("user: Build it", "assistant:  <call>", "toolResult: Error: The person denied this call.", "assistant: Well.",
		"user: yes", "assistant: a", "user: !rm -rf .", "assistant: b", "user: /reset", "assistant: c")
	if n := len(g.tower.Calls()); n != 0 {
		t.Errorf("%d calls ran", n)
	}
}

func openRules(t *testing.T, s *store.Store, cfg config.Config) *approval.Rules {
	t.Helper()
	r, err := approval.OpenRules(t.Context(), s, func() config.ToolApproval { return cfg.ToolApproval })
	if err != nil {
		t.Fatal(err)
	}
	return r
}
