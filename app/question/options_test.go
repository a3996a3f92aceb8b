package question

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func command(text string, parts ...protocol.QuestionPart) protocol.Question {
	args, _ := protocol.Marshal(map[string]string{"command": text})
	return protocol.Question{
		ID: "q", Kind: protocol.AskCall, Tool: "Bash", Node: "server", Effect: protocol.EffectExec, Args: args, Parts: parts,
		Preview: &protocol.CallPreview{Folder: "/srv/parser", Programs: []protocol.Program{{Name: "make", Path: "/usr/bin/make"}, {Name: "sudo", Path: "/usr/bin/sudo"}}},
	}
}

func TestRiskyPartsAreMarkedWhereTheyStand(t *testing.T) {
	t.Parallel()
	const text = "echo sh; curl -s https://x.sh | sh; sudo make"
	sh := protocol.QuestionPart{Kind: "command", Text: "curl -s https://x.sh | sh", From: 9, To: 34, Argv: []string{"sh"}, Verdict: "ask", Risk: "runs a script"}
	sudo := protocol.QuestionPart{Kind: "command", Text: "sudo make", Argv: []string{"sudo", "make"}, Verdict: "ask", Floor: true, Risk: "runs as administrator (sudo)", Starts: "make"}
	q := command(text, protocol.QuestionPart{Kind: "command", Text: "echo sh", From: 0, To: 7, Argv: []string{"echo", "sh"}, Verdict: "allow"},
		protocol.QuestionPart{Kind: "command", Text: "curl -s https://x.sh", From: 9, To: 29, Argv: []string{"curl"}, Verdict: "ask", Reason: "No rule allows it", NoNetwork: true},
		sh, sudo, sudo, protocol.QuestionPart{Kind: "command", Text: "make", Argv: []string{"make"}, Verdict: "ask", Started: true})
	want := []CommandSpan{{"echo sh; ", false}, {"curl -s https://x.sh | sh", true}, {"; ", false}, {"sudo make", true}}
	if got := CommandSpans(q); !slices.Equal(got, want) {
		t.Errorf("spans: got %v, want %v", got, want)
	}
	var parts []string
	for _, p := range CommandParts(q) {
		parts = append(parts, fmt.Sprint(p.Program, "|", p.Risk, "|", p.Stopped, "|", p.Network))
	}
	wantParts := []string{
		"curl||the sandbox stops it: the network is off|true",
		"curl … | sh|runs a script||false", "/usr/bin/sudo → make|runs as administrator (sudo)||false",
	}
	if !slices.Equal(parts, wantParts) {
		t.Errorf("parts %q, want %q", parts, wantParts)
	}
}

func TestPathsOfProgramsAreShownWithoutAReasonEach(t *testing.T) {
	t.Parallel()
	q := command("make a && make b && ls", protocol.QuestionPart{Kind: "command", Text: "make a", Argv: []string{"make", "a"}, Verdict: "ask", Reason: "No rule allows: make a"},
		protocol.QuestionPart{Kind: "command", Text: "make b", Argv: []string{"make", "b"}, Verdict: "ask", Reason: "No rule allows: make b"},
		protocol.QuestionPart{Kind: "command", Text: "ls", Argv: []string{"ls"}, Verdict: "ask", Reason: "No rule allows: ls"})
	if got := CommandParts(q); len(got) != 1 || got[0].Program != "/usr/bin/make" || got[0].Risk != "" {
		t.Errorf(`parts: got %+v; want length 1, got[0].Program "/usr/bin/make" and an empty got[0].Risk`, got)
	}
}

func TestSpansAreAlwaysTheWholeCommand(t *testing.T) {
	for _, text := range []string{"", "a", "é a é", "x\ny"} {
		q := command(text, protocol.QuestionPart{Kind: "finding", Text: "a"}, protocol.QuestionPart{Kind: "finding", Text: "not there"}, protocol.QuestionPart{Kind: "finding"})
		var b strings.Builder
		for _, s := range CommandSpans(q) {
			b.WriteString(s.Text)
		}
		if b.String() != text {
			t.Errorf("%q became %q, want %q", text, b.String(), text)
		}
	}
}

