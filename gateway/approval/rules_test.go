package approval

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func command(text string) policy.Request {
	args, _ := json.Marshal(map[string]string{"command": text})
	return policy.Request{
		Tool: "n__Bash", Node: "n", Bare: "Bash", Effect: protocol.EffectExec, Args: args, Session: "chat",
		Host: &protocol.HostInfo{Workspace: "/srv/app", Enforcement: protecting}, Preview: &protocol.CallPreview{Folder: "/srv/app", Shell: "/bin/bash"},
	}
}

// protecting is the report of a machine that protects start-up files and nothing else.
var protecting = &protocol.Enforcement{Checks: []protocol.EnforcedCheck{{ID: protocol.ProtectedCheck, Enforced: true}}}

func change(tool, path string, outside bool) policy.Request {
	return policy.Request{
		Tool: protocol.ToolName("n__" + tool), Node: "n", Bare: tool, Effect: protocol.EffectWrite, Args: json.RawMessage(`{}`), Session: "chat",
		Host: &protocol.HostInfo{Workspace: "/srv/app"}, Preview: &protocol.CallPreview{Path: path, Outside: outside},
	}
}

func put(t *testing.T, r *Rules, policy string) protocol.Rule {
	t.Helper()
	rule, err := r.Put(t.Context(), "ann", protocol.RulePutParams{Policy: json.RawMessage(policy)})
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

func TestRulesDecideByTheStrictestPart(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	put(t, r, `{"tool":"Bash","argv":["make","test"],"verdict":"allow"}`)
	deny := put(t, r, `{"tool":"Bash","argv":["shutdown","**"],"verdict":"deny","reason":"not while I work"}`)
	for text, want := range map[string]policy.Verdict{
		"make test": policy.Allow, "make install": policy.Ask, "make test; make install": policy.Ask, "make test && make test": policy.Allow,
		"shutdown now": policy.Deny, "make test; sudo shutdown -h now": policy.Deny, "make test $(date)": policy.Ask, "make test\\\n": policy.Ask, "make 'test": policy.Ask,
	} {
		if d := r.Decide(t.Context(), command(text)); d.Verdict != want || d.Reason == "" {
			t.Errorf("%q: %+v, want %s", text, d, want)
		}
	}
	if d := r.Decide(t.Context(), command("shutdown now")); d.Rule != deny.ID || d.Reason != "not while I work" {
		t.Errorf(`got %+v; want d.Rule %v and d.Reason "not while I work"`, d, deny.ID)
	}
	own := command("shutdown now")
	own.Direct = true
	if d := r.Decide(t.Context(), own); d.Verdict != policy.Deny {
		t.Errorf("the person's own act passed a deny rule: %+v", d)
	}
	own = command("make install")
	own.Direct = true
	if d := r.Decide(t.Context(), own); d.Verdict != policy.Allow {
		t.Errorf("the person's own act was asked about: %+v", d)
	}
}

func TestRulesAboutTheHomeFolderMeanThatOfTheMachine(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	put(t, r, `{"tool":"Write","path":"~/.config/**","verdict":"allow"}`)
	deny := put(t, r, `{"tool":"Write","path":"~/.config/keys/**","verdict":"deny"}`)
	for path, want := range map[string]policy.Verdict{
		"/home/ann/.config/app.toml": policy.Allow, "/home/ann/.config/keys/a": policy.Deny, "/home/bob/.config/app.toml": policy.Ask,
	} {
		t.Run(path, func(t *testing.T) {
			q := change("Write", path, true)
			q.Host.Home = "/home/ann"
			if d := r.Decide(t.Context(), q); d.Verdict != want || want == policy.Deny && d.Rule != deny.ID {
				t.Errorf("%s: %+v, want %s", path, d, want)
			}
		})
	}
}

func TestUseOfARuleIsCounted(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	rule := put(t, r, `{"tool":"Bash","argv":["make"],"verdict":"allow"}`)
	for range 3 {
		r.Decide(t.Context(), command("make"))
	}
	r.Decide(t.Context(), command("ls"))
	again, err := OpenRules(t.Context(), r.store, r.grants, RulesOptions{Config: r.config})
	if err != nil {
		t.Fatal(err)
	}
	for _, have := range []*Rules{r, again} {
		if list := have.List().Rules; len(list) != 1 || list[0].ID != rule.ID || list[0].Hits != 3 || list[0].LastUsed == 0 {
			t.Errorf("got %+v; want length 1, list[0].ID %v, list[0].Hits 3 and list[0].LastUsed other than 0", list, rule.ID)
		}
	}
}

func TestUseOfEachRuleOfACommandIsCounted(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	made := put(t, r, `{"tool":"Bash","argv":["make"],"verdict":"allow"}`)
	checked := put(t, r, `{"tool":"Bash","argv":["git","status"],"verdict":"allow"}`)
	if d := r.Decide(t.Context(), command("make && git status && make")); d.Verdict != policy.Allow {
		t.Fatalf("got %+v, want it allowed", d)
	}
	r.Decide(t.Context(), command("make && git push")) // asks: no rule decided
	for _, rule := range r.List().Rules {
		if rule.Hits != 1 || rule.LastUsed == 0 || rule.ID != made.ID && rule.ID != checked.ID {
			t.Errorf("%s: got %d uses, want 1", rule.Words, rule.Hits)
		}
	}
}

func TestModesLoosenAndTightenWhatNoRuleSays(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	put(t, r, `{"tool":"Bash","argv":["curl","**"],"verdict":"deny"}`)
	soon := time.Now().Add(time.Hour).UnixMilli()
	read := policy.Request{Tool: "n__Read", Node: "n", Bare: "Read", Effect: protocol.EffectRead, Args: json.RawMessage(`{}`), Preview: &protocol.CallPreview{Path: "/srv/app/a"}}
	own := change("WriteFile", "SOUL.md", false)
	own.Tool, own.Node = "gsv__WriteFile", protocol.NativePrefix
	for _, c := range []struct {
		mode protocol.ApprovalMode
		q    policy.Request
		want policy.Verdict
	}{
		{protocol.ApprovalMode{}, change("Write", "/srv/app/a", false), policy.Ask},
		{protocol.ApprovalMode{Mode: protocol.ModeAcceptEdits}, change("Write", "/srv/app/a", false), policy.Allow},
		{protocol.ApprovalMode{Mode: protocol.ModeAcceptEdits}, change("Edit", "/srv/app/sub/a", false), policy.Allow},
		{protocol.ApprovalMode{Mode: protocol.ModeAcceptEdits}, change("Write", "/etc/passwd", true), policy.Ask},
		{protocol.ApprovalMode{Mode: protocol.ModeAcceptEdits}, change("Write", "/srv/app/.git/hooks/pre-commit", false), policy.Ask}, // the floor
		{protocol.ApprovalMode{Mode: protocol.ModeAcceptEdits}, own, policy.Ask},
		{protocol.ApprovalMode{Mode: protocol.ModeAcceptEdits}, command("make"), policy.Ask},
		{protocol.ApprovalMode{Mode: protocol.ModeReadOnly}, command("make"), policy.Deny},
		{protocol.ApprovalMode{Mode: protocol.ModeReadOnly}, change("Write", "/srv/app/a", false), policy.Deny},
		{protocol.ApprovalMode{Mode: protocol.ModeReadOnly}, read, policy.Allow},
		{protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: soon}, command("make"), policy.Allow},
		{protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: soon}, command("curl example.org"), policy.Deny},
		{protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: soon}, command("sudo make"), policy.Ask}, // the floor
		{protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: 1}, command("make"), policy.Ask},
		{protocol.ApprovalMode{Mode: protocol.ModePaused}, read, policy.Ask},
		{protocol.ApprovalMode{}, read, policy.Allow},
	} {
		c.q.Mode = c.mode
		if d := r.Decide(t.Context(), c.q); d.Verdict != c.want {
			t.Errorf("%+v %s %s: %+v, want %s", c.mode, c.q.Bare, c.q.Args, d, c.want)
		}
	}
}

