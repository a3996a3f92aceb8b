package session

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/journal"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/session/media"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/tooltest"
	"fairlead/gateway/usage"
	"fairlead/gateway/workspace"
)

const (
	chat = protocol.MainSession
	bash = protocol.ToolName("tower__Bash")
)

var ann = auth.Owner("ann")

// gateway is everything below the RPC surface, on a real store.
type gateway struct {
	*Chats
	*History
	*Runs
	*Editor
	*Trash
	*Messages
	sessions   *Sessions
	opts       Options
	t          *testing.T
	home       string
	cfg        config.Config
	model      *llmtest.Model
	tower      *tooltest.Machine
	store      *store.DB
	bus        *event.Bus
	gate       *question.Queue
	sub        *event.Subscription // subscribed before Resume
	current    atomic.Pointer[config.Config]
	transcribe media.Transcribe
	autoTitle  bool // off by default: a title would take a step of the model's script
}

// set changes the settings while the gateway runs.
func (g *gateway) set(change func(*config.Config)) {
	cfg := *g.current.Load()
	change(&cfg)
	g.current.Store(&cfg)
}

func start(t *testing.T, steps ...llmtest.Step) *gateway {
	t.Helper()
	return startWith(t, &tooltest.Machine{}, steps...)
}

func startWith(t *testing.T, m *tooltest.Machine, steps ...llmtest.Step) *gateway {
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
	files := workspace.NewFiles(g.home, nil)
	if _, err := files.Of(protocol.MainAgent); err != nil {
		g.t.Fatal(err)
	}
	g.store, g.bus, g.model = s, new(event.Bus), llmtest.Script(steps...)
	hub, cfg := nodes.New(g.bus, nil), g.cfg
	rules := openRules(g.t, s, cfg)
	g.gate = question.New(s.Questions, rules, g.bus)
	calls := tool.New(tool.Options{
		Registry: tool.NewRegistry(hub, hub.Calls, nil), Policy: rules, Approver: g.gate, Journal: journal.New(s.Calls, s.Calls), Steps: journal.New(s.Calls, s.Calls),
		Permissions: approval.Permissions{Grants: s.Grants, Chats: s.Sessions}, Bus: g.bus, Config: func() config.Config { return cfg },
	})
	cfg.Session.AutoTitle = g.autoTitle
	g.current.Store(&cfg)
	g.opts = Options{
		Stores: stores(s), Bus: g.bus, Tools: calls, Questions: g.gate, Models: g.model, Files: files, Skills: noSkills{}, Nodes: hub.Nodes, AwaitNode: hub.AwaitOnline,
		Budget: usage.New(s.Usage, func() config.Config { return *g.current.Load() }),
		Config: func() config.Config { return *g.current.Load() }, Home: g.home, Transcribe: g.transcribe,
	}
	m := New(g.opts)
	g.t.Cleanup(func() { m.Close(); s.Close() })
	g.sessions = m
	g.Chats, g.History, g.Runs, g.Editor, g.Trash, g.Messages = m.Chats, m.History, m.Runs, m.Editor, m.Trash, m.Messages
	g.tower.ID = "tower"
	tooltest.Attach(g.t, hub, g.tower)
	g.sub = g.bus.Subscribe()
	if err := m.Load(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
	m.Resume(g.t.Context())
}

// restart restarts the gateway. With crash, the old one loses its disk instead of being closed.
func (g *gateway) restart(crash bool, m *tooltest.Machine, steps ...llmtest.Step) {
	g.t.Helper()
	if !crash {
		g.sessions.Close()
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
	ctx, cancel := context.WithTimeout(g.t.Context(), 3*time.Minute)
	defer cancel()
	for c := range g.sub.All(ctx) {
		if ok(c) {
			return c
		}
	}
	g.t.Fatal("the change did not come")
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

func (g *gateway) question() protocol.Question {
	g.t.Helper()
	return *g.until(func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeQuestion && c.Question.State == protocol.QuestionPending
	}).Question
}

func (g *gateway) state(id protocol.RunID, state string) {
	g.t.Helper()
	g.until(func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeRun && c.Run.RunID == id && c.Run.State == state
	})
}

func (g *gateway) allow(q protocol.Question, scope string) {
	g.t.Helper()
	res, err := g.gate.Answer(g.t.Context(), auth.Owner("ann"), protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Scope: scope})
	if err != nil || !res.Won {
		g.t.Fatalf("got %+v, error %v, want the first answer", res, err)
	}
}

// words summarizes a chat's messages.
func (g *gateway) words(key protocol.SessionKey) []string {
	g.t.Helper()
	msgs, err := g.store.Messages.List(g.t.Context(), key, 0, 0)
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

func (g *gateway) checkNoUnfinishedRuns() {
	g.t.Helper()
	runs, err := g.store.Runs.Unfinished(g.t.Context())
	if err != nil || len(runs) > 0 {
		g.t.Errorf("got open runs %+v, error %v, want none", runs, err)
	}
	if list, err := g.gate.Pending(g.t.Context()); err != nil || len(list) > 0 {
		g.t.Errorf("got open questions %+v, error %v, want none", list, err)
	}
}

func openRules(t *testing.T, s *store.DB, cfg config.Config) *approval.Rules {
	t.Helper()
	r, err := approval.OpenRules(t.Context(), s.Rules, s.Grants, approval.RulesOptions{Config: func() config.Config { return cfg }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func stores(s *store.DB) Stores {
	return Stores{
		Sessions: s.Sessions, Messages: s.Messages, Archives: s.Archives, Media: s.Media, Runs: s.Runs, Search: s.Search, Calls: s.Calls, Usage: s.Usage,
	}
}

// noSkills are the skills of agents without any.
type noSkills struct{}

func (noSkills) Prompt(protocol.AgentID) (string, error) { return "", nil }
