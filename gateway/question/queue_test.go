package question

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question/questiontest"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

func openManager(t *testing.T) (*Queue, *store.DB) {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	rules, err := approval.OpenRules(t.Context(), s.Rules, s.Grants, approval.RulesOptions{Config: func() config.Config { return config.Config{} }})
	if err != nil {
		t.Fatal(err)
	}
	q := New(s.Questions, rules, new(event.Bus))
	t.Cleanup(q.Close)
	return q, s
}

func question() protocol.Question {
	return protocol.Question{Kind: protocol.AskCall, Node: "n", Tool: "Bash", Args: json.RawMessage(`{"command":"ls"}`), Choices: []string{"once"}}
}

// pending waits for the gate's first pending approval.
func pending(t *testing.T, g *Queue, sub *event.Subscription) protocol.Question {
	t.Helper()
	for {
		c, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind == protocol.ChangeQuestion && c.Question.State == protocol.QuestionPending {
			return *c.Question
		}
	}
}

func TestGateFirstAnswerWins(t *testing.T) {
	g, _ := openManager(t)
	sub := g.Display.bus.Subscribe()
	defer sub.Close()
	got := make(chan protocol.Question, 1)
	go func() {
		a, err := g.Ask(context.Background(), question(), 0, nil)
		if err != nil {
			t.Error(err)
		}
		got <- a
	}()
	a := pending(t, g, sub)
	var wg sync.WaitGroup
	wins := make(chan string, 20)
	for i := range 20 {
		decision := []string{protocol.DecisionAllow, protocol.DecisionDeny}[i%2]
		wg.Go(func() {
			r, err := g.Answer(context.Background(), auth.Owner("w"), protocol.QuestionAnswerParams{ID: a.ID, Hash: a.Hash, Decision: decision})
			if err != nil {
				t.Error(err)
			}
			if r.Won {
				wins <- r.Question.State
			} else if r.Question.State == protocol.QuestionPending {
				t.Error("a loser was not told how the question ended")
			}
		})
	}
	wg.Wait()
	if len(wins) != 1 {
		t.Fatalf("%d answers won, want 1", len(wins))
	}
	if end := <-got; end.State != <-wins {
		t.Errorf("the asker saw %s, want the winner's answer", end.State)
	}
}

func TestAnswerToSomethingElseIsRefused(t *testing.T) {
	g, s := openManager(t)
	a := question()
	a.ID, a.State, a.Hash = "a", protocol.QuestionPending, "right"
	if err := s.Questions.Put(t.Context(), a, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p    protocol.QuestionAnswerParams
		want error
	}{
		{protocol.QuestionAnswerParams{ID: "a", Hash: "wrong", Decision: "allow"}, protocol.ErrConflict},
		{protocol.QuestionAnswerParams{ID: "a", Decision: "allow"}, protocol.ErrConflict},
		{protocol.QuestionAnswerParams{ID: "a", Hash: "right", Decision: "maybe"}, protocol.ErrBadRequest},
		{protocol.QuestionAnswerParams{ID: "a", Hash: "right", Decision: "allow", Scope: "session"}, protocol.ErrBadRequest},
		{protocol.QuestionAnswerParams{ID: "b", Hash: "right", Decision: "allow"}, protocol.ErrNotFound},
	} {
		if _, err := g.Answer(t.Context(), auth.Owner("w"), c.p); !errors.Is(err, c.want) {
			t.Errorf("Answer(%+v) = %v, want %v", c.p, err, c.want)
		}
	}
}

func TestUnansweredQuestionExpiresAndIsNoDenial(t *testing.T) {
	g := New(questiontest.NewStore(), nil, new(event.Bus))
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		a, err := g.Ask(t.Context(), question(), 5*time.Minute, nil)
		if err != nil || a.State != protocol.QuestionExpired || time.Since(began) != 5*time.Minute {
			t.Errorf("Ask = %s, %v after %s; want no error, State QuestionExpired and time since began %v", a.State, err, time.Since(began), 5*time.Minute)
		}
	})
}