func TestTrustInAChatIsForWhatThePersonWritesThere(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	put(t, r, `{"tool":"Bash","argv":["make"],"verdict":"allow"}`)
	trust := protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
	edits := protocol.ApprovalMode{Mode: protocol.ModeAcceptEdits}
	for kind, want := range map[string]policy.Verdict{
		"chat": policy.Allow, "": policy.Allow, protocol.AskedByChannel: policy.Ask, protocol.AskedBySchedule: policy.Ask, protocol.AskedByAgent: policy.Ask,
	} {
		for mode, q := range map[*protocol.ApprovalMode]policy.Request{&trust: command("ls"), &edits: change("Write", "/srv/app/a", false)} {
			q.Mode, q.By.Kind = *mode, kind
			if d := r.Decide(t.Context(), q); d.Verdict != want || d.Reason == "" {
				t.Errorf("%s by %q: %+v, want %s", mode.Mode, kind, d, want)
			}
		}
		ruled := command("make") // the person's rules apply to everybody
		ruled.Mode, ruled.By.Kind = trust, kind
		if d := r.Decide(t.Context(), ruled); d.Verdict != policy.Allow {
			t.Errorf("what a rule allows, by %q: %+v", kind, d)
		}
		read := command("ls")
		read.Mode, read.By.Kind = protocol.ApprovalMode{Mode: protocol.ModeReadOnly}, kind
		if d := r.Decide(t.Context(), read); d.Verdict != policy.Deny {
			t.Errorf("read-only, by %q: %+v", kind, d)
		}
	}
}

