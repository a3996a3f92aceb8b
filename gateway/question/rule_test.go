package question

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

func TestRuleMadeAtAQuestionEndsWhenThePersonSaid(t *testing.T) {
	g, s := openManager(t)
	q := question()
	q.ID, q.State, q.Hash = "q", protocol.QuestionPending, "h"
	q.Choices = []string{protocol.ScopeOnce, protocol.ScopeAlways}
	q.Offers = []protocol.RuleOffer{{Policy: json.RawMessage(`{"tool":"Bash","argv":["ls"],"verdict":"allow"}`)}}
	if err := s.Questions.Put(t.Context(), q, nil); err != nil {
		t.Fatal(err)
	}
	until := time.Now().Add(time.Hour)
	answer := protocol.QuestionAnswerParams{ID: "q", Hash: "h", Decision: protocol.DecisionAllow, Scope: protocol.ScopeAlways, Until: until.UnixMilli()}
	for _, wrong := range []protocol.QuestionAnswerParams{{Scope: protocol.ScopeOnce, Until: answer.Until}, {Scope: protocol.ScopeAlways, Until: 1}} {
		wrong.ID, wrong.Hash, wrong.Decision = answer.ID, answer.Hash, answer.Decision
		if _, err := g.Answer(t.Context(), auth.Owner("w"), wrong); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("scope %s until %d: got %v, want a bad request", wrong.Scope, wrong.Until, err)
		}
	}
	r, err := g.Answer(t.Context(), auth.Owner("w"), answer)
	if err != nil || !r.Won {
		t.Fatalf("got %v; want no error and Won", err)
	}
	list := g.rules.(*approval.Rules).List().Rules
	if want := " until " + until.Truncate(time.Second).Local().Format("2 January 2006 15:04"); len(list) != 1 || !strings.HasSuffix(list[0].Words, want) {
		t.Errorf("got %+v; want length 1 and a list[0].Words that ends with %v", list, want)
	}
	var p policy.Rule
	if json.Unmarshal(list[0].Policy, &p) != nil || !p.Expires.Equal(until.Truncate(time.Second)) {
		t.Errorf("it ends %v, not %v", p.Expires, until)
	}
}