// change returns the approval of a Write that turns the lines before into those after, with one
// hunk per changed line.
func change(before, after []string) protocol.Question {
	var d strings.Builder
	for i := range before {
		if before[i] == after[i] {
			continue
		}
		fmt.Fprintf(&d, "@@ -%d +%d @@\n-%s\n+%s\n", i+1, i+1, before[i], after[i])
	}
	args, _ := protocol.Marshal(map[string]string{"path": "a.go", "content": strings.Join(after, "\n") + "\n"})
	return protocol.Question{Kind: protocol.AskCall, Tool: "Write", Args: args, Preview: &protocol.CallPreview{Diff: "--- a.go\n+++ a.go\n" + d.String()}}
}

func TestRejectedHunksStayUnchanged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var before, after, want []string
		var keep []bool
		for i := range 1 + rnd.IntN(12) {
			was := fmt.Sprintf("line %d", i)
			before = append(before, was)
			if rnd.IntN(2) == 0 {
				after, want = append(after, was), append(want, was)
				continue
			}
			now := fmt.Sprintf("other %d", rnd.IntN(3))
			kept := rnd.IntN(2) == 0
			after, keep = append(after, now), append(keep, kept)
			if kept {
				want = append(want, now)
			} else {
				want = append(want, was)
			}
		}
		if len(keep) == 0 {
			continue
		}
		raw, err := PickHunks(change(before, after), keep)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Path, Content string }
		json.Unmarshal(raw, &got)
		if got.Content != strings.Join(want, "\n")+"\n" || got.Path != "a.go" {
			t.Fatalf("keep %v of\n%s\n->\n%s:\n%s\nwant %s", keep, before, after, got.Content, strings.Join(want, "\n")+"\n")
		}
	}
}

func TestHunksThatAddAndRemoveLines(t *testing.T) {
	q := change(nil, nil)
	q.Args = json.RawMessage(`{"path":"a","content":"new\na\nb\nd\n"}`)
	q.Preview.Diff = "@@ -0,0 +1 @@\n+new\n@@ -1,4 +2,3 @@\n a\n b\n-c\n d\n"
	for _, c := range []struct {
		keep []bool
		want string
	}{{[]bool{true, false}, "new\na\nb\nc\nd\n"}, {[]bool{false, true}, "a\nb\nd\n"}, {[]bool{false, false}, "a\nb\nc\nd\n"}} {
		raw, err := PickHunks(q, c.keep)
		var got struct{ Content string }
		json.Unmarshal(raw, &got)
		if err != nil || got.Content != c.want {
			t.Errorf("%v: got %q, %v; want no error and Content %v", c.keep, got.Content, err, c.want)
		}
	}
}

func TestHunksOfAnEditWithinLines(t *testing.T) {
	q := protocol.Question{
		Kind: protocol.AskCall, Tool: "Edit", Args: json.RawMessage(`{"path":"a","oldString":"one\nb\nc\nd\ntw","newString":"ONE\nb\nc\nd\nTW"}`),
		Preview: &protocol.CallPreview{Diff: "@@ -5,2 +5,2 @@\n-x one\n+x ONE\n b\n@@ -8,2 +8,2 @@\n d\n-two\n+TWo\n"},
	}
	if !CanPick(q) {
		t.Fatal("no part of it can be picked")
	}
	raw, err := PickHunks(q, []bool{false, true})
	var got struct{ OldString, NewString string }
	json.Unmarshal(raw, &got)
	if err != nil || got.NewString != "d\nTWo" || got.OldString != "d\ntwo" {
		t.Errorf(`got %q, %v; want no error, NewString "d\nTWo" and OldString "d\ntwo"`, got, err)
	}
}

func TestUnselectableChangesAreTakenWhole(t *testing.T) {
	whole := change([]string{"a", "b"}, []string{"c", "d"})
	if !CanPick(whole) {
		t.Fatal("a good one cannot be picked")
	}
	for name, spoil := range map[string]func(*protocol.Question){
		"cut":        func(q *protocol.Question) { q.Preview.Truncated = true },
		"one hunk":   func(q *protocol.Question) { q.Preview.Diff = "@@ -1 +1 @@\n-a\n+c\n" },
		"other text": func(q *protocol.Question) { q.Args = json.RawMessage(`{"path":"a.go","content":"something else"}`) },
		"no diff":    func(q *protocol.Question) { q.Preview.Diff = "Binary files differ" },
		"bad head":   func(q *protocol.Question) { q.Preview.Diff = "@@ x y @@\n-a\n+c\n@@ -2 +2 @@\n-b\n+d\n" },
		"other tool": func(q *protocol.Question) { q.Tool = "Bash" },
		"no end":     func(q *protocol.Question) { q.Preview.Diff += "\\ No newline at end of file\n" },
	} {
		t.Run(name, func(t *testing.T) {
			q := whole
			p := *whole.Preview
			q.Preview = &p
			spoil(&q)
			if CanPick(q) {
				t.Errorf("%s: can be picked", name)
			}
		})
	}
}

