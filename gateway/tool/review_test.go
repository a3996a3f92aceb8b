package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool/tooltest"
)

// newReviewingGateway starts a gateway that reviews pending approvals when something changes.
func newReviewingGateway(t *testing.T) *gateway {
	g := start(t, &tooltest.Machine{})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.ReviewPending(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return g
}

func (g *gateway) rule(policy string) {
	g.t.Helper()
	if _, err := g.rules.Put(g.t.Context(), "ann", protocol.RulePutParams{Policy: json.RawMessage(policy)}); err != nil {
		g.t.Fatal(err)
	}
}

func TestRuleMadeMeanwhileDecidesWhatIsAsked(t *testing.T) {
	g := newReviewingGateway(t)
	sub := g.bus.Subscribe()
	defer sub.Close()
	allowed, denied, other := g.runInBackground(t.Context(), command("a", "make test")), g.runInBackground(t.Context(), command("b", "make install")), g.runInBackground(t.Context(), command("c", "make"))
	questions := map[string]protocol.Question{}
	for range 3 {
		q := g.question(sub)
		questions[string(q.CallID)] = q
	}
	g.rule(`{"tool":"Bash","argv":["make","install"],"verdict":"deny","reason":"not here"}`)
	g.rule(`{"tool":"Bash","argv":["make","test"],"verdict":"allow"}`)
	if e := waitResult(t, allowed); e.err != nil || e.IsError {
		t.Errorf("got %+v; want no error and not IsError", e)
	}
	if e := waitResult(t, denied); e.Info.State != protocol.CallDenied || !strings.Contains(e.Content.Text(), "not here") {
		t.Errorf(`got %+v; want Info.State CallDenied and "not here" in Content.Text`, e)
	}
	for id, want := range map[string]string{"a": protocol.QuestionSuperseded, "b": protocol.QuestionSuperseded, "c": protocol.QuestionPending} {
		t.Run(id, func(t *testing.T) {
			if a, err := g.store.Questions.Get(t.Context(), questions[id].ID); err != nil || a.State != want {
				t.Errorf("the question of %s is %s, want %s", id, a.State, want)
			}
		})
	}
	lines, _, err := g.store.Audit.List(t.Context(), protocol.AuditListParams{Kind: protocol.AuditCall, Limit: 10})
	if err != nil || len(lines) != 2 {
		t.Fatalf("got %+v %v; want 2 lines and no error", lines, err)
	}
	for _, l := range lines {
		if !strings.HasPrefix(l.By, "rule ") || l.Rule == "" || l.Approval != "" {
			t.Errorf("the audit says that %s decided: %+v", l.By, l)
		}
	}
	g.answer(questions["c"], protocol.DecisionDeny, "", "")
	waitResult(t, other)
}

func TestChatThatMayOnlyReadNowIsNotAskedAboutCommands(t *testing.T) {
	g := newReviewingGateway(t)
	if _, err := g.store.Sessions.Ensure(t.Context(), chat, 1); err != nil {
		t.Fatal(err)
	}
	sub := g.bus.Subscribe()
	defer sub.Close()
	end := g.runInBackground(t.Context(), command("a", "make"))
	g.question(sub)
	_, err := g.store.Sessions.Update(t.Context(), chat, func(s *store.Session) {
		s.Prefs.Approvals = &protocol.ApprovalMode{Mode: protocol.ModeReadOnly}
	})
	if err != nil {
		t.Fatal(err)
	}
	g.bus.Publish(protocol.Change{Kind: protocol.ChangeSession, SessionKey: "agent:main:other", Session: &protocol.SessionEntry{SessionKey: "agent:main:other"}})
	g.bus.Publish(protocol.Change{Kind: protocol.ChangeSession, SessionKey: chat, Session: &protocol.SessionEntry{SessionKey: chat}})
	if e := waitResult(t, end); e.Info.State != protocol.CallDenied || !strings.Contains(e.Content.Text(), "read-only") {
		t.Errorf(`got %+v; want Info.State CallDenied and "read-only" in Content.Text`, e)
	}
}

func TestUndoRevokesTheGrantOfAnAnswer(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	for _, scope := range []string{protocol.ScopeAlways, protocol.ScopeSession} {
		sub := g.bus.Subscribe()
		end := g.runInBackground(t.Context(), command("first "+scope, "go vet ./gateway"))
		q := g.question(sub)
		g.answer(q, protocol.DecisionAllow, scope, "")
		waitResult(t, end)
		g.mustRun(command("second "+scope, "go vet ./gateway")) // without an approval
		all, err := g.rules.All(t.Context())
		if err != nil || len(all.Rules) != 1 || all.Rules[0].CreatedFrom != q.ID {
			t.Fatalf("got %+v %v; want no error, all.Rules of length 1 and all.Rules[0].CreatedFrom %v", all, err, q.ID)
		}
		res, err := g.rules.Undo(t.Context(), "ann", q.ID)
		if err != nil || res.Rules+res.Grants != 1 {
			t.Fatalf("got %+v %v; want no error and Rules + Grants 1", res, err)
		}
		again := g.runInBackground(t.Context(), command("third "+scope, "go vet ./gateway"))
		g.answer(g.question(sub), protocol.DecisionDeny, "", "")
		waitResult(t, again)
		if _, err := g.rules.Undo(t.Context(), "ann", q.ID); err == nil {
			t.Error("taken back twice")
		}
		if err := g.rules.Restore(t.Context(), "ann", all.Rules[0].ID); err != nil {
			t.Error(err)
		}
		g.mustRun(command("fourth "+scope, "go vet ./gateway")) // without an approval
		if _, err := g.rules.Undo(t.Context(), "ann", q.ID); err != nil {
			t.Error(err)
		}
		sub.Close()
	}
	if v, err := g.store.Audit.Verify(t.Context(), store.AuditHead{}); err != nil || v.Broken != 0 {
		t.Errorf("got %+v %v; want no error and Broken 0", v, err)
	}
}
