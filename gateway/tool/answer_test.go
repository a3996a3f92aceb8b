package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/tooltest"
)

func TestDenialSaysWhyAndNothingRuns(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	res := g.ask(command("a", "make"), protocol.DecisionDeny, "", "not on this machine")
	if res.Info.State != protocol.CallDenied || !res.IsError || !strings.Contains(res.Content.Text(), "not on this machine") {
		t.Errorf(`got %+v; want Info.State CallDenied, IsError and "not on this machine" in Content.Text`, res)
	}
	if row := g.storedCall("a"); row.Info.State != protocol.CallDenied || len(g.tower.Calls()) != 0 {
		t.Errorf("got %+v; want row.Info.State CallDenied and no g.tower.Calls", row)
	}
	lines, _, err := g.store.Audit.List(t.Context(), protocol.AuditListParams{Limit: 10})
	if want := "the question was denied: not on this machine"; err != nil || len(lines) != 1 || lines[0].Why != want {
		t.Errorf("got %+v (%v), want one entry with the reason %q", lines, err, want)
	}
}

func TestUnansweredQuestionIsNoDenial(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	g.cfg.Approvals.Timeout = 20
	res := g.mustRun(command("a", "make"))
	if !res.IsError || !strings.Contains(res.Content.Text(), "Nobody answered") || !strings.Contains(res.Content.Text(), "was not denied") || len(g.tower.Calls()) != 0 {
		t.Errorf("got %+v; want a failure that says that nobody answered, and no call of the machine", res)
	}
	g.noQuestions()
}

func TestOwnCallNeedsNoApprovalButObeysRules(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	own := command("a", "make")
	own.Direct = true
	if res := g.mustRun(own); res.Info.State != protocol.CallDone || !res.Info.Direct {
		t.Errorf("got %+v; want Info.State CallDone and Info.Direct", res)
	}
	g.cfg.ToolApproval.Rules = []config.ToolRule{{ID: "r", Tool: "*__Bash", Decision: "deny", Reason: "no commands today"}}
	own.ID = "b"
	if res := g.mustRun(own); res.Info.State != protocol.CallDenied || !strings.Contains(res.Content.Text(), "no commands today") {
		t.Errorf(`got %+v; want Info.State CallDenied and "no commands today" in Content.Text`, res)
	}
	if len(g.tower.Calls()) != 1 || g.storedCall("b").Info.State != protocol.CallDenied {
		t.Error("a denied act ran, or has no row")
	}
}

