package approval

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// TestSessionGrantsAreExportedAndImported exports and imports: the same is allowed, and
// nothing else.
func TestSessionGrantsAreExportedAndImported(t *testing.T) {
	set := config.Default().ToolApproval
	set.DefaultDecision = "deny"
	a, b := rulesOf(t, set), rulesOf(t, set)
	run, odd, write := command("make test && ./deploy 'x {y'"), command("ls"), change("Write", "/srv/app/a b", false)
	odd.Args, odd.Preview = json.RawMessage(`{"command":"ls","timeout":5}`), &protocol.CallPreview{Folder: "/srv/{ {1} x", Shell: "/bin/bash"}
	all := []policy.Request{run, odd, write}
	for _, q := range all {
		match, words, ok := q.SessionMatch()
		if !ok {
			t.Fatalf("got %+v, want ok", q)
		}
		g := store.Grant{ID: protocol.NewID(), Session: q.Session, Node: q.Node, Tool: q.Bare, Match: match, Words: words, From: "q"}
		if err := a.grants.Put(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
	out, err := a.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []protocol.RulesImportResult{{Added: 3}, {Skipped: 3}} {
		res, err := b.Import(t.Context(), "ann", protocol.RulesImportParams(out))
		if err != nil || res.Added != want.Added || res.Skipped != want.Skipped || len(res.Problems) > 0 {
			t.Errorf("%+v %v, want %+v", res, err, want)
		}
	}
	were, err := a.grants.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	are, err := b.grants.List(t.Context(), "")
	if err != nil || len(are) != len(were) {
		t.Fatalf("got %+v %v; want no error and length %v", are, err, len(were))
	}
	for _, list := range [][]store.Grant{were, are} {
		for i := range list {
			list[i].ID, list[i].CreatedAt, list[i].From = "", 0, ""
		}
		// permissions with the same time have no order
		slices.SortFunc(list, func(a, b store.Grant) int { return strings.Compare(a.Match, b.Match) })
	}
	if !slices.Equal(are, were) {
		t.Errorf("they were %+v and are %+v", were, are)
	}
	list, err := b.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, rule := range list.Rules {
		words[rule.Words] = true
	}
	for _, want := range []string{"Allow exactly make test && ./deploy 'x {y' in /srv/app on n, in one chat", "Allow exactly ls in /srv/{ {1} x on n, in one chat", "Allow any write of /srv/app/a b on n, in one chat"} {
		if !words[want] {
			t.Errorf("%v lacks %s, want words[want]", words, want)
		}
	}
	file, problems, err := policy.Parse(out.File)
	if err != nil || len(problems) > 0 {
		t.Fatalf("got %v, %v; want no problems and no error", err, problems)
	}
	for _, q := range all {
		q.Grants = nil
		for _, g := range are {
			q.Grants = append(q.Grants, policy.SessionGrant{Node: g.Node, Tool: g.Tool, Match: g.Match})
		}
		if d := b.Evaluate(q); d.Verdict != policy.Allow {
			t.Errorf("%s: got %+v; want Verdict Allow", q.Args, d)
		}
		c := q.Call()
		if j := file.Decide(c); j.Verdict != policy.Allow {
			t.Errorf("%s by the file: got %+v, want it allowed", q.Args, j)
		}
	}
	for _, c := range []struct {
		of   policy.Request
		what string
		edit func(*policy.Call)
	}{
		{run, "another chat", func(c *policy.Call) { c.Session = "other" }},
		{run, "another machine", func(c *policy.Call) { c.Node = "m" }},
		{run, "another folder", func(c *policy.Call) { c.Cwd = "/srv" }},
		{run, "another command", func(c *policy.Call) { c.Command += " " }},
		{odd, "other arguments", func(c *policy.Call) { c.Args = json.RawMessage(`{"command":"ls","timeout":6}`) }},
		{write, "another file", func(c *policy.Call) { c.Paths = []string{"/srv/app/c"} }},
		{write, "another chat", func(c *policy.Call) { c.Session = "other" }},
		{write, "another tool", func(c *policy.Call) { c.Tool = "Edit" }},
	} {
		t.Run(c.what, func(t *testing.T) {
			call := c.of.Call()
			c.edit(&call)
			if file.Decide(call).Verdict == policy.Allow {
				t.Errorf("%s: %s is allowed", c.of.Args, c.what)
			}
		})
	}
	// A rule with an unknown condition would allow more without it.
	res, err := b.Import(t.Context(), "ann", protocol.RulesImportParams{File: json.RawMessage(
		`{"rules":[],"grants":[{"command":"rm x","cwd":"/srv/app","node":"n","session":"chat","shel":"zsh"},{"argv":["rm"],"cwd":"/srv/app","node":"n","session":"chat"}]}`,
	)})
	if now, err2 := b.grants.List(t.Context(), ""); err != nil || err2 != nil || len(now) != len(are) || len(res.Problems) != 2 {
		t.Errorf("got %+v %v %v; want no error, no err2, length %v and Problems of length 2", res, err, err2, len(are))
	}
	// A permission overrides neither a deny rule nor the floor.
	for rules, command := range map[string]string{`{"tool":"Bash","argv":["make","**"],"verdict":"deny"}`: "make; ls", `{"tool":"Bash","argv":["make"],"verdict":"ask"}`: "make; ls", ``: "sudo ls"} {
		s, _, err := policy.Parse([]byte(`{"rules":[` + rules + `],"grants":[{"command":"` + command + `","cwd":"/srv/app"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if j := s.Decide(policy.Call{Tool: "Bash", Cwd: "/srv/app", Command: command}); j.Verdict == policy.Allow {
			t.Errorf("%s allows %s, want Verdict other than Allow", rules, command)
		}
	}
}