func TestNetworkForACommandIsAlwaysAskedAbout(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	put(t, r, `{"tool":"Bash","argv":["make"],"verdict":"allow"}`)
	q := command("make")
	q.Preview.Network = true
	q.Mode = protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
	if d := r.Decide(t.Context(), q); d.Verdict != policy.Ask || !strings.Contains(d.Reason, "network") {
		t.Errorf(`got %+v; want Verdict Ask and "network" in Reason`, d)
	}
}

func TestFloorHoldsAgainstEveryAllow(t *testing.T) {
	cfg := config.Default().ToolApproval
	cfg.DefaultDecision, cfg.Rules = "allow", []config.ToolRule{{ID: "all", Tool: "*", Decision: "allow"}}
	r := rulesOf(t, cfg)
	put(t, r, `{"tool":"Bash","argv":["rm","**"],"verdict":"allow"}`)
	q := command("rm -rf /")
	q.Mode = protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
	if d := r.Decide(t.Context(), q); d.Verdict != policy.Ask || !d.Floor || len(d.Offers) != 0 {
		t.Errorf("got %+v; want Verdict Ask, Floor and no Offers", d)
	}
}

func TestRuleThatFailsItsExampleIsOffAndTheOthersHold(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	put(t, r, `{"tool":"Bash","argv":["make"],"verdict":"allow"}`)
	if _, err := r.Put(t.Context(), "ann", protocol.RulePutParams{Policy: json.RawMessage(`{"tool":"Bash","argv":["ls"],"verdict":"allow","match":["rm"]}`)}); err == nil {
		t.Error("a rule that fails its own example was taken")
	}
	// A rule that an older version wrote.
	broken := protocol.Rule{ID: "old", Policy: json.RawMessage(`{"tool":"Bash","argv":["ls"],"verdict":"allow","match":["rm"]}`), CreatedAt: 1}
	unreadable := protocol.Rule{ID: "odd", Policy: json.RawMessage(`{"tool":7,"verdict":"allow"}`), CreatedAt: 2}
	if err := r.store.Put(t.Context(), store.RuleChange{Rules: []protocol.Rule{broken, unreadable}}); err != nil {
		t.Fatal(err)
	}
	again, err := OpenRules(t.Context(), r.store, r.grants, RulesOptions{Config: r.config})
	if err != nil {
		t.Fatal(err)
	}
	off := 0
	for _, rule := range again.List().Rules {
		if rule.Problem != "" {
			off++
		}
	}
	if off != 2 || again.Decide(t.Context(), command("make")).Verdict != policy.Allow || again.Decide(t.Context(), command("ls")).Verdict != policy.Ask {
		t.Errorf("got %d rules off: %+v; want 2, make allowed and ls asked about", off, again.List().Rules)
	}
}