func TestSessionGrantAllowsOnlyTheSameCall(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	g.ask(command("a", "make"), protocol.DecisionAllow, protocol.ScopeSession, "")
	if res := g.mustRun(command("b", "make")); res.Info.State != protocol.CallDone || res.Info.ApprovalID != "" {
		t.Errorf("the same call: got %+v, want it done without a question", res)
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
	g := start(t, &tooltest.Machine{Preview: func(protocol.ToolInvoke) protocol.CallPreview {
		return protocol.CallPreview{Path: "/home/ann/x", Problem: "oldString not found"}
	}})
	res := g.mustRun(tool.Call{ID: "a", Tool: "tower__Write", Args: json.RawMessage(`{"path":"x"}`), Session: chat})
	if res.Info.State != protocol.CallFailed || !res.IsError || res.Content.Text() != "Error: oldString not found" || res.Info.ApprovalID != "" || len(g.tower.Calls()) != 0 {
		t.Errorf("got %+v; want the problem of the preview as a failure, without a question", res)
	}
	g.noQuestions()
}

func TestACallThatWouldFailOnKeysAsksFirst(t *testing.T) {
	g := start(t, &tooltest.Machine{Preview: func(protocol.ToolInvoke) protocol.CallPreview {
		return protocol.CallPreview{Path: "/home/ann/.netrc", Secret: "~/.netrc", Problem: "oldString not found"}
	}})
	res := g.ask(tool.Call{ID: "a", Tool: "tower__Write", Args: json.RawMessage(`{"path":".netrc"}`), Session: chat}, protocol.DecisionDeny, "", "")
	if res.Info.State != protocol.CallDenied || strings.Contains(res.Content.Text(), "oldString") {
		t.Errorf(`got %+v; want Info.State CallDenied and no "oldString" in Content.Text`, res)
	}
}

func TestWriteExpectsTheFileThatWasShown(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	c := tool.Call{ID: "a", Tool: "tower__Write", Args: json.RawMessage(`{"path":"x"}`), Session: chat}
	g.ask(c, protocol.DecisionAllow, "", "")
	if inv := g.tower.Calls()[0]; inv.Expect != "sum of x" {
		t.Errorf(`got %+v; want Expect "sum of x"`, inv)
	}
}

func TestAllowAlwaysCreatesARuleAndAuditsBoth(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	sub := g.bus.Subscribe()
	end := g.runInBackground(t.Context(), command("a", "go vet ./gateway"))
	q := g.question(sub)
	sub.Close()
	if len(q.Parts) == 0 || len(q.Offers) == 0 {
		t.Fatalf("got %+v; want some parts and some offers", q)
	}
	g.answer(q, protocol.DecisionAllow, protocol.ScopeAlways, "")
	if e := waitResult(t, end); e.err != nil || e.IsError {
		t.Fatalf("got %+v; want no error and not IsError", e)
	}
	if got := g.rules.List().Rules[0].Hits; got != 1 {
		t.Errorf("uses of the rule after the call it was made from: got %d, want 1", got)
	}
	g.mustRun(command("b", "go vet ./gateway")) // without an approval: must would block
	g.noQuestions()
	rules := g.rules.List().Rules
	if rules[0].Hits != 2 {
		t.Errorf("uses of the rule after another call: got %d, want 2", rules[0].Hits)
	}
	if as := q.Offers[0].As[protocol.ScopeAlways]; as.Words != rules[0].Words || string(as.Policy) != string(rules[0].Policy) {
		t.Errorf("offered %+v, made %+v; want the same", as, rules[0])
	}
	lines, _, err := g.store.Audit.List(t.Context(), protocol.AuditListParams{Limit: 10})
	if err != nil || len(rules) != 1 || len(lines) != 3 {
		t.Fatalf("got %+v\n%+v %v; want 1 rule, 3 lines and no error", rules, lines, err)
	}
	if l := lines[0]; l.By != "rule "+rules[0].ID || l.Rule != rules[0].ID || l.What != "go vet ./gateway" || l.State != protocol.CallDone || l.Node != "tower" {
		t.Errorf(`got %+v; want l.By %q, l.Rule %v, l.What "go vet ./gateway", l.State CallDone and l.Node "tower"`, l, "rule "+rules[0].ID, rules[0].ID)
	}
	if l := lines[1]; l.By != "owner ann" || l.Approval != q.ID || l.Verdict != "allow" {
		t.Errorf(`got %+v; want l.By "owner ann", l.Approval %v and l.Verdict "allow"`, l, q.ID)
	}
	if l := lines[2]; l.Kind != protocol.AuditRuleMade || l.By != "owner ann" || l.Rule != rules[0].ID || len(l.Policy) == 0 {
		t.Errorf(`got %+v; want l.Kind AuditRuleMade, l.By "owner ann", l.Rule %v and some l.Policy`, l, rules[0].ID)
	}
	if v, err := g.store.Audit.Verify(t.Context(), store.AuditHead{}); err != nil || v.Broken != 0 || v.Lines != 3 {
		t.Errorf("got %+v %v; want no error, Broken 0 and Lines 3", v, err)
	}
}

func TestModeOfAChatHolds(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	set := func(mode string) {
		if _, err := g.store.Sessions.Ensure(t.Context(), chat, 1); err != nil {
			t.Fatal(err)
		}
		_, err := g.store.Sessions.Update(t.Context(), chat, func(s *store.Session) { s.Prefs.Approvals = &protocol.ApprovalMode{Mode: mode} })
		if err != nil {
			t.Fatal(err)
		}
	}
	set(protocol.ModeReadOnly)
	if res := g.mustRun(command("a", "make")); res.Info.State != protocol.CallDenied || !strings.Contains(res.Content.Text(), "read-only") {
		t.Errorf(`got %+v; want Info.State CallDenied and "read-only" in Content.Text`, res)
	}
	set(protocol.ModeAcceptEdits)
	res := g.mustRun(tool.Call{ID: "b", Tool: "tower__Write", Args: json.RawMessage(`{"path":"/x/a"}`), Session: chat})
	if res.Info.State != protocol.CallDone {
		t.Errorf("got %+v; want Info.State CallDone", res)
	}
	if len(g.tower.Calls()) != 1 {
		t.Errorf("got %+v; want tower.Calls of length 1", g.tower.Calls())
	}
	// A stranger on a channel writes to the same chat.
	sub := g.bus.Subscribe()
	defer sub.Close()
	end := g.runInBackground(t.Context(), tool.Call{
		ID: "c", Tool: "tower__Write", Args: json.RawMessage(`{"path":"/x/a"}`), Session: chat,
		AskedBy: protocol.AskedBy{Kind: protocol.AskedByChannel, Name: "xmpp bob@example.org"},
	})
	g.answer(g.question(sub), protocol.DecisionDeny, "", "")
	if e := waitResult(t, end); e.err != nil || e.Info.State != protocol.CallDenied || len(g.tower.Calls()) != 1 {
		t.Errorf("got %+v; want no error, e.Info.State CallDenied and g.tower.Calls of length 1", e)
	}
}

func TestEditedCallIsCheckedAgainAndRuns(t *testing.T) {
	for _, c := range []struct {
		args, state, text string
		runs              int
	}{
		{`{"command":"make test"}`, protocol.CallDone, "The person changed the call", 1},
		{`{"command":7}`, protocol.CallFailed, "could not be run", 0},
		{`{"command":"shutdown now"}`, protocol.CallFailed, "not now", 0},
	} {
		t.Run(c.args, func(t *testing.T) {
			g := start(t, &tooltest.Machine{})
			if _, err := g.rules.Put(t.Context(), "ann", protocol.RulePutParams{Policy: json.RawMessage(`{"tool":"Bash","argv":["shutdown","**"],"verdict":"deny","reason":"not now"}`)}); err != nil {
				t.Fatal(err)
			}
			sub := g.bus.Subscribe()
			end := g.runInBackground(t.Context(), command("a", "make install"))
			q := g.question(sub)
			sub.Close()
			params := protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Args: json.RawMessage(c.args)}
			params.Scope = protocol.ScopeSession
			if _, err := g.gate.Answer(t.Context(), auth.Owner("ann"), params); !errors.Is(err, protocol.ErrBadRequest) {
				t.Errorf("a changed call was allowed for more than once: %v", err)
			}
			params.Scope = protocol.ScopeOnce
			if res, err := g.gate.Answer(t.Context(), auth.Owner("ann"), params); err != nil || !res.Won {
				t.Fatalf("got %v, %v; want no error and Won", res, err)
			}
			e := waitResult(t, end)
			if e.err != nil || e.Info.State != c.state || !strings.Contains(e.Content.Text(), c.text) || len(g.tower.Calls()) != c.runs {
				t.Errorf("%s: %+v, %d calls; want no error, e.Info.State %v, %v in e.Content.Text and g.tower.Calls of length %v", c.args, e, len(g.tower.Calls()), c.state, c.text, c.runs)
			}
			for _, inv := range g.tower.Calls() {
				if string(inv.Args) != c.args || inv.Approved == "" || inv.Approved == q.Hash {
					t.Errorf("got %+v; want inv.Args %v, some inv.Approved and inv.Approved other than %v", inv, c.args, q.Hash)
				}
			}
		})
	}
}

func TestOwnFileCallIsStoppedByARuleAboutItsFile(t *testing.T) {
	g := start(t, &tooltest.Machine{Preview: func(protocol.ToolInvoke) protocol.CallPreview {
		return protocol.CallPreview{Path: "/srv/app/secret/a"} // a link leads there
	}})
	if _, err := g.rules.Put(t.Context(), "ann", protocol.RulePutParams{Policy: json.RawMessage(`{"tool":"Read","path":"/srv/app/secret/**","verdict":"deny"}`)}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"secret/a", "link"} {
		args, _ := json.Marshal(map[string]string{"path": path})
		res := g.mustRun(tool.Call{ID: protocol.CallID(path), Tool: "tower__Read", Args: args, Direct: true})
		if res.Info.State != protocol.CallDenied {
			t.Errorf("%s: got state %s, want denied", path, res.Info.State)
		}
	}
}
