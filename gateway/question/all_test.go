package question

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// openMany stores n identical pending approvals, each with the hash h.
func openMany(t *testing.T, g *Queue, n int) (list []protocol.ShownQuestion) {
	t.Helper()
	for i := range n {
		q := questionWithRules()
		q.ID, q.State, q.Hash = protocol.QuestionID(fmt.Sprint("q", i)), protocol.QuestionPending, "h"
		if err := g.store.Put(t.Context(), q, nil); err != nil {
			t.Fatal(err)
		}
		list = append(list, protocol.ShownQuestion{ID: q.ID, Hash: q.Hash})
	}
	return list
}

func questionWithRules() protocol.Question {
	q := question()
	q.Choices = []string{protocol.ScopeOnce, protocol.ScopeSession, protocol.ScopeAlways}
	q.Offers = []protocol.RuleOffer{{Policy: json.RawMessage(`{"tool":"Bash","argv":["ls"],"verdict":"allow"}`)}}
	return q
}

func TestOneAnswerForManyIsComparedWithEach(t *testing.T) {
	g, _ := openManager(t)
	list := openMany(t, g, 4)
	list[1].Hash = "what was shown before"
	list[2].ID = "unknown"
	if r, err := g.Answer(t.Context(), auth.Owner("phone"), protocol.QuestionAnswerParams{ID: "q3", Hash: "h", Decision: "deny"}); err != nil || !r.Won {
		t.Fatalf("got %v; want no error and Won", err)
	}
	res, err := g.AnswerAll(t.Context(), auth.Owner("w"), protocol.QuestionAnswerAllParams{Questions: list, Decision: protocol.DecisionAllow})
	if err != nil || res.Won() != 1 || len(res.Outcomes) != 4 {
		t.Fatalf("got %+v, %v; want no error, Won 1 and Outcomes of length 4", res, err)
	}
	o := res.Outcomes
	if !o[0].Won || o[0].Question.State != protocol.QuestionAllowed || o[0].Question.AnsweredBy != "owner w" {
		t.Errorf("the first: got %+v, want it allowed by w", o[0])
	}
	if !errors.Is(o[1].Error, protocol.ErrConflict) || !errors.Is(o[2].Error, protocol.ErrNotFound) {
		t.Errorf("the second and third: got %v, %v; want a conflict and not found", o[1].Error, o[2].Error)
	}
	if o[3].Won || o[3].Question.AnsweredBy != "owner phone" {
		t.Errorf("the one that was answered before: %+v", o[3])
	}
	if open, _ := g.Pending(t.Context()); len(open) != 2 {
		t.Errorf("%d are open, want 2", len(open))
	}
}

func TestOneAnswerForManyMakesItsRuleOnce(t *testing.T) {
	g, _ := openManager(t)
	list := openMany(t, g, 3)
	list[0].Hash = "another"
	res, err := g.AnswerAll(t.Context(), auth.Owner("w"), protocol.QuestionAnswerAllParams{Questions: list, Decision: protocol.DecisionAllow, Scope: protocol.ScopeAlways, Offers: []int{0}})
	if err != nil || res.Won() != 2 {
		t.Fatalf("got %+v, %v; want no error and Won 2", res, err)
	}
	if a, b := res.Outcomes[1].Question, res.Outcomes[2].Question; a.Scope != protocol.ScopeAlways || len(a.Chosen) != 1 || b.Scope != protocol.ScopeOnce || len(b.Chosen) != 0 {
		t.Errorf("got scopes %q %v and %q %v, want always with one choice and once with none", a.Scope, a.Chosen, b.Scope, b.Chosen)
	}
}

func TestTwoAnswersForManyShareThem(t *testing.T) {
	g, _ := openManager(t)
	list := openMany(t, g, 50)
	var wg sync.WaitGroup
	var won [2]protocol.QuestionAnswerAllResult
	for i, decision := range []string{protocol.DecisionAllow, protocol.DecisionDeny} {
		wg.Go(func() {
			var err error
			if won[i], err = g.AnswerAll(t.Context(), auth.Owner(decision), protocol.QuestionAnswerAllParams{Questions: list, Decision: decision}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := won[0].Won() + won[1].Won(); n != 50 {
		t.Errorf("%d answers won, want 50", n)
	}
	for i := range list {
		a, b := won[0].Outcomes[i], won[1].Outcomes[i]
		if a.Won == b.Won || a.Question.AnsweredBy != b.Question.AnsweredBy {
			t.Errorf("question %d ended as %+v and %+v, want one winner and the same end", i, a.Question, b.Question)
		}
	}
}

func TestAnswerAllRefusesNoneAndTooMany(t *testing.T) {
	g, _ := openManager(t)
	for _, n := range []int{0, protocol.MaxAnswers + 1} {
		p := protocol.QuestionAnswerAllParams{Questions: make([]protocol.ShownQuestion, n), Decision: protocol.DecisionDeny}
		if _, err := g.AnswerAll(t.Context(), auth.Owner("w"), p); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("%d questions: %v, want error ErrBadRequest", n, err)
		}
	}
}