// TestADamagedDenyRuleMakesEveryCallAsk: it is unknown what the rule would
// have denied, so every call with an effect needs an approval.
func TestADamagedDenyRuleMakesEveryCallAsk(t *testing.T) {
	for name, text := range map[string]string{
		"unreadable":         `{"tool":7,"argv":["rm","**"],"verdict":"deny"}`,
		"without a verdict":  `{"tool":"Bash","argv":["rm","**"]}`,
		"nothing like it":    `[]`,
		"a failing example":  `{"tool":"Bash","argv":["rm","**"],"verdict":"deny","match":["ls"]}`,
		"a verdict of later": `{"tool":"Bash","argv":["rm","**"],"verdict":"later"}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := rulesOf(t, config.Default().ToolApproval)
			put(t, r, `{"tool":"Bash","argv":["make"],"verdict":"allow"}`)
			if err := r.store.Put(t.Context(), store.RuleChange{Rules: []protocol.Rule{{ID: "odd", Policy: json.RawMessage(text), CreatedAt: 2}}}); err != nil {
				t.Fatal(err)
			}
			again, err := OpenRules(t.Context(), r.store, r.grants, RulesOptions{Config: r.config})
			if err != nil {
				t.Fatal(err)
			}
			edit, trusted := change("Write", "/srv/app/a.go", false), command("ls")
			edit.Mode.Mode = protocol.ModeAcceptEdits
			trusted.Mode = protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
			for what, q := range map[string]policy.Request{"an allow": command("make"), "accepted edits": edit, "trust": trusted} {
				if d := again.Decide(t.Context(), q); d.Verdict != policy.Ask || d.Reason == "" {
					t.Errorf("%s, %s: got %+v; want Verdict Ask and some Reason", name, what, d)
				}
			}
			own := command("make")
			own.Direct = true
			if d := again.Decide(t.Context(), own); d.Verdict != policy.Allow {
				t.Errorf("%s: what the person does: got %+v, want it allowed", name, d)
			}
		})
	}
}

// TestWithoutRulesNothingIsAllowed: rules that were never loaded ask.
func TestWithoutRulesNothingIsAllowed(t *testing.T) {
	var none *policy.Set
	for _, c := range []policy.Call{{Tool: "Bash", Cwd: "/srv/app", Command: "ls"}, {Tool: "Read", Paths: []string{"/srv/app/a"}}, {}} {
		if j := none.Decide(c); j.Verdict != policy.Ask || j.Reason == "" || len(j.Parts) == 0 {
			t.Errorf("%+v: got %+v; want Verdict Ask, some Reason and some Parts", c, j)
		}
	}
}

func TestDeletedRuleComesBack(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	rule := put(t, r, `{"tool":"Bash","argv":["make"],"verdict":"allow"}`)
	if err := r.Delete(t.Context(), "ann", rule.ID); err != nil || r.Decide(t.Context(), command("make")).Verdict != policy.Ask || len(r.List().Rules) != 0 {
		t.Errorf(`got %v %+v; want no error, verdict ask for "make" and no rules`, err, r.List())
	}
	if err := r.Delete(t.Context(), "ann", rule.ID); err == nil {
		t.Error("deleted twice")
	}
	if err := r.Restore(t.Context(), "ann", rule.ID); err != nil || r.Decide(t.Context(), command("make")).Verdict != policy.Allow {
		t.Errorf(`got %v %+v; want no error and verdict allow for "make"`, err, r.List())
	}
}

func TestExportedRulesAreImportedOnce(t *testing.T) {
	a, b := rulesOf(t, config.Default().ToolApproval), rulesOf(t, config.Default().ToolApproval)
	put(t, a, `{"tool":"Bash","argv":["make"],"verdict":"allow"}`)
	put(t, a, `{"tool":"Write","path":"docs/**","verdict":"allow"}`)
	out, err := a.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []protocol.RulesImportResult{{Added: 2}, {Skipped: 2}} {
		res, err := b.Import(t.Context(), "ann", protocol.RulesImportParams(out))
		if err != nil || res.Added != want.Added || res.Skipped != want.Skipped {
			t.Errorf("%+v %v, want %+v", res, err, want)
		}
	}
	var file policy.File
	if err := json.Unmarshal(out.File, &file); err != nil || file.Default != policy.Ask || len(file.Rules) != 2 || file.Grants != nil {
		t.Errorf("got %s %v; want no error, Default Ask, Rules of length 2 and no Grants", out.File, err)
	}
	if b.Decide(t.Context(), command("make")).Verdict != policy.Allow || b.Decide(t.Context(), change("Write", "/srv/app/docs/a.md", false)).Verdict != policy.Allow {
		t.Errorf("got %+v; want rules that allow make and the change", b.List())
	}
}

// TestAMisspeltConditionNeverMakesAWiderRule: if an unknown field were ignored, a rule would apply
// to more calls than intended.
func TestAMisspeltConditionNeverMakesAWiderRule(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	const misspelt = `{"tool":"Bash","argv":["make","**"],"cdw":"/srv/other","verdict":"allow"}`
	if _, err := r.Put(t.Context(), "ann", protocol.RulePutParams{Policy: json.RawMessage(misspelt)}); err == nil || !strings.Contains(err.Error(), `"cdw" (did you mean "cwd"?)`) {
		t.Errorf("it was taken: %v", err)
	}
	if _, err := r.Try(nil, anyHost, protocol.RuleTryParams{Policy: json.RawMessage(misspelt)}); err == nil {
		t.Error("it was tried")
	}
	file := `{"default":"allow","rules":[` + misspelt + `,{"tool":"Bash","argv":["ls"],"verdict":"allow","note":"mine"}],"grants":[{"argv":["make"],"cwd":"/srv/app"}]}`
	res, err := r.Import(t.Context(), "ann", protocol.RulesImportParams{File: json.RawMessage(file)})
	all := strings.Join(res.Problems, "\n")
	if err != nil || res.Added != 1 || !strings.Contains(all, `"cdw"`) || !strings.Contains(all, "default (allow) was not imported") || !strings.Contains(all, "grants were not") {
		t.Errorf("got %+v, %v; want no error, Added 1, `\"cdw\"` in it, \"default (allow) was not imported\" in it and \"grants were not\" in it", res, err)
	}
	if d := r.Decide(t.Context(), command("make x")); d.Verdict != policy.Ask {
		t.Errorf("got %+v; want Verdict Ask", d)
	}
}

