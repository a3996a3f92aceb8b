package state

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// ActivityView is what was loaded for the page of activity.
type ActivityView struct {
	Loaded  bool
	Problem string                     // reason why loading failed
	Calls   []protocol.AuditEntry      // today's calls with an effect, newest first
	More    bool                       // there were more calls today
	Usage   protocol.UsageReportResult // of the last days
}

// Activity is the view model of the page of activity. Its methods are safe for concurrent use.
type Activity struct{ feed.Loader[ActivityView] }

// maxActivity is the maximum number of calls on the page; activityDays is the number of days with
// their cost.
const (
	maxActivity  = 200
	activityDays = 30
)

// NewActivity returns an empty view model; Follow loads it.
func NewActivity(f *feed.Feed) *Activity {
	m := &Activity{}
	m.Loader = feed.Loader[ActivityView]{
		Value: feed.NewValue(ActivityView{}), Feed: f, Fetch: m.fetch, Problem: func(v *ActivityView) *string { return &v.Problem }, Interval: time.Minute,
		Facts: []feed.Fact{f.Changed, f.Status, f.Calls, f.Questions, f.Runs},
		Key: func(v feed.View) string {
			key := fmt.Sprint(v.Changed.Config, v.Status.Connected, len(v.Calls), v.Needs())
			for _, r := range v.Runs.List {
				key += fmt.Sprint(" ", r.RunID, r.Step, r.Over())
			}
			return key
		},
	}
	return m
}

func (m *Activity) fetch(ctx context.Context) (func(*ActivityView), error) {
	now := time.Now()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	calls, err := feed.Call(ctx, m.Feed, protocol.AuditList, protocol.AuditListParams{Kind: protocol.AuditCall, After: today.UnixMilli(), Limit: maxActivity})
	if err != nil {
		return nil, err
	}
	usage, err := feed.Call(ctx, m.Feed, protocol.UsageReport, protocol.UsageReportParams{Days: activityDays})
	if err != nil {
		return nil, err
	}
	return func(v *ActivityView) {
		*v = ActivityView{Loaded: true, Calls: calls.Entries, More: calls.More, Usage: usage}
	}, nil
}

// ActivityTarget is what a line of the page opens.
type ActivityTarget int

// Targets of lines.
const (
	OpenNothing ActivityTarget = iota
	OpenApprovals
	OpenChat // the line's Chat
	OpenTransfers
	OpenAuditLog
	OpenBudget
)

// ActivityLine is a line of the page.
type ActivityLine struct {
	Heading, NeedsYou, Failed bool
	Icon, Title, Text, Detail string
	FullTime                  string // of Detail, if that is a time
	Opens                     ActivityTarget
	Chat                      protocol.SessionKey
}

// Lines returns the lines of the page: the cost and its limits, what happens now, what happened
// today, and the cost of each day and model.
func (a ActivityView) Lines(v feed.View, now time.Time) (lines []ActivityLine) {
	for _, part := range []struct {
		title string
		lines []ActivityLine
	}{{"Cost", a.costLines()}, {"Now", nowLines(v)}, {"Today", a.todayLines(v, now)}, {"Cost by day and model", a.modelLines(now)}} {
		if len(part.lines) > 0 {
			lines = append(append(lines, ActivityLine{Heading: true, Title: part.title}), part.lines...)
		}
	}
	return lines
}

func nowLines(v feed.View) (lines []ActivityLine) {
	if n := v.Needs(); n > 0 {
		lines = append(lines, ActivityLine{NeedsYou: true, Icon: "needsyou", Title: wording.Plural(n, "question needs you", "questions need you"), Opens: OpenApprovals})
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
		lines = append(lines, ActivityLine{Icon: "chat", Title: v.ChatName(r.SessionKey), Text: text, Opens: OpenChat, Chat: r.SessionKey})
	}
	if n := len(v.Transfers.List); n > 0 {
		lines = append(lines, ActivityLine{Icon: "transfer", Title: wording.Plural(n, "transfer", "transfers"), Text: "In progress or waiting", Opens: OpenTransfers})
	}
	if v.Status.Paused {
		lines = append(lines, ActivityLine{Icon: "pause", Title: "The agent is paused"})
	}
	if len(lines) == 0 {
		lines = append(lines, ActivityLine{Icon: "check", Title: "Nothing is running, and nothing needs you."})
	}
	return lines
}

