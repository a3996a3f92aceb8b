package question

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// TestAnswersRaceWithRules answers an approval from two windows while a rule that decides it is
// made and deleted: it is closed once, everyone gets the same outcome, and the next approval
// accepts no answer to this one.
func TestAnswersRaceWithRules(t *testing.T) {
	for range 6 {
		g, s := openManager(t)
		r, err := approval.OpenRules(t.Context(), s.Rules, s.Grants, approval.RulesOptions{Config: config.Default})
		if err != nil {
			t.Fatal(err)
		}
		sub := g.Display.bus.Subscribe()
		ended := make(chan protocol.Question, 1)
		go func() {
			a, err := g.Ask(context.Background(), question(), 0, nil)
			if err != nil {
				t.Error(err)
			}
			ended <- a
		}()
		a := pending(t, g, sub)
		var mu sync.Mutex
		won := 0
		var wg sync.WaitGroup
		for _, decision := range []string{protocol.DecisionAllow, protocol.DecisionDeny} {
			wg.Go(func() {
				res, err := g.Answer(context.Background(), auth.Owner(decision), protocol.QuestionAnswerParams{ID: a.ID, Hash: a.Hash, Decision: decision})
				mu.Lock()
				defer mu.Unlock()
				if res.Won {
					won++
				}
				if err != nil || res.Question.State == protocol.QuestionPending {
					t.Errorf("%s: got %v %s; want no error and Question.State other than QuestionPending", decision, err, res.Question.State)
				}
			})
		}
		wg.Go(func() {
			rule, err := r.Put(context.Background(), "ann", protocol.RulePutParams{Policy: json.RawMessage(`{"tool":"Bash","argv":["ls"],"verdict":"allow"}`)})
			if err != nil {
				t.Error(err)
			}
			if err := g.Review(context.Background(), func(protocol.Question) bool { return r.Evaluate(ls).Verdict == policy.Allow }); err != nil {
				t.Error(err)
			}
			if err := r.Delete(context.Background(), "ann", rule.ID); err != nil {
				t.Error(err)
			}
		})
		end := <-ended
		wg.Wait()
		sub.Close()
		if superseded := end.State == protocol.QuestionSuperseded; superseded == (won == 1) || won > 1 {
			t.Fatalf("%d answers won and the question is %s; want at most 1", won, end.State)
		}
		if d := r.Evaluate(ls); d.Verdict != policy.Ask {
			t.Fatalf("after the rule was deleted: %+v", d)
		}
		// The same call under other rules is another approval: the old answer does not apply.
		next := question()
		next.ID, next.State, next.Policy = "next", protocol.QuestionPending, "other rules"
		if next.Hash, err = hashOf(next); err != nil || next.Hash == a.Hash {
			t.Fatalf("%v: the policy is not in the hash", err)
		}
		if err := s.Questions.Put(t.Context(), next, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Answer(t.Context(), auth.Owner("late"), protocol.QuestionAnswerParams{ID: next.ID, Hash: a.Hash, Decision: protocol.DecisionAllow}); !errors.Is(err, protocol.ErrConflict) {
			t.Fatalf("an old hash answers: %v", err)
		}
	}
}

var ls = policy.Request{
	Tool: "n__Bash", Node: "n", Bare: "Bash", Effect: protocol.EffectExec, Args: json.RawMessage(`{"command":"ls"}`), Session: "chat",
	Host: &protocol.HostInfo{Workspace: "/srv/app"}, Preview: &protocol.CallPreview{Folder: "/srv/app", Shell: "/bin/bash"},
}
