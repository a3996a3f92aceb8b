package activity

import (
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Targets of lines.
const (
	auditLog = host.Page("Audit log")
	budget   = host.Setting("budget")
)

// line is a line of the page.
type line struct {
	Heading, NeedsYou, Failed bool
	Icon, Title, Text, Detail string
	FullTime                  string      // of Detail, if that is a time
	Opens                     host.Target // nil for nothing
}

// Lines returns the lines of the page: the cost and its limits, what happens now, what happened
// today, and the cost of each day and model.
func (a View) Lines(v feed.View, now time.Time) (lines []line) {
	for _, part := range []struct {
		title string
		lines []line
	}{{"Cost", a.costLines()}, {"Now", nowLines(v)}, {"Today", a.todayLines(v, now)}, {"Cost by day and model", a.modelLines(now)}} {
		if len(part.lines) > 0 {
			lines = append(append(lines, line{Heading: true, Title: part.title}), part.lines...)
		}
	}
	return lines
}

func nowLines(v feed.View) (lines []line) {
	if n := v.Needs(); n > 0 {
		lines = append(lines, line{NeedsYou: true, Icon: "needsyou", Title: format.Plural(n, "question needs you", "questions need you"), Opens: host.Question("")})
	}
	for _, r := range v.Runs.List {
		if r.Over() {
			continue
		}
		text := "Working"
		switch r.State {
		case protocol.RunQueued:
			text = "Waiting for its turn"
		case protocol.RunWaiting:
			text = "Waiting for you"
		}
		lines = append(lines, line{Icon: "chat", Title: v.ChatName(r.SessionKey), Text: text, Opens: host.Chat{Key: r.SessionKey}})
	}
	if n := len(v.Transfers.List); n > 0 {
		lines = append(lines, line{Icon: "transfer", Title: format.Plural(n, "transfer"), Text: "In progress or waiting", Opens: host.Transfers})
	}
	if v.Status.Paused {
		lines = append(lines, line{Icon: "pause", Title: "The agent is paused"})
	}
	if len(lines) == 0 {
		lines = append(lines, line{Icon: "check", Title: "Nothing is running, and nothing needs you."})
	}
	return lines
}

func (a View) todayLines(v feed.View, now time.Time) []line {
	if len(a.Calls) == 0 {
		return []line{
			{Icon: "activity", Title: "Nothing was changed or run today."},
			{Icon: "list", Title: "Open the audit log", Opens: auditLog},
		}
	}
	lines := []line{{Icon: "activity", Title: a.summary()}}
	for _, e := range a.Calls {
		title, text := feed.AuditLine(e, v)
		title, _ = wording.Reveal(title)
		text, _ = wording.Reveal(format.Capital(text))
		l := line{Title: title, Text: wording.ShortenPaths(text), Detail: format.When(e.At, now)}
		l.Icon, l.Failed, l.NeedsYou = feed.AuditIcon(e)
		l.FullTime = wording.FullTime(e.At, now)
		if e.SessionKey != "" {
			l.Opens = host.Chat{Key: e.SessionKey}
		}
		lines = append(lines, l)
	}
	title := "Open the audit log"
	if a.More {
		title = "Earlier calls of today are in the audit log"
	}
	return append(lines, line{Icon: "list", Title: title, Opens: auditLog})
}

// summary counts today's calls, such as "3 commands · 2 files changed · 1 denied".
func (a View) summary() string {
	commands, transfers, denied, other := 0, 0, 0, 0
	files := make(map[string]bool)
	for _, e := range a.Calls {
		switch tool := protocol.ActsAs(e.Tool); {
		case e.Verdict == "deny":
			denied++
		case tool == "Bash":
			commands++
		case tool == "Write" || tool == "Edit":
			files[string(e.Node)+":"+e.What] = true
		case e.Tool == "Transfer" && e.State == protocol.CallRunning: // its end has an entry of its own
		case e.Tool == "Transfer" && !e.Undo:
			transfers++
		default:
			other++
		}
	}
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{commands, "command", "commands"},
		{len(files), "file changed", "files changed"},
		{transfers, "transfer", "transfers"},
		{other, "other action", "other actions"},
		{denied, "denied", "denied"},
	} {
		if p.n > 0 {
			parts = append(parts, format.Plural(p.n, p.one, p.many))
		}
	}
	text := strings.Join(parts, " · ")
	if a.More {
		return "Latest: " + text
	}
	return text
}