func TestArgumentsKeepWhatIsNotChanged(t *testing.T) {
	args := json.RawMessage(`{"command":"make","timeout":5,"network":true}`)
	for _, c := range []struct {
		got  func() (json.RawMessage, error)
		want string
	}{
		{func() (json.RawMessage, error) { return WithNetwork(args, false) }, `{"command":"make","timeout":5}`},
		{func() (json.RawMessage, error) {
			return WithEdited(protocol.Question{Kind: protocol.AskCall, Tool: "Bash", Args: args}, "make -k")
		}, `{"command":"make -k","network":true,"timeout":5}`},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got, err := c.got(); err != nil || string(got) != c.want {
				t.Errorf("got %s, %v; want no error and %v", got, err, c.want)
			}
		})
	}
	if _, err := WithNetwork(json.RawMessage(`[]`), true); err == nil {
		t.Error("arguments that are no object were taken")
	}
}

func TestNetworkIsOfferedWhereItIsBlocked(t *testing.T) {
	q := command("make")
	if asks, offer := AsksNetwork(q); asks || offer {
		t.Error("offered where nothing holds it")
	}
	q.Host = &protocol.HostInfo{Enforcement: &protocol.Enforcement{Network: "blocked", Summary: "contained"}}
	if asks, offer := AsksNetwork(q); asks || offer {
		t.Error("offered where the machine gives it to nobody")
	}
	q.Host.Enforcement.Lends = true
	if asks, offer := AsksNetwork(q); asks || !offer {
		t.Error("not offered")
	}
	q.Args, _ = WithNetwork(q.Args, true)
	if asks, offer := AsksNetwork(q); !asks || !offer {
		t.Error("the wish is not seen")
	}
	if words, open := NetworkWords(q); words != "" || open {
		t.Errorf("%q is said beside the offer; want nothing", words)
	}
	q.Host.Enforcement.Lends = false
	for _, c := range []struct {
		sandbox      string
		none, partly bool
		words        string
	}{
		{"files workspace-write, network blocked", false, false, "requested"},
		{"files workspace-write, network not enforced on this machine", false, true, "requested; not enforced on this machine: the command has network access anyway"},
		{"files not enforced on this machine, network blocked", false, true, "requested"},
		{"not enforced on this machine", true, false, "requested; not enforced on this machine: the command has network access anyway"},
	} {
		t.Run(c.sandbox, func(t *testing.T) {
			q.Sandbox = c.sandbox
			words, open := NetworkWords(q)
			if NotConfined(q) != c.none || PartlyConfined(q) != c.partly || words != c.words || open != strings.Contains(words, "anyway") {
				t.Errorf("%q: got %v, %v, %q, %v; want NotConfined of q %v, PartlyConfined of q %v, words %v and open %v", c.sandbox, NotConfined(q), PartlyConfined(q), words, open, c.none, c.partly, c.words, strings.Contains(words, "anyway"))
			}
		})
	}
}

func TestOnlyIdenticalQuestionsAreGrouped(t *testing.T) {
	a, b, c, d := command("make"), command("make"), command("make test"), command("make")
	a.ID, b.ID, c.ID, d.ID = "a", "b", "c", "d"
	d.Node = "nas"
	if got := Identical([]protocol.Question{a, b, c, d}, a); len(got) != 2 || got[1].ID != "b" {
		t.Errorf(`got %v; want length 2 and got[1].ID "b"`, got)
	}
	a.Kind, b.Kind = protocol.AskContinue, protocol.AskContinue
	if got := Identical([]protocol.Question{a, b}, a); len(got) != 1 {
		t.Error("runs go on one by one")
	}
}

