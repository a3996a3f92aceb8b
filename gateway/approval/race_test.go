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

// TestRuleCanBeDeletedWhileCallsAreDecided deletes and restores a rule while calls are decided:
// each decision uses the rules of one moment, and never mixes the verdict of one rule with the
// reason of another.
func TestRuleCanBeDeletedWhileCallsAreDecided(t *testing.T) {
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
					t.Errorf("got %+v; want verdict allow by the rule, or ask", d)
				}
				if d := r.Evaluate(command("make; rm x")); d.Verdict != policy.Deny {
					t.Errorf("got %+v; want Verdict Deny", d)
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
		t.Fatalf("got %+v; want Verdict Ask and some Offers", d)
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
			t.Errorf("got %d rules %+v, want 1", len(list), list)
		}
	}
}
