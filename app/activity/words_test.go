package activity

import (
	"slices"
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

var activityNoon = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

// activityTexts returns the lines as texts: "# Heading", "title | text | detail", with "!" before
// what needs the person and "x" before failures.
func activityTexts(a View, v feed.View) (lines []string) {
	for _, l := range a.Lines(v, activityNoon) {
		text := l.Title + " | " + l.Text + " | " + l.Detail
		switch {
		case l.Heading:
			text = "# " + l.Title
		case l.NeedsYou:
			text = "! " + text
		case l.Failed:
			text = "x " + text
		}
		lines = append(lines, text)
	}
	return lines
}

func TestActivityOfAQuietDay(t *testing.T) {
	t.Parallel()
	got := activityTexts(View{Loaded: true}, feed.View{})
	want := []string{
		"# Cost", "Today | 0 tokens | $0.00", "This month | 0 tokens | $0.00", "Set a budget | The agent stops at this amount. | ",
		"# Now", "Nothing is running, and nothing needs you. |  | ",
		"# Today", "Nothing was changed or run today. |  | ", "Open the audit log |  | ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestActivityCountsEverythingThatNeedsThePerson(t *testing.T) {
	t.Parallel()
	v := feed.View{
		Questions: feed.Questions{
			Pending: []protocol.Question{{ID: "1"}, {ID: "d", Pairing: &protocol.PairingSubject{}}, {ID: "a", App: &protocol.AppSubject{}}, {ID: "s", Input: &protocol.InputSubject{}}},
		},
	}
	if got := nowLines(v); len(got) != 1 || got[0].Title != "4 questions need you" {
		t.Errorf("got %+v, want 4 questions", got)
	}
}

func TestOnlyFinishedCallsHaveATick(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{
		protocol.CallDone: "check", protocol.CallFailed: "cross", protocol.CallCancelled: "stop", protocol.CallUnknown: "question",
	} {
		a := View{Calls: []protocol.AuditEntry{{Kind: protocol.AuditCall, Verdict: "allow", State: state}}}
		if got := a.todayLines(feed.View{}, activityNoon)[1].Icon; got != want {
			t.Errorf("%s: got %s, want %s", state, got, want)
		}
	}
}

func TestActivityOfABusyDay(t *testing.T) {
	t.Parallel()
	v := feed.View{
		Sessions:  feed.Sessions{List: []protocol.SessionEntry{{SessionKey: "a", Title: "The parser"}, {SessionKey: "b", Title: "Photos"}}},
		Questions: feed.Questions{Pending: []protocol.Question{{ID: "1"}, {ID: "2"}}},
		Runs: feed.Runs{List: []protocol.RunInfo{
			{SessionKey: "a", State: protocol.RunWaiting}, {SessionKey: "b", State: protocol.RunQueued}, {SessionKey: "b", State: protocol.RunFailed},
		}},
		Transfers: feed.Transfers{List: []protocol.Transfer{{ID: "t"}}},
		Status:    feed.Status{Status: protocol.Status{Paused: true}},
		Machines:  []protocol.NodeInfo{{ID: "n", Name: "tower"}},
	}
	at := activityNoon.Add(-time.Hour).UnixMilli()
	call := func(tool, what, verdict, state string) protocol.AuditEntry {
		return protocol.AuditEntry{Kind: protocol.AuditCall, At: at, Node: "n", By: "owner", SessionKey: "a", Tool: tool, What: what, Verdict: verdict, State: state}
	}
	a := View{Loaded: true, Calls: []protocol.AuditEntry{
		call("Bash", "make", "allow", protocol.CallDone), call("Edit", "a.go", "allow", protocol.CallDone), call("Write", "a.go", "allow", protocol.CallFailed),
		call("Bash", "rm -rf /", "deny", protocol.CallDenied), call("Process", "kill", "allow", protocol.CallDone),
		call("Transfer", "n:a to n:b", "allow", protocol.CallDone), call("Transfer", "n:a to n:b", "allow", protocol.CallDone),
	}}
	a.Calls[len(a.Calls)-1].Undo = true
	a.Usage = protocol.UsageReportResult{
		Today: protocol.Spending{Cost: 0.42, Tokens: 42_000}, Month: protocol.Spending{Cost: 3.1, Tokens: 1_200_000},
		Budget: protocol.Budget{DailyUSD: 5, MonthlyUSD: 3},
		Days: []protocol.UsageDay{
			{Day: "2026-03-28", Models: []protocol.ModelUsage{{Model: protocol.ModelRef{ID: "large"}, Steps: 1, Input: 42_000, Cost: 0.42}}},
			{Day: "2026-03-26", Models: []protocol.ModelUsage{{Model: protocol.ModelRef{ID: "new"}, Steps: 2, Unpriced: 2, Input: 10}}},
		},
	}
	want := []string{
		"# Cost", "Today | $4.58 left · 42k tokens | $0.42 of $5.00",
		"! This month | Budget reached. The agent is stopped until next month, or until you raise the budget. | $3.10 of $3.00",
		"Change the budget | The agent stops at this amount. | ",
		"# Now", "! 2 questions need you |  | ", "The parser | Waiting for you | ", "Photos | Waiting for its turn | ",
		"1 transfer | In progress or waiting | ", "The agent is paused |  | ",
		"# Today", "1 command · 1 file changed · 1 transfer · 2 other actions · 1 denied |  | ",
		"You: run “make” on tower |  | 11:00", "You: edit a.go on tower |  | 11:00",
		"x You: write a.go on tower | Failed | 11:00", "x You: run “rm -rf /” on tower | Denied | 11:00",
		"You: use Process: kill on tower |  | 11:00", "Sent a from tower to tower |  | 11:00", "Undid the transfer of a from tower to tower |  | 11:00", "Open the audit log |  | ",
		"# Cost by day and model",
		"Today · large | 1 step, 42k tokens | $0.42", "Thursday, 26 March · new | 2 steps, 10 tokens | price unknown",
	}
	if got := activityTexts(a, v); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestReachedBudgetNeedsThePerson(t *testing.T) {
	t.Parallel()
	for name, u := range map[string]protocol.UsageReportResult{
		"dollars": {Today: protocol.Spending{Cost: 5}, Budget: protocol.Budget{DailyUSD: 5}},
		"tokens":  {Today: protocol.Spending{Tokens: 100}, Budget: protocol.Budget{DailyTokens: 100}},
	} {
		t.Run(name, func(t *testing.T) {
			lines := View{Loaded: true, Usage: u}.Lines(feed.View{}, activityNoon)
			i := slices.IndexFunc(lines, func(l line) bool { return l.NeedsYou })
			if i < 0 || lines[i].Opens != budget {
				t.Errorf("got %+v, want a line that needs the person and opens the budget", lines)
			}
		})
	}
}

func TestBudgetsSayWhatIsLeft(t *testing.T) {
	t.Parallel()
	used := protocol.UsageReportResult{Today: protocol.Spending{Cost: 0.42, Tokens: 42_000}, Month: protocol.Spending{Cost: 3.1, Tokens: 1_200_000}}
	for name, c := range map[string]struct {
		budget protocol.Budget
		want   []string
	}{
		"none":    {protocol.Budget{}, []string{"42k tokens | $0.42", "1.2M tokens | $3.10"}},
		"a day":   {protocol.Budget{DailyUSD: 5}, []string{"$4.58 left · 42k tokens | $0.42 of $5.00", "1.2M tokens | $3.10"}},
		"a month": {protocol.Budget{MonthlyUSD: 10}, []string{"42k tokens | $0.42", "$6.90 left · 1.2M tokens | $3.10 of $10.00"}},
		"tokens":  {protocol.Budget{DailyTokens: 100_000}, []string{"42k of 100k tokens, 58k left | $0.42", "1.2M tokens | $3.10"}},
	} {
		t.Run(name, func(t *testing.T) {
			used.Budget = c.budget
			got := lists.Map(View{Usage: used}.costLines()[:2], func(l line) string { return l.Text + " | " + l.Detail })
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestCostOfModelsWithoutAPriceIsUnknown(t *testing.T) {
	u := protocol.UsageReportResult{
		Today: protocol.Spending{Tokens: 100}, Month: protocol.Spending{Tokens: 100},
		Days: []protocol.UsageDay{{Day: "2026-03-28", Models: []protocol.ModelUsage{{Model: protocol.ModelRef{ID: "local"}, Steps: 1, Unpriced: 1, Input: 100}}}},
	}
	u.Budget.DailyUSD = 5
	check := func(model string, want ...string) {
		t.Helper()
		got := lists.Map(View{Usage: u}.costLines(), func(l line) string { return l.Title + " | " + l.Text + " | " + l.Detail })
		if !slices.Equal(got, want) {
			t.Errorf("%s: got  %q\nwant %q", model, got, want)
		}
	}
	const change = "Change the budget | The agent stops at this amount. | "
	check("without a price", "Today | 100 tokens | price unknown", "This month | 100 tokens | price unknown",
		"The prices of your models are unknown | Only a budget of tokens stops the agent. | ", change)
	u.Days[0].Models[0].Unpriced = 0
	check("a free model", "Today | $5.00 left · 100 tokens | $0.00 of $5.00", "This month | 100 tokens | $0.00", change)
}
