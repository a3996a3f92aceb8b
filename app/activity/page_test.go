package activity

import (
	"slices"
	"testing"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

func sample() (feed.View, View) {
	v := feed.View{
		Sessions:  feed.Sessions{List: []protocol.SessionEntry{{SessionKey: "a", Title: "Refactor the parser"}}},
		Questions: feed.Questions{Pending: []protocol.Question{{ID: "1"}}},
		Runs:      feed.Runs{List: []protocol.RunInfo{{SessionKey: "a", State: protocol.RunThinking}}},
		Transfers: feed.Transfers{List: []protocol.Transfer{{ID: "t"}}},
		Machines:  []protocol.NodeInfo{{ID: "n", Name: "tower"}},
	}
	at := pagetest.Noon.UnixMilli()
	call := func(tool, what, verdict, end string) protocol.AuditEntry {
		return protocol.AuditEntry{Kind: protocol.AuditCall, At: at, Node: "n", By: "owner", SessionKey: "a", Tool: tool, What: what, Verdict: verdict, State: end}
	}
	model := protocol.ModelUsage{Model: protocol.ModelRef{Provider: "anthropic", ID: "large"}, Steps: 12, Input: 400_000, Output: 20_000, Cost: 1.42}
	return v, View{
		Loaded: true,
		Calls:  []protocol.AuditEntry{call("Bash", "make test", "allow", "done"), call("Edit", "/srv/parser.go", "allow", "done"), call("Bash", "rm -rf /", "deny", "denied")},
		Usage: protocol.UsageReportResult{
			Today: protocol.Spending{Cost: 1.42, Tokens: 420_000}, Month: protocol.Spending{Cost: 12, Tokens: 3_000_000}, Budget: protocol.Budget{DailyUSD: 1, MonthlyUSD: 20},
			Days: []protocol.UsageDay{{Day: "2026-03-28", Models: []protocol.ModelUsage{model}}, {Day: "2026-03-20", Models: []protocol.ModelUsage{model}}},
		},
	}
}

func TestLinesOpenTheirSubjectAndFitTheWindow(t *testing.T) {
	for _, c := range []struct {
		name          string
		mode          style.Mode
		width, height float32
	}{{"activity", style.Light, 880, 760}, {"activity-narrow", style.Dark, 480, 560}} {
		t.Run(c.name, func(t *testing.T) {
			pagetest.Start(t, c.mode)
			h := &pagetest.Host{}
			p := newPage(host.Env{Host: h}, func() { h.Did = append(h.Did, "reload") })
			p.now = pagetest.Clock
			w := pagetest.Window(t, p.Box, c.width, c.height)
			pagetest.Shows(t, p.Box, "Loading…")
			p.view, p.activity = sample()
			p.draw()
			pagetest.Shot(t, w, c.name)
			golden.Markup(t, c.name, p.Box)
			pagetest.Shows(t, p.Box, "1 question needs you", "Refactor the parser", "make test")
			for i := range p.lines {
				p.open(i)
			}
			opened := slices.Compact(h.Did)
			want := []string{"setting budget", "question ", "chat {a  <nil>}", "page Transfers", "chat {a  <nil>}", "page Audit log"}
			if !slices.Equal(opened, want) {
				t.Errorf("got %q, want %q", opened, want)
			}
			p.activity = View{Problem: "No connection."}
			p.draw()
			pagetest.Shows(t, p.Box, "The activity could not be loaded.", "No connection.")
			pagetest.Button(t, p.Box, "Try again").OnTap()
			if h.Did[len(h.Did)-1] != "reload" {
				t.Errorf("got %q, want a reload at the end", h.Did)
			}
			p.activity.Problem = ""
			p.activity.Loaded = true
			p.draw()
			pagetest.Shows(t, p.Box, "Nothing was changed or run today.")
		})
	}
}

func TestPageShowsThatThePriceIsUnknown(t *testing.T) {
	pagetest.Start(t, style.Dark)
	h := &pagetest.Host{}
	p := newPage(host.Env{Host: h}, nil)
	p.now = pagetest.Clock
	w := pagetest.Window(t, p.Box, 480, 560)
	local := protocol.ModelUsage{Model: protocol.ModelRef{ID: "own"}, Steps: 2, Unpriced: 2, Input: 42_000}
	p.activity = View{Loaded: true, Usage: protocol.UsageReportResult{
		Today: protocol.Spending{Tokens: 42_000}, Month: protocol.Spending{Tokens: 42_000}, Days: []protocol.UsageDay{{Day: "2026-03-28", Models: []protocol.ModelUsage{local}}},
	}}
	p.draw()
	pagetest.Shot(t, w, "activity-unpriced")
	golden.Markup(t, "activity-unpriced", p.Box)
	pagetest.Fits(t, w)
	pagetest.Largest(w)
	pagetest.Fits(t, w)
	pagetest.Shot(t, w, "activity-unpriced-largest")
	p.open(slices.IndexFunc(p.lines, func(l line) bool { return l.Title == "The prices of your models are unknown" }))
	if want := []string{"setting budget"}; !slices.Equal(h.Did, want) {
		t.Errorf("got %q, want %q", h.Did, want)
	}
}