func (a ActivityView) todayLines(v feed.View, now time.Time) []ActivityLine {
	if len(a.Calls) == 0 {
		return []ActivityLine{
			{Icon: "activity", Title: "Nothing was changed or run today."},
			{Icon: "list", Title: "Open the audit log", Opens: OpenAuditLog},
		}
	}
	lines := []ActivityLine{{Icon: "activity", Title: a.summary()}}
	for _, e := range a.Calls {
		title, text := AuditLine(e, v)
		title, _ = wording.Reveal(title)
		text, _ = wording.Reveal(format.Capital(text))
		line := ActivityLine{Title: title, Text: text, Detail: wording.When(e.At, now)}
		line.Icon, line.Failed, line.NeedsYou = AuditIcon(e)
		line.FullTime = wording.FullTime(e.At, now)
		if e.SessionKey != "" {
			line.Opens, line.Chat = OpenChat, e.SessionKey
		}
		lines = append(lines, line)
	}
	title := "Open the audit log"
	if a.More {
		title = "Earlier calls of today are in the audit log"
	}
	return append(lines, ActivityLine{Icon: "list", Title: title, Opens: OpenAuditLog})
}

// summary counts today's calls, such as "3 commands · 2 files changed · 1 denied".
func (a ActivityView) summary() string {
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

func (a ActivityView) costLines() []ActivityLine {
	u := a.Usage
	b := u.Budget
	today := ActivityLine{Icon: "clock", Title: "Today", Detail: ofLimit(a.spent(u.Today), b.DailyUSD, Dollars(b.DailyUSD)), Opens: OpenBudget}
	today.Text = ofLimit(wording.Tokens(u.Today.Tokens), float64(b.DailyTokens), wording.Tokens(int64(b.DailyTokens))) + " tokens"
	month := ActivityLine{Icon: "calendar", Title: "This month", Detail: ofLimit(a.spent(u.Month), b.MonthlyUSD, Dollars(b.MonthlyUSD)), Opens: OpenBudget}
	month.Text = wording.Tokens(u.Month.Tokens) + " tokens"
	switch {
	case isUsedUp(u.Today.Cost, b.DailyUSD), isUsedUp(float64(u.Today.Tokens), float64(b.DailyTokens)):
		today.NeedsYou, today.Text = true, "Budget reached. The agent is stopped until tomorrow, or until you raise the budget."
	case isUsedUp(u.Month.Cost, b.MonthlyUSD):
		month.NeedsYou, month.Text = true, "Budget reached. The agent is stopped until next month, or until you raise the budget."
	}
	lines := []ActivityLine{today, month, {Icon: "settings", Title: "Set a budget", Text: "The agent stops at this amount.", Opens: OpenBudget}}
	if b != (protocol.Budget{}) {
		lines[2].Title = "Change the budget"
	}
	return lines
}

func (a ActivityView) modelLines(now time.Time) (lines []ActivityLine) {
	for _, d := range a.Usage.Days {
		for _, m := range d.Models {
			lines = append(lines, modelLine(d.Day, m, now))
		}
	}
	return lines
}

const priceUnknown = "price unknown"

// spent formats a cost, unless no model that was used has a known price.
func (a ActivityView) spent(s protocol.Spending) string {
	for _, d := range a.Usage.Days {
		for _, m := range d.Models {
			if m.Unpriced < m.Steps {
				return Dollars(s.Cost)
			}
		}
	}
	if s.Tokens > 0 && s.Cost == 0 {
		return priceUnknown
	}
	return Dollars(s.Cost)
}

func modelLine(day string, m protocol.ModelUsage, now time.Time) ActivityLine {
	name := day
	if t, err := time.ParseInLocation(time.DateOnly, day, now.Location()); err == nil {
		name = DayName(t, now)
	}
	cost := Dollars(m.Cost)
	if m.Unpriced == m.Steps {
		cost = priceUnknown
	}
	return ActivityLine{Icon: "activity", Title: name + " · " + m.Model.ID, Text: wording.Plural(m.Steps, "step", "steps") + ", " + wording.Tokens(m.Tokens()) + " tokens", Detail: cost}
}

func isUsedUp(used, limit float64) bool { return limit > 0 && used >= limit }

// ofLimit returns "used of limit", or used without a limit.
func ofLimit(used string, limit float64, text string) string {
	if limit == 0 {
		return used
	}
	return used + " of " + text
}

// Dollars formats a cost.
func Dollars(v float64) string {
	if v > 0 && v < 0.01 {
		return "under $0.01"
	}
	return fmt.Sprintf("$%.2f", v)
}

// DayName formats a day: "Today", "Yesterday", "Sunday, 3 May", "3 May 2025".
func DayName(t, now time.Time) string {
	day := func(t time.Time) int { return t.Year()*1000 + t.YearDay() }
	switch {
	case day(t) == day(now):
		return "Today"
	case day(t) == day(now.AddDate(0, 0, -1)):
		return "Yesterday"
	case t.Year() == now.Year():
		return t.Format("Monday, 2 January")
	}
	return t.Format("2 January 2006")
}