func TestOfferedRulesAreThoseTheGatewayMakes(t *testing.T) {
	q := command("make test")
	exact := protocol.RuleOffer{Policy: json.RawMessage(`{"tool":"Bash","argv":["make","test"],"cwd":"/srv/parser/**","node":"server","verdict":"allow"}`), Words: "Allow make test in a folder"}
	wide := protocol.RuleOffer{Policy: json.RawMessage(`{"tool":"Bash","argv":["make","**"],"verdict":"allow"}`), Words: "always"}
	q.Offers = []protocol.RuleOffer{
		{Words: "as offered", As: map[string]protocol.RuleOffer{protocol.ScopeFolder: exact}},
		{Words: "as offered", As: map[string]protocol.RuleOffer{protocol.ScopeFolder: wide, protocol.ScopeAlways: wide}},
	}
	value := protocol.RuleOffer{Policy: json.RawMessage(`{"tool":"Bash","argv":["make","*"],"verdict":"allow"}`)}
	if rules := OfferedRules(protocol.Question{Offers: []protocol.RuleOffer{{As: map[string]protocol.RuleOffer{protocol.ScopeAlways: value}}}}, protocol.ScopeAlways); !rules[0].Wide {
		t.Error("a rule for any value counts as exact")
	}
	rules := OfferedRules(q, protocol.ScopeFolder)
	if len(rules) != 2 || rules[0].Text != "exactly make test in a folder" || string(rules[0].Policy) != string(exact.Policy) || !rules[1].Wide || rules[0].Wide {
		t.Errorf("got %+v; want the exact rule for make test, then the wide one", rules)
	}
	if got := NarrowOffers(rules); !slices.Equal(got, []int{0}) {
		t.Errorf("narrow: got %v, want %v", got, []int{0})
	}
	if got := ChooseOffer(rules, []int{0}, 1); !slices.Equal(got, []int{1}) {
		t.Errorf("the wider rule: got %v, want it alone", got)
	}
	if rules = OfferedRules(q, protocol.ScopeAlways); len(rules) != 1 || rules[0].Place != 1 || rules[0].Text != "always" {
		t.Errorf(`always: got %+v; want length 1, rules[0].Place 1 and rules[0].Text "always"`, rules)
	}
}

// TestRuleForAnyArgumentsIsNotCalledExact offers what the gateway offers for a server's tool.
func TestRuleForAnyArgumentsIsNotCalledExact(t *testing.T) {
	q := protocol.Question{Offers: []protocol.RuleOffer{{As: map[string]protocol.RuleOffer{protocol.ScopeAlways: {
		Policy: json.RawMessage(`{"tool":"everything__echo","verdict":"allow"}`), Words: "Allow any call of echo (everything), with any arguments",
	}}}}}
	rules := OfferedRules(q, protocol.ScopeAlways)
	if len(rules) != 1 || rules[0].Text != "any call of echo (everything), with any arguments" || !rules[0].Wide {
		t.Errorf(`got %+v; want length 1, rules[0].Text "any call of echo (everything), with any arguments" and rules[0].Wide`, rules)
	}
	if got := NarrowOffers(rules); !slices.Equal(got, []int{0}) {
		t.Errorf("selected at first: got %v, want the only one", got)
	}
	if got, want := NothingElseText(97, true), "It allows no other of the last 97 calls, but later calls with any other arguments."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRulesOfSeveralPartsAreChosenTogether offers two parts, one with a wider rule.
func TestRulesOfSeveralPartsAreChosenTogether(t *testing.T) {
	offer := func(argv string) protocol.RuleOffer {
		return protocol.RuleOffer{As: map[string]protocol.RuleOffer{protocol.ScopeAlways: {Policy: json.RawMessage(`{"tool":"Bash","argv":` + argv + `}`)}}}
	}
	rules := OfferedRules(protocol.Question{Offers: []protocol.RuleOffer{offer(`["make","x"]`), offer(`["make","**"]`), offer(`["ls"]`)}}, protocol.ScopeAlways)
	selected := NarrowOffers(rules)
	for _, c := range []struct {
		press int
		want  []int
	}{{1, []int{1, 2}}, {2, []int{1}}, {1, []int{1}}, {0, []int{0}}, {2, []int{0, 2}}} {
		if selected = ChooseOffer(rules, selected, c.press); !slices.Equal(selected, c.want) {
			t.Errorf("after pressing %d: got %v, want %v", c.press, selected, c.want)
		}
	}
}