func TestRunsEndCancelsAndStopKeepsTheQuestion(t *testing.T) {
	g, s := openManager(t)
	for cause, want := range map[error]string{errors.New("stopped by the person"): protocol.QuestionCancelled, tool.ErrSuspended: protocol.QuestionPending} {
		sub := g.Display.bus.Subscribe()
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := g.Ask(ctx, question(), 0, nil)
			done <- err
		}()
		a := pending(t, g, sub)
		cancel(cause)
		if err := <-done; errors.Is(err, tool.ErrSuspended) != (want == protocol.QuestionPending) {
			t.Errorf("Ask: got %v, want ErrSuspended for a question that stays", err)
		}
		if now, _ := s.Questions.Get(t.Context(), a.ID); now.State != want {
			t.Errorf("after %v the question is %s, want %s", cause, now.State, want)
		}
		sub.Close()
	}
}

func TestRestartAsksTheSameQuestionOrTakesItsAnswer(t *testing.T) {
	g, s := openManager(t)
	a := question()
	a.ID, a.State, a.CreatedAt = "a", protocol.QuestionPending, 1
	a.Hash, _ = hashOf(a)
	if err := s.Questions.Put(t.Context(), a, nil); err != nil {
		t.Fatal(err)
	}
	// Nobody waits yet: the answer must not be lost.
	if r, err := g.Answer(t.Context(), auth.Owner("w"), protocol.QuestionAnswerParams{ID: "a", Hash: a.Hash, Decision: "allow"}); err != nil || !r.Won {
		t.Fatalf("got %v, %v; want no error and Won", r, err)
	}
	got, err := g.Ask(t.Context(), a, time.Minute, nil)
	if err != nil || got.State != protocol.QuestionAllowed {
		t.Errorf("Ask = %+v, %v; want no error and State QuestionAllowed", got, err)
	}
}

func TestOrphansAreCancelled(t *testing.T) {
	g, s := openManager(t)
	for _, id := range []protocol.QuestionID{"a", "b"} {
		a := question()
		a.ID, a.State, a.RunID, a.CreatedAt = id, protocol.QuestionPending, protocol.RunID(id), 1
		if err := s.Questions.Put(t.Context(), a, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.CancelOrphans(t.Context(), time.Now(), func(r protocol.RunID) bool { return r == "a" }); err != nil {
		t.Fatal(err)
	}
	if list, _ := g.Pending(t.Context()); len(list) != 1 || list[0].ID != "a" {
		t.Errorf(`pending = %+v; want length 1 and list[0].ID "a"`, list)
	}
}

func TestAnswerToARunLeavesAnAuditLine(t *testing.T) {
	g, db := openManager(t)
	for _, c := range []struct{ decision, want string }{{protocol.DecisionAllow, "allowed"}, {protocol.DecisionDeny, "denied"}} {
		sub := g.Display.bus.Subscribe()
		done := make(chan error, 1)
		go func() {
			_, err := g.Ask(context.Background(), protocol.Question{Kind: protocol.AskContinue, RunID: "r", SessionKey: "chat", Why: "it made 50 steps", Choices: []string{protocol.ScopeOnce}}, 0, nil)
			done <- err
		}()
		q := pending(t, g, sub)
		sub.Close()
		for range 2 { // the second one changes nothing
			if _, err := g.Answer(t.Context(), auth.Owner("w"), protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: c.decision}); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		log, _, err := db.Audit.List(t.Context(), protocol.AuditListParams{Kind: protocol.AuditRun, Limit: 10})
		if err != nil || len(log) == 0 || log[0].Approval != q.ID || log[0].Verdict != c.want || log[0].By != "owner w" || log[0].RunID != "r" || log[0].What != "it made 50 steps" {
			t.Errorf("audit log after %s: got %+v, %v, want one line about the run", c.decision, log, err)
		}
		if len(log) > 1 && log[1].Approval == q.ID {
			t.Errorf("audit log after %s: got two lines, want one", c.decision)
		}
	}
}
