package inbox

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/pagetest"
	"fairlead/app/question"
	"fairlead/gateway/protocol"
)

// approvalWithRules is an approval that offers rules.
func approvalWithRules(id string) protocol.Question {
	q := ask(id, "make test")
	q.Choices = []string{protocol.ScopeOnce, protocol.ScopeSession, protocol.ScopeFolder, protocol.ScopeMachine, protocol.ScopeAlways}
	q.Offers = []protocol.RuleOffer{
		{Policy: json.RawMessage(`{"tool":"Bash","argv":["make","test"],"verdict":"allow"}`), Words: "Allow make test"},
		{Policy: json.RawMessage(`{"tool":"Bash","argv":["make","**"],"verdict":"allow"}`), Words: "Allow make with anything after it"},
	}
	for i, o := range q.Offers {
		q.Offers[i].As = map[string]protocol.RuleOffer{
			protocol.ScopeFolder: {
				Policy: json.RawMessage(strings.Replace(string(o.Policy), `,"verdict"`, `,"cwd":"/srv/parser/**","node":"server","verdict"`, 1)),
				Words:  o.Words + " in /srv/parser and below on server",
			},
			protocol.ScopeMachine: {Policy: o.Policy, Words: o.Words + " on server"},
			protocol.ScopeAlways:  o,
		}
	}
	return q
}

func TestRuleShowsOnHowManyCallsItWasTried(t *testing.T) {
	for looked, want := range map[int]string{0: question.NoCallsText, 1: "Checked against the last call: it allows nothing else.", 2: "Checked against the last 2 calls: it allows"} {
		b := newBench(t, approvalWithRules("q"))
		b.found = protocol.RuleTryResult{Looked: looked}
		b.wait(2 * time.Second)
		b.choose("Always in this folder")
		if markup := test.RenderObjectToMarkup(b.Box); !strings.Contains(markup, want) {
			t.Errorf("of %d: %q is not said", looked, want)
		}
	}
}

func TestRuleIsPreviewedBeforeItIsCreated(t *testing.T) {
	b := newBench(t, approvalWithRules("q"))
	b.found = protocol.RuleTryResult{Looked: 120, Changed: []protocol.RuleChange{{Call: protocol.JournalEntry{
		CallID: "c1", Tool: "Bash", Node: "server",
		Input: json.RawMessage(`{"command":"make test"}`),
	}, Was: "ask", Now: "allow"}}}
	b.wait(2 * time.Second)
	b.choose("Always in this folder")
	b.want()
	pagetest.Shot(b.t, b.window, "approve-rule")
	golden.Markup(t, "rule", b.Box)
	if len(b.tried) != 1 || !strings.Contains(b.tried[0], `"cwd":"/srv/parser/**"`) {
		t.Errorf("tried: got %v; want length 1 and `\"cwd\":\"/srv/parser/**\"` in tried[0]", b.tried)
	}
	if markup := test.RenderObjectToMarkup(b.Box); !strings.Contains(markup, "Checked against the last 120 calls: it also allows:") {
		t.Error("what it would also have allowed is not said")
	}
	test.Tap(b.frame.confirm) // it was not read
	b.want()
	b.wait(2 * time.Second)
	test.Tap(b.step.(*ruleStep).choices[1].press)
	test.Tap(b.frame.confirm) // it changed
	b.want()
	b.wait(2 * time.Second)
	test.Tap(b.frame.confirm)
	b.want("q allow folder")
	if got := b.replies[0]; !slices.Equal(got.Offers, []int{1}) || got.Until != 0 {
		t.Errorf("makes: got %+v; want Offers %v and Until 0", got, []int{1})
	}
}

func TestRuleGetsAnExpiryBeforeItIsCreated(t *testing.T) {
	b := newBench(t, approvalWithRules("q"))
	b.wait(2 * time.Second)
	b.choose("Always on this machine")
	b.wait(2 * time.Second)
	for _, item := range b.step.(*ruleStep).expiryMenu() {
		if item.Label == "For 30 days" {
			item.Action()
		}
	}
	test.Tap(b.frame.confirm) // the rule changed
	b.want()
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-rule-end")
	until := time.Unix(1000, 0).Add(4*time.Second).AddDate(0, 0, 30)
	if markup := test.RenderObjectToMarkup(b.Box); !strings.Contains(markup, "expires on "+until.Format("2 January 2006 15:04")) {
		t.Error("the end is not shown")
	}
	test.Tap(b.frame.confirm)
	b.want("q allow node")
	if got := b.replies[0].Until; got != until.UnixMilli() {
		t.Errorf("it ends at %v, not %v", time.UnixMilli(got), until)
	}
}

func TestRuleStepHasOneChoiceAndCanBeCancelled(t *testing.T) {
	b := newBench(t, approvalWithRules("q"))
	b.wait(2 * time.Second)
	b.choose("Always, everywhere")
	for _, i := range []int{0, 1, 1} {
		test.Tap(b.step.(*ruleStep).choices[i].press)
		if want := []int{i}; !slices.Equal(b.step.(*ruleStep).selected, want) {
			t.Errorf("selected: got %v, want %v", b.step.(*ruleStep).selected, want)
		}
	}
	b.wait(2 * time.Second)
	b.window.Canvas().Focus(b.frame.back)
	b.press(fyne.KeyEscape)
	if b.step != nil || !b.frame.questionRow.Visible() {
		t.Error("Escape does not lead back")
	}
	b.want()
}

func TestPreviewThatFailsSaysSo(t *testing.T) {
	b := newBench(t, approvalWithRules("q"))
	b.try = func(_ json.RawMessage, done func(protocol.RuleTryResult, error)) {
		done(protocol.RuleTryResult{}, errors.New("no journal"))
	}
	b.wait(2 * time.Second)
	b.choose("Always on this machine")
	if markup := test.RenderObjectToMarkup(b.Box); !strings.Contains(markup, "no journal") {
		t.Error("the failure is not said")
	}
}
