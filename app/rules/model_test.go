package rules

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/gateway/protocol"
)

func TestFieldsKeepTheRule(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]string{
		"command":         `{"argv":["git","push","*","x*","**"],"tool":"Bash","verdict":"allow"}`,
		"any command":     `{"tool":"Bash","verdict":"deny"}`,
		"files":           `{"path":"docs/**","tool":"Write","verdict":"ask"}`,
		"folder":          `{"argv":["make"],"cwd":"/srv/app","tool":"Bash","verdict":"allow"}`,
		"folder and more": `{"argv":["make"],"cwd":"/srv/app/**","tool":"Bash","verdict":"allow"}`,
		"everywhere":      `{"argv":["make"],"cwd":"/**","tool":"Bash","verdict":"allow"}`,
		"the rest":        `{"argv":["make"],"expires":"2026-03-28T12:00:00Z","match":["make"],"node":"n","notMatch":["make x"],"reason":"why","session":"s","tool":"Bash","verdict":"allow"}`,
		"other tool":      `{"tool":"tower__Transfer","verdict":"deny"}`,
	} {
		t.Run(name, func(t *testing.T) {
			f, err := parseFields(json.RawMessage(policy))
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Apply(json.RawMessage(policy))
			if err != nil || string(got) != policy {
				t.Errorf("got  %s (%v)\nwant %s", got, err, policy)
			}
		})
	}
}

func TestFieldsRefuseWhatTheyCannotShow(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]string{
		"conditions":        `{"tool":"Bash","when":[{"path":"command","op":"contains","value":"x"}],"verdict":"allow"}`,
		"agent":             `{"tool":"Bash","agent":"a","verdict":"allow"}`,
		"literal star":      `{"tool":"Bash","argv":["ls","\\*"],"verdict":"allow"}`,
		"words of any tool": `{"tool":"*","argv":["ls"],"verdict":"deny"}`,
		"files of a shell":  `{"tool":"Bash","path":"a","verdict":"deny"}`,
		"setting of GSV":    `{"tool":"Bash","decision":"deny"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseFields(json.RawMessage(policy)); !errors.Is(err, errOnlyJSON) {
				t.Errorf("got %v, want %v", err, errOnlyJSON)
			}
		})
	}
	for _, policy := range []string{`{`, `[]`, `{"argv":1}`} {
		if _, err := parseFields(json.RawMessage(policy)); err == nil || errors.Is(err, errOnlyJSON) {
			t.Errorf("%s: got %v, want a syntax error", policy, err)
		}
	}
}

func TestCommandBecomesWords(t *testing.T) {
	t.Parallel()
	var f Fields
	for _, step := range []struct {
		text string
		want []string // labels
		back string   // the command again; empty: as text
	}{
		{"git push origin main", []string{"git", "push", "origin", "main"}, ""},
		{"echo 'a b' \"c\" '$HOME'", []string{"echo", "a b", "c", "$HOME"}, "echo 'a b' c '$HOME'"},
		{"make * test*", []string{"make", "any value", "test*"}, ""},
		{"", nil, ""},
	} {
		if err := f.SetCommand(step.text); err != nil {
			t.Fatalf("%s: %v", step.text, err)
		}
		if got := lists.Map(f.Words, Word.Label); !slices.Equal(got, step.want) {
			t.Errorf("%s: got %q, want %q", step.text, got, step.want)
		}
		want := step.back
		if want == "" {
			want = step.text
		}
		if got := f.Command(); got != want {
			t.Errorf("%s: got %q back, want %q", step.text, got, want)
		}
	}
}

func TestUnchangedWordKeepsItsAnyValue(t *testing.T) {
	t.Parallel()
	f := Fields{Words: []Word{{Text: "git"}, {Text: "push", Any: true}, {Text: "origin", Any: true}}}
	if err := f.SetCommand("git push other **"); err != nil {
		t.Fatal(err)
	}
	want := []Word{{Text: "git"}, {Text: "push", Any: true}, {Text: "other"}}
	if !slices.Equal(f.Words, want) || !f.Further {
		t.Errorf("got %+v, further %v, want %+v, further true", f.Words, f.Further, want)
	}
}

func TestUnclearCommandIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"git 'push", "a; b", "a | b", "a > b", "a &&", "rm $HOME", "rm $(x)", "rm 'a' $HOME"} {
		f := Fields{Words: []Word{{Text: "make"}}}
		if err := f.SetCommand(text); err == nil || len(f.Words) != 1 || f.Words[0].Text != "make" {
			t.Errorf("%s: got %v and %+v, want an error and no change", text, err, f.Words)
		}
	}
}

func TestVerdictOfRules(t *testing.T) {
	t.Parallel()
	verdict, expires := verdictOf(json.RawMessage(`{"verdict":"ask","expires":"2020-01-01T00:00:00Z"}`))
	if want := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC); verdict != "ask" || !expires.Equal(want) {
		t.Errorf("got %s until %v, want ask until %v", verdict, expires, want)
	}
	if verdict, expires = verdictOf(json.RawMessage(`{"decision":"deny"}`)); verdict != "deny" || !expires.IsZero() {
		t.Errorf("got %s until %v, want deny without an end", verdict, expires)
	}
}

func TestDefaultNamesMachinesThatStillAsk(t *testing.T) {
	t.Parallel()
	machine := func(isProtected bool) []protocol.NodeInfo {
		checks := []protocol.EnforcedCheck{{ID: protocol.ProtectedCheck, Enforced: isProtected, Why: "no mount name spaces"}}
		return []protocol.NodeInfo{{ID: "pi", Online: true, Host: &protocol.HostInfo{Enforcement: &protocol.Enforcement{Checks: checks}}}}
	}
	const always = "Reading in the workspace is allowed. Everything else is, too."
	for name, c := range map[string]struct {
		nodes []protocol.NodeInfo
		want  string
	}{
		"no machine": {nil, always}, "protected": {machine(true), always},
		"not protected": {machine(false), always + " Unknown commands still ask where nothing protects start-up files: pi (no mount name spaces)"},
	} {
		if got := defaultText("allow", false, c.nodes); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestOutcomeSaysWhatChanges(t *testing.T) {
	t.Parallel()
	call := protocol.JournalEntry{Tool: "Bash", Node: "n", Input: json.RawMessage(`{"command":"make"}`)}
	for want, r := range map[string]protocol.RuleTryResult{
		question.NoCallsText: {},
		"Checked against the last 3 calls: it changes no decision.":                            {Looked: 3},
		"Checked against the last 3 calls: it changes 2 decisions, such as from ask to allow.": {Looked: 3, Changed: []protocol.RuleChange{{Was: "ask", Now: "allow"}, {}}, Matched: []protocol.JournalEntry{call}},
	} {
		p := outcomeOf(feed.View{}, r)
		if p.Summary != want || len(p.Covers) != len(r.Matched) {
			t.Errorf("got %q with %q, want %q", p.Summary, p.Covers, want)
		}
	}
}
