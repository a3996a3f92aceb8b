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
		lines = append(lines, line{NeedsYou: true, Icon: "needsyou", Title: wording.Plural(n, "question needs you", "questions need you"), Opens: host.Question("")})
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
		lines = append(lines, line{Icon: "transfer", Title: wording.Plural(n, "transfer", "transfers"), Text: "In progress or waiting", Opens: host.Page("Transfers")})
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
		l := line{Title: title, Text: text, Detail: wording.When(e.At, now)}
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
		case e.Tool == "Transfer":
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
			parts = append(parts, wording.Plural(p.n, p.one, p.many))
		}
	}
	text := strings.Join(parts, " · ")
	if a.More {
		return "Latest: " + text
	}
	return text
}

func (a View) costLines() []line {
	u := a.Usage
	b := u.Budget
	today := line{Icon: "clock", Title: "Today", Detail: ofLimit(a.spent(u.Today), b.DailyUSD, wording.Dollars(b.DailyUSD)), Opens: budget}
	today.Text = ofLimit(wording.Tokens(u.Today.Tokens), float64(b.DailyTokens), wording.Tokens(int64(b.DailyTokens))) + " tokens"
	month := line{Icon: "calendar", Title: "This month", Detail: ofLimit(a.spent(u.Month), b.MonthlyUSD, wording.Dollars(b.MonthlyUSD)), Opens: budget}
	month.Text = wording.Tokens(u.Month.Tokens) + " tokens"
	switch {
	case isUsedUp(u.Today.Cost, b.DailyUSD), isUsedUp(float64(u.Today.Tokens), float64(b.DailyTokens)):
		today.NeedsYou, today.Text = true, "Budget reached. The agent is stopped until tomorrow, or until you raise the budget."
	case isUsedUp(u.Month.Cost, b.MonthlyUSD):
		month.NeedsYou, month.Text = true, "Budget reached. The agent is stopped until next month, or until you raise the budget."
	}
	lines := []line{today, month, {Icon: "settings", Title: "Set a budget", Text: "The agent stops at this amount.", Opens: budget}}
	if b != (protocol.Budget{}) {
		lines[2].Title = "Change the budget"
	}
	return lines
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

// spent formats a cost, unless no model that was used has a known price.
func (a View) spent(s protocol.Spending) string {
	for _, d := range a.Usage.Days {
		for _, m := range d.Models {
			if m.Unpriced < m.Steps {
				return wording.Dollars(s.Cost)
			}
		}
	}
	if s.Tokens > 0 && s.Cost == 0 {
		return priceUnknown
	}
	return wording.Dollars(s.Cost)
}

func modelLine(day string, m protocol.ModelUsage, now time.Time) line {
	name := day
	if t, err := time.ParseInLocation(time.DateOnly, day, now.Location()); err == nil {
		name = wording.DayName(t, now)
	}
	cost := wording.Dollars(m.Cost)
	if m.Unpriced == m.Steps {
		cost = priceUnknown
	}
	return line{Icon: "activity", Title: name + " · " + m.Model.ID, Text: wording.Plural(m.Steps, "step", "steps") + ", " + wording.Tokens(m.Tokens()) + " tokens", Detail: cost}
}

func isUsedUp(used, limit float64) bool { return limit > 0 && used >= limit }

// ofLimit returns "used of limit", or used without a limit.
func ofLimit(used string, limit float64, text string) string {
	if limit == 0 {
		return used
	}
	return used + " of " + text
}