func TestTryShowsTheCallsARuleWouldHaveAllowed(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	var calls []protocol.JournalEntry
	for _, text := range []string{"make test", "make install", "git push", "make test; git push"} {
		q := command(text)
		calls = append(calls, protocol.JournalEntry{CallID: protocol.CallID(text), Node: "n", Tool: "Bash", Effect: protocol.EffectExec, Input: q.Args, Preview: q.Preview})
	}
	res, err := r.Try(calls, anyHost, protocol.RuleTryParams{Policy: json.RawMessage(`{"tool":"Bash","argv":["make","*"],"verdict":"allow"}`)})
	var names []string
	for _, c := range res.Changed {
		names = append(names, string(c.Call.CallID))
		// The rule allows what its preview lists.
		if c.Was != "ask" || c.Now != "allow" {
			t.Errorf(`got %+v; want Was "ask" and Now "allow"`, c)
		}
	}
	if err != nil || res.Looked != 4 || strings.Join(names, ",") != "make test,make install" {
		t.Errorf(`got %v %+v; want no error, Looked 4 and names "make test,make install"`, err, res)
	}
}

func TestTryListsCoveredAndUncoveredCalls(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	put(t, r, `{"tool":"Bash","argv":["make","**"],"verdict":"deny"}`) // the rules in force do not matter
	var calls []protocol.JournalEntry
	for _, text := range []string{"make test", "make test", "make; ls", "make install", "git push", "make test; git push", "make clean && rm x", "sudo make x", "make >x"} {
		q := command(text)
		calls = append(calls, protocol.JournalEntry{CallID: protocol.CallID(text), Node: "n", Tool: "Bash", Effect: protocol.EffectExec, Input: q.Args, Preview: q.Preview})
	}
	write := change("Write", "/srv/app/docs/a.md", false)
	calls = append(calls, protocol.JournalEntry{CallID: "write", Node: "n", Tool: "Write", Effect: protocol.EffectWrite, Input: write.Args, Preview: write.Preview})
	ids := func(list []protocol.JournalEntry) string {
		var ids []string
		for _, c := range list {
			ids = append(ids, string(c.CallID))
		}
		return strings.Join(ids, ", ")
	}
	for name, c := range map[string]struct{ policy, matched, unmatched string }{
		"allow a command": {`{"tool":"Bash","argv":["make","*"],"verdict":"allow"}`, "make test, make install", "make; ls, make test; git push, make clean && rm x"},
		"deny a command":  {`{"tool":"Bash","argv":["git","push","**"],"verdict":"deny"}`, "git push, make test; git push", ""},
		"files":           {`{"tool":"Write","path":"docs/**","verdict":"allow"}`, "write", ""},
		"other files":     {`{"tool":"Write","path":"src/**","verdict":"allow"}`, "", "write"},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := r.Try(calls, anyHost, protocol.RuleTryParams{Policy: json.RawMessage(c.policy)})
			if err != nil || ids(res.Matched) != c.matched || ids(res.Unmatched) != c.unmatched {
				t.Errorf("got  %q and %q (%v)\nwant %q and %q", ids(res.Matched), ids(res.Unmatched), err, c.matched, c.unmatched)
			}
		})
	}
}

