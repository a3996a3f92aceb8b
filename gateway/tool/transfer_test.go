package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/native"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/tooltest"
)

// transferTool is gsv__Transfer without the transfer.
func transferTool(start func()) tool.Own {
	for _, own := range native.Tools(native.Services{Transfer: func(context.Context, tool.Call, native.TransferIn) (native.TransferOut, error) {
		start()
		return native.TransferOut{}, nil
	}}) {
		if own.Spec.Name == "Transfer" {
			return own
		}
	}
	panic("no Transfer")
}

// TestTransferObeysRulesAboutFiles: in a trusted chat, everything is allowed that no rule
// denies or asks about; rules about files apply to transfers, too.
func TestTransferObeysRulesAboutFiles(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	moved := 0
	g.Registry.Register(transferTool(func() { moved++ }))
	for _, policy := range []string{
		`{"tool":"Read","path":"/srv/secret/**","verdict":"deny"}`,
		`{"tool":"Write","path":"/srv/app/prod.conf","verdict":"deny"}`,
		`{"tool":"Read","path":"/srv/papers/**","verdict":"ask"}`,
		`{"tool":"gsv__ReadFile","verdict":"deny"}`,
	} {
		if _, err := g.rules.Put(t.Context(), "ann", protocol.RulePutParams{Policy: json.RawMessage(policy)}); err != nil {
			t.Fatal(policy, err)
		}
	}
	if _, err := g.store.Sessions.Ensure(t.Context(), chat, 1); err != nil {
		t.Fatal(err)
	}
	_, err := g.store.Sessions.Update(t.Context(), chat, func(s *store.Session) {
		s.Prefs.Approvals = &protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
	})
	if err != nil {
		t.Fatal(err)
	}
	sub := g.bus.Subscribe()
	defer sub.Close()
	for i, c := range []struct {
		args   string
		want   policy.Verdict
		person policy.Verdict // for the same transfer as the person's direct action
	}{
		{`{"source":"tower:/srv/app/a","destination":"gsv:a"}`, policy.Allow, policy.Allow},
		{`{"source":"tower:/srv/secret/key","destination":"gsv:key"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv/app/../secret/key","destination":"gsv:key"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/x","sources":["tower:/srv/app/a","tower:/srv/secret/key"],"destination":"gsv:all/"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv","destination":"gsv:all"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv/app/a","destination":"tower:/srv/app/prod.conf"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv/prod.conf","destination":"tower:/srv/app/"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv/prod.conf","destination":"tower:/srv/app","into":true}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv/b","destination":"tower:/srv/app/","into":true}`, policy.Allow, policy.Allow},
		{`{"source":"gsv:MEMORY.md","destination":"tower:/srv/app/m"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv/papers/a","destination":"gsv:a"}`, policy.Ask, policy.Allow},
		{`{"source":"tower:/srv/app/a","destination":"tower:/srv/app/.git/hooks/pre-commit"}`, policy.Ask, policy.Allow}, // the floor
	} {
		for _, direct := range []bool{false, true} {
			want := c.want
			if direct {
				want = c.person
			}
			call := tool.Call{ID: protocol.CallID(fmt.Sprint(i, direct)), Tool: "gsv__Transfer", Args: json.RawMessage(c.args), Session: chat, Direct: direct}
			before := moved
			end := g.runInBackground(t.Context(), call)
			if want == policy.Ask {
				q := g.question(sub)
				if len(q.Offers) != 0 || q.Why == "" {
					t.Errorf("%s: asked %q, with %d rules; want a reason and no rules", c.args, q.Why, len(q.Offers))
				}
				g.answer(q, protocol.DecisionDeny, "", "")
			}
			e := waitResult(t, end)
			if e.err != nil || (e.Info.State == protocol.CallDone) != (want == policy.Allow) || (moved > before) != (want == policy.Allow) {
				t.Errorf("%s, direct %v: %s %q %v, want %s", c.args, direct, e.Info.State, e.Content.Text(), e.err, want)
			}
		}
	}
}

func TestATransferOfKeysAsksAlsoWhereEditsAreAccepted(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	g.Registry.Register(transferTool(func() {}))
	if _, err := g.store.Sessions.Ensure(t.Context(), chat, 1); err != nil {
		t.Fatal(err)
	}
	_, err := g.store.Sessions.Update(t.Context(), chat, func(s *store.Session) {
		s.Prefs.Approvals = &protocol.ApprovalMode{Mode: protocol.ModeAcceptEdits}
	})
	if err != nil {
		t.Fatal(err)
	}
	args := json.RawMessage(`{"source":"tower:/home/ann/.ssh/id_rsa","destination":"gsv:key"}`)
	if res := g.ask(tool.Call{ID: "a", Tool: "gsv__Transfer", Args: args, Session: chat}, protocol.DecisionDeny, "", ""); res.Info.State != protocol.CallDenied {
		t.Errorf("got %+v; want Info.State CallDenied", res)
	}
}

