package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

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
		r, err := OpenRules(t.Context(), s.Rules, s.Grants, RulesOptions{Config: func() config.ToolApproval { return config.Default().ToolApproval }})
		if err != nil {
			t.Fatal(err)
		}
		sub := g.bus.Subscribe()
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
				res, err := g.Answer(context.Background(), decision, protocol.QuestionAnswerParams{ID: a.ID, Hash: a.Hash, Decision: decision})
				mu.Lock()
				defer mu.Unlock()
				if res.Won {
					won++
				}
				if err != nil || res.Question.State == protocol.QuestionPending {
					t.Errorf("%s: %v %s", decision, err, res.Question.State)
				}
			})
		}
		wg.Go(func() {
			rule := put(t, r, `{"tool":"Bash","argv":["ls"],"verdict":"allow"}`)
			if err := g.Review(context.Background(), func(protocol.Question) bool { return r.Evaluate(command("ls")).Verdict == policy.Allow }); err != nil {
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
			t.Fatalf("%d answers won and the question is %s", won, end.State)
		}
		if d := r.Evaluate(command("ls")); d.Verdict != policy.Ask {
			t.Fatalf("after the rule was deleted: %+v", d)
		}
		// The same call under other rules is another approval: the old answer does not apply.
		next := question()
		next.ID, next.State, next.Policy = "next", protocol.QuestionPending, "other rules"
		if next.Hash, err = hashOf(next); err != nil || next.Hash == a.Hash {
			t.Fatalf("%v: the policy is not in the hash", err)
		}
		if err := s.Approvals.Put(t.Context(), next, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Answer(t.Context(), "late", protocol.QuestionAnswerParams{ID: next.ID, Hash: a.Hash, Decision: protocol.DecisionAllow}); !errors.Is(err, protocol.ErrConflict) {
			t.Fatalf("an old hash answers: %v", err)
		}
	}
}

// TestRuleGoesWhileCallsAreDecided deletes and restores a rule while calls are decided: each
// decision uses the rules of one moment, and never mixes the verdict of one rule with the reason of
// another.
func TestRuleGoesWhileCallsAreDecided(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	rule := put(t, r, `{"tool":"Bash","argv":["make"],"verdict":"allow","reason":"builds are fine"}`)
	put(t, r, `{"tool":"Bash","argv":["rm","**"],"verdict":"deny"}`)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				d := r.Evaluate(command("make"))
				if (d.Verdict == policy.Allow) != (d.Rule == rule.ID) || d.Verdict == policy.Deny {
					t.Errorf("%+v", d)
				}
				if d := r.Evaluate(command("make; rm x")); d.Verdict != policy.Deny {
					t.Errorf("%+v", d)
				}
			}
		})
	}
	for range 5 {
		if err := r.Delete(t.Context(), "ann", rule.ID); err != nil {
			t.Error(err)
		}
		if _, err := r.Put(t.Context(), "ann", protocol.RulePutParams{ID: rule.ID, Policy: json.RawMessage(`{"tool":"Bash","argv":["make"],"verdict":"deny"}`)}); !errors.Is(err, protocol.ErrNotFound) {
			t.Errorf("a deleted rule was changed: %v", err)
		}
		if err := r.Restore(t.Context(), "ann", rule.ID); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
}

// TestAnswersAtTheSameInstantMakeARuleOnce: two windows answer two similar approvals with the scope
// always.
func TestAnswersAtTheSameInstantMakeARuleOnce(t *testing.T) {
	r := rulesOf(t, config.Default().ToolApproval)
	q := command("go vet ./gateway")
	d := r.Evaluate(q)
	if d.Verdict != policy.Ask || len(d.Offers) == 0 {
		t.Fatalf("%+v", d)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		a := protocol.Question{ID: protocol.QuestionID(fmt.Sprint("q", i)), Node: q.Node, Preview: q.Preview, Offers: offersOf(t, r, d), Chosen: []int{0}, Scope: protocol.ScopeAlways}
		a.Offers = append(slices.Clone(a.Offers), a.Offers[0]) // the same twice in one answer, too
		a.Chosen = append(a.Chosen, len(a.Offers)-1)
		wg.Go(func() {
			if err := save(context.Background(), r, a); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	again, err := OpenRules(t.Context(), r.store, r.grants, RulesOptions{Config: r.config})
	if err != nil {
		t.Fatal(err)
	}
	for _, have := range []*Rules{r, again} {
		if list := have.List().Rules; len(list) != 1 {
			t.Errorf("%d rules were made: %+v", len(list), list)
		}
	}
}