func TestTheSameRuleIsMadeOnce(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	first := put(t, r, `{"tool":"Bash","argv":["make","test"],"verdict":"allow"}`)
	other := put(t, r, `{"tool":"Bash","argv":["make","test"],"verdict":"allow","cwd":"/srv/app"}`)
	const again = `{"verdict":"allow", "argv":["make","test"], "tool":"Bash"}`
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, protocol.ErrConflict) || !strings.Contains(err.Error(), first.ID) || !strings.Contains(err.Error(), "already exists") {
			t.Errorf(`%s: got %v; want error ErrConflict, an error with %v and an error with "already exists"`, what, err, first.ID)
		}
	}
	_, err := r.Put(t.Context(), "ann", protocol.RulePutParams{Policy: json.RawMessage(again)})
	refused("the same rule", err)
	_, err = r.Put(t.Context(), "ann", protocol.RulePutParams{ID: other.ID, Policy: json.RawMessage(again)})
	refused("another rule made the same", err)
	if _, err := r.Put(t.Context(), "ann", protocol.RulePutParams{ID: first.ID, Policy: json.RawMessage(again)}); err != nil {
		t.Errorf("a rule that stays as it is: %v", err)
	}
	if err := r.Delete(t.Context(), "ann", other.ID); err != nil {
		t.Fatal(err)
	}
	gone := first
	if err := r.Delete(t.Context(), "ann", gone.ID); err != nil {
		t.Fatal(err)
	}
	first = put(t, r, again)
	refused("a deleted rule beside one that says the same", r.Restore(t.Context(), "ann", gone.ID))
	if list := r.List().Rules; len(list) != 1 || list[0].ID != first.ID {
		t.Errorf("rules: got %+v; want length 1 and list[0].ID %v", list, first.ID)
	}
}