// costLines returns what was spent and what is left of the budgets.
func (a View) costLines() []line {
	u := a.Usage
	b := u.Budget
	today := a.costLine("clock", "Today", u.Today, b.DailyUSD, int64(b.DailyTokens))
	month := a.costLine("calendar", "This month", u.Month, b.MonthlyUSD, 0)
	switch {
	case isUsedUp(u.Today.Cost, b.DailyUSD), isUsedUp(float64(u.Today.Tokens), float64(b.DailyTokens)):
		today.NeedsYou, today.Text = true, "Budget reached. The agent is stopped until tomorrow, or until you raise the budget."
	case isUsedUp(u.Month.Cost, b.MonthlyUSD):
		month.NeedsYou, month.Text = true, "Budget reached. The agent is stopped until next month, or until you raise the budget."
	}
	lines := []line{today, month}
	if a.isUnpriced() {
		lines = append(lines, line{Icon: "question", Title: "The prices of your models are unknown", Text: "Only a budget of tokens stops the agent.", Opens: budget})
	}
	set := line{Icon: "settings", Title: "Set a budget", Text: "The agent stops at this amount.", Opens: budget}
	if b != (protocol.Budget{}) {
		set.Title = "Change the budget"
	}
	return append(lines, set)
}

// costLine returns the line of a period, whose limits may be 0 for none.
func (a View) costLine(icon, title string, s protocol.Spending, dollars float64, tokens int64) line {
	l := line{Icon: icon, Title: title, Text: wording.Tokens(s.Tokens) + " tokens", Detail: format.Dollars(s.Cost), Opens: budget}
	if tokens > 0 {
		l.Text = wording.Tokens(s.Tokens) + " of " + wording.Tokens(tokens) + " tokens, " + wording.Tokens(max(tokens-s.Tokens, 0)) + " left"
	}
	switch {
	case a.isUnpriced():
		l.Detail = priceUnknown
	case dollars > 0:
		l.Text = format.Dollars(max(dollars-s.Cost, 0)) + " left · " + l.Text
		l.Detail += " of " + format.Dollars(dollars)
	}
	return l
}

func (a View) modelLines(now time.Time) (lines []line) {
	for _, d := range a.Usage.Days {
		for _, m := range d.Models {
			lines = append(lines, modelLine(d.Day, m, now))
		}
	}
	return lines
}

const priceUnknown = "price unknown"

// isUnpriced reports whether models were used, none of which has a known price.
func (a View) isUnpriced() bool {
	for _, d := range a.Usage.Days {
		for _, m := range d.Models {
			if m.Unpriced < m.Steps {
				return false
			}
		}
	}
	return len(a.Usage.Days) > 0 && a.Usage.Month.Cost == 0
}

func modelLine(day string, m protocol.ModelUsage, now time.Time) line {
	name := day
	if t, err := time.ParseInLocation(time.DateOnly, day, now.Location()); err == nil {
		name = wording.DayName(t, now)
	}
	cost := format.Dollars(m.Cost)
	if m.Unpriced == m.Steps {
		cost = priceUnknown
	}
	return line{Icon: "activity", Title: name + " · " + m.Model.ID, Text: format.Plural(m.Steps, "step") + ", " + wording.Tokens(m.Tokens()) + " tokens", Detail: cost}
}

func isUsedUp(used, limit float64) bool { return limit > 0 && used >= limit }