// What waits is judged again when the rules change: the decision is added to the journal entry of
// the call that has queued it, with a line in the audit log, and there is no further entry.
func TestLaterDecisionIsAddedToTheEntryOfItsCall(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	g.Registry.Register(transferTool(func() {}))
	call := tool.Call{ID: "a", Tool: "gsv__Transfer", Args: json.RawMessage(`{"source":"tower:/srv/a","destination":"gsv:a"}`), Principal: auth.Owner("ann"), Direct: true}
	if res := g.mustRun(call); res.Info.State != protocol.CallDone {
		t.Fatalf("first call: got %s (%s), want done", res.Info.State, res.Info.Error)
	}
	again := call
	again.ID, again.Of, again.Resumed = "", "a", true
	asked := again
	asked.Direct, asked.Principal, asked.Session = false, auth.Agent(chat, ""), chat
	if _, err := g.store.Sessions.Ensure(t.Context(), chat, 1); err != nil {
		t.Fatal(err)
	}
	sub := g.bus.Subscribe()
	defer sub.Close()
	for _, c := range []struct {
		call     tool.Call
		decision string // of the person; empty: no question
		rule     string // is added before
		verdict  policy.Verdict
	}{
		{call: again, verdict: policy.Allow},
		{call: asked, decision: protocol.DecisionAllow, verdict: policy.Allow},
		{call: asked, decision: protocol.DecisionDeny, verdict: policy.Deny},
		{call: again, rule: `{"tool":"Read","path":"/srv/**","verdict":"deny"}`, verdict: policy.Deny},
	} {
		if c.rule != "" {
			if _, err := g.rules.Put(t.Context(), "ann", protocol.RulePutParams{Policy: json.RawMessage(c.rule)}); err != nil {
				t.Fatal(err)
			}
		}
		result := make(chan error, 1)
		go func() {
			may, err := g.Authorize(t.Context(), c.call)
			if err == nil {
				err = may.Finish(t.Context(), native.TransferOut{}, nil)
				if id := may.ID(); id != "a" {
					t.Errorf("call that allows it: got %s, want a", id)
				}
			}
			result <- err
		}()
		if c.decision != "" {
			g.answer(g.question(sub), c.decision, protocol.ScopeOnce, "")
		}
		if err := <-result; (err == nil) != (c.verdict == policy.Allow) {
			t.Errorf("got %v, want %s", err, c.verdict)
		}
		judged := g.storedCall("a").Continued.Judged
		if last := judged[len(judged)-1]; last.Verdict != string(c.verdict) || (last.ApprovalID != "") != (c.decision != "") || !last.Resumed || last.Why == "" {
			t.Errorf("added: got %+v, want %s, with a question %v", last, c.verdict, c.decision != "")
		}
	}
	if state := g.storedCall("a").Info.State; state != protocol.CallDone {
		t.Errorf("state of the call: got %s, want done", state)
	}
	if list, _, err := g.store.Calls.List(t.Context(), protocol.JournalListParams{Limit: 10}); err != nil || len(list) != 1 {
		t.Errorf("entries in the journal: got %d, %v, want 1", len(list), err)
	}
}

// A person has allowed again what no rule allows: the steps of the call go on.
func TestLaterApprovalAllowsTheStepsOfItsCall(t *testing.T) {
	g := start(t, &tooltest.Machine{Run: func(protocol.ToolInvoke, <-chan struct{}) (any, error) {
		return map[string]any{"matches": []string{}}, nil
	}})
	g.Registry.Register(transferTool(func() {}))
	app := appPrincipal("app")
	call := tool.Call{ID: "a", Tool: "gsv__Transfer", Args: json.RawMessage(`{"source":"tower:/srv/papers/a","destination":"gsv:a"}`), Principal: app}
	g.rule(`{"tool":"gsv__Transfer","verdict":"allow"}`)
	if res, err := g.Run(t.Context(), call); err != nil || res.Info.State != protocol.CallDone {
		t.Fatalf("first call: got %s (%s), %v, want done", res.Info.State, res.Info.Error, err)
	}
	g.rule(`{"tool":"Read","path":"/srv/papers/**","verdict":"ask"}`)
	step := tool.Step{Call: "a", Principal: app, Node: "tower", Tool: "Glob", Args: json.RawMessage(`{"pattern":"/srv/papers/a"}`)}
	if _, err := g.Continue(t.Context(), step); err == nil {
		t.Error("step before the answer: got success, want a refusal")
	}
	sub := g.bus.Subscribe()
	defer sub.Close()
	again := call
	again.ID, again.Of = "", "a"
	result := make(chan error, 1)
	go func() {
		may, err := g.Authorize(t.Context(), again)
		if err == nil {
			err = may.Finish(t.Context(), native.TransferOut{}, nil)
		}
		result <- err
	}()
	g.answer(g.question(sub), protocol.DecisionAllow, protocol.ScopeOnce, "")
	if err := <-result; err != nil {
		t.Fatalf("second decision: got %v, want success", err)
	}
	if _, err := g.Continue(t.Context(), step); err != nil {
		t.Errorf("step after the answer: got %v, want success", err)
	}
}