func TestRulesShowMachineDisplayNames(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	name := "The big one"
	r.machineName = func(id protocol.NodeID) string {
		if id != "n" {
			return ""
		}
		return name
	}
	if rule := put(t, r, `{"tool":"Bash","argv":["make"],"node":"n","verdict":"allow"}`); rule.Words != "Allow make on The big one" {
		t.Errorf("got %v, want %q", rule.Words, "Allow make on The big one")
	}
	put(t, r, `{"tool":"Bash","argv":["make"],"node":"other","verdict":"allow"}`)
	name = "nas"
	if list := r.List().Rules; len(list) != 2 || list[0].Words != "Allow make on other" || list[1].Words != "Allow make on nas" {
		t.Errorf("rules of a renamed machine: got %+v, want Allow make on other, and on nas", list)
	}
	q := protocol.Question{Node: "n", Preview: &protocol.CallPreview{Folder: "/srv/app"}}
	if offers := offersOf(t, r, r.Evaluate(command("make one"))); len(offers) == 0 || !strings.HasSuffix(offers[0].Words, " on nas") {
		t.Errorf(`got %+v; want an offer with words that end with " on nas"`, offers)
	}
	if err := r.Offer(&q, policy.Decision{Offers: []policy.Offer{{Rule: policy.Rule{Tool: "Bash", Argv: []string{"make"}, Verdict: policy.Allow}}}}); err != nil {
		t.Fatal(err)
	}
	if as := q.Offers[0].As; as[protocol.ScopeMachine].Words != "Allow make on nas" || as[protocol.ScopeFolder].Words != "Allow make in /srv/app and below on nas" {
		t.Errorf(`got %+v; want as[ScopeMachine].Words "Allow make on nas" and as[ScopeFolder].Words "Allow make in /srv/app and below on nas"`, as)
	}
}

// TestOwnFilesOfFairleadAlwaysNeedApproval: no rule and no trusted chat lets the agent
// change the files that control it.
func TestOwnFilesOfFairleadAlwaysNeedApproval(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	put(t, r, `{"tool":"Bash","argv":["cp","**"],"verdict":"allow"}`)
	put(t, r, `{"tool":"Bash","argv":["echo","**"],"verdict":"allow"}`)
	put(t, r, `{"tool":"Write","path":"/**","verdict":"allow"}`)
	trust := protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
	for _, q := range []policy.Request{
		command("cp x /opt/fl/fairlead.db"), command("echo x > /opt/fl/agents/main/x"), command("cp x /disk/fl/fairlead.db"), command("cd /opt && cp x fl/"),
		change("Write", "/opt/fl/x", true), change("Write", "/disk/fl/x", true), command("python3 x.py > /opt/fl/log"), command("sqlite3 /opt/fl/fairlead.db 'delete from rules'"),
	} {
		q.Mode = trust
		host := *q.Host
		host.Private, host.Aliases = "/opt/fl", []protocol.Alias{{Path: "/opt/fl", Folder: "/disk/fl"}}
		q.Host = &host
		if d := r.Evaluate(q); d.Verdict != policy.Ask || !d.Floor {
			t.Errorf("%s %+v: got %+v; want Verdict Ask and Floor", q.Args, q.Preview, d)
		}
	}
}
