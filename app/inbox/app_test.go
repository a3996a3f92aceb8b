package inbox

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/grant"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

func TestAnAppIsAllowedOnlyWhatThePersonChooses(t *testing.T) {
	pagetest.Start(t, style.Light)
	var answers []protocol.QuestionAnswerParams
	l := NewCards(host.Env{Feed: feed.New()}, protocol.AskApp)
	l.answer = func(_ []protocol.Question, a protocol.QuestionAnswerParams) { answers = append(answers, a) }
	update := func(list ...protocol.Question) {
		l.Show(feed.View{Machines: twoMachines(), Questions: feed.Questions{Pending: list}}, pagetest.Noon)
	}
	w := pagetest.Window(t, l.Box, 480, 760)
	update(consent())
	golden.Markup(t, "app", l.Box)
	pagetest.Shot(t, w, "apps-consent")
	pagetest.Shows(t, l.Box, "Connect “Claude Code”?", "claude.example", "K7WQ", "5:00 left", "Run commands")
	test.Tap(pagetest.Button(t, l.Box, "Allow in 2 s"))
	l.Tick(pagetest.Noon.Add(1999 * time.Millisecond))
	test.Tap(pagetest.Button(t, l.Box, "Allow in 1 s"))
	if answers != nil {
		t.Fatalf("a click counted at once: %+v", answers)
	}
	l.Tick(pagetest.Noon.Add(2 * time.Second))
	check(t, l.Box, "Run commands").SetChecked(false)
	widgettest.Find(l.Box, func(s *widgets.Select) bool { return slices.Contains(s.Options, grant.SomeMachines) }).SetSelected(grant.SomeMachines)
	if allow := pagetest.Button(t, l.Box, "Allow"); !allow.Disabled() {
		t.Error("it can be allowed on no machine")
	}
	check(t, l.Box, "nas").SetChecked(true)
	test.Tap(pagetest.Button(t, l.Box, "Allow"))
	want := protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Scopes: []protocol.Scope{protocol.ScopeNetworkRead, protocol.ScopeFilesRead}, Nodes: []protocol.NodeID{"nas"}}
	if len(answers) != 1 || !same(answers[0], want) {
		t.Errorf("got %+v, want %+v", answers, want)
	}
	test.Tap(pagetest.Button(t, l.Box, "Deny"))
	if len(answers) != 2 || answers[1].Decision != protocol.DecisionDeny || answers[1].Scopes != nil {
		t.Errorf("denied with %+v", answers)
	}
	before := pagetest.Button(t, l.Box, "Allow")
	second := consent()
	second.ID = "d"
	update(consent(), second)
	if len(l.Box.Objects) != 2 || pagetest.Button(t, l.Box, "Allow") != before {
		t.Error("a second question made the first one new")
	}
	update()
	if len(l.Box.Objects) != 0 {
		t.Error("a question that is over is shown")
	}
}

func TestAnAppThatIsConnectedKeepsItsMachines(t *testing.T) {
	pagetest.Start(t, style.Light)
	c := consent()
	c.App.Connected, c.App.Nodes = true, []protocol.NodeID{"nas"}
	var answer protocol.QuestionAnswerParams
	q := newCard(c, place{Env: host.Env{Feed: feed.New()}, view: feed.View{Machines: twoMachines()}, now: pagetest.Noon}, func(p protocol.QuestionAnswerParams) { answer = p })
	pagetest.Window(t, q.Box, 480, 760)
	pagetest.Shows(t, q.Box, "already: what you allow", "Only these machines", "nas")
	q.Tick(pagetest.Noon.Add(2 * time.Second))
	test.Tap(pagetest.Button(t, q.Box, "Allow"))
	if !slices.Equal(answer.Nodes, c.App.Nodes) {
		t.Errorf("got %q, want %q", answer.Nodes, c.App.Nodes)
	}
}

func TestAnAppThatIsConnectedKeepsItsNetworks(t *testing.T) {
	pagetest.Start(t, style.Light)
	c := consent()
	c.App.Connected, c.App.Networks = true, []protocol.NetworkID{"net_lab"}
	var answer protocol.QuestionAnswerParams
	q := newCard(c, place{Env: host.Env{Feed: feed.New()}, view: feed.View{Machines: twoMachines()}, now: pagetest.Noon}, func(p protocol.QuestionAnswerParams) { answer = p })
	pagetest.Window(t, q.Box, 480, 760)
	pagetest.Shows(t, q.Box, "already: what you allow", "The machines in 1 network")
	q.Tick(pagetest.Noon.Add(2 * time.Second))
	test.Tap(pagetest.Button(t, q.Box, "Allow"))
	if !slices.Equal(answer.Networks, c.App.Networks) {
		t.Errorf("got %q, want %q", answer.Networks, c.App.Networks)
	}
}

func twoMachines() []protocol.NodeInfo {
	return []protocol.NodeInfo{{ID: "laptop", Name: "laptop", Online: true, Local: true}, {ID: "nas", Name: "nas"}}
}

func consent() protocol.Question {
	return protocol.Question{ID: "c", Kind: protocol.AskApp, CreatedAt: atNoon(0), ExpiresAt: atNoon(5 * time.Minute), App: &protocol.AppSubject{
		Name: "Claude Code", ClientID: "https://claude.example/client.json", ClientHost: "claude.example", RedirectHost: "127.0.0.1", IsLocal: true, Code: "K7WQ",
		Scopes: []protocol.Scope{protocol.ScopeNetworkRead, protocol.ScopeFilesRead, protocol.ScopeShell},
	}}
}

func check(t *testing.T, o fyne.CanvasObject, text string) *widgets.CheckBox {
	t.Helper()
	found := widgettest.Find(o, func(c *widgets.Check) bool { return c.Label == text })
	if found == nil {
		t.Fatalf("no check box %q", text)
	}
	return found.Box
}

func atNoon(d time.Duration) int64 { return pagetest.Noon.Add(d).UnixMilli() }

func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}
