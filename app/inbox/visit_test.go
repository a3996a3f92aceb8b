package inbox

import (
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

func wantsToVisit() protocol.Question {
	return protocol.Question{ID: "visit", Kind: protocol.AskVisit, Hash: "h", Node: "nas", Visit: &protocol.VisitSubject{
		Service: "svc_1", Title: "Wiki", URL: "http://wiki-7f3k.localhost:8787", Email: "ann@example.com", From: "192.0.2.7", Message: "It is Ann from the club.",
	}}
}

// TestAVisitorIsAllowedForTheChosenTime shows the card of a request for access, and answers it.
func TestAVisitorIsAllowedForTheChosenTime(t *testing.T) {
	pagetest.Start(t, style.Light)
	var answers []protocol.QuestionAnswerParams
	l := NewCards(host.Env{Feed: feed.New()}, protocol.AskVisit)
	l.answer = func(_ []protocol.Question, a protocol.QuestionAnswerParams) { answers = append(answers, a) }
	l.Show(feed.View{Machines: twoMachines(), Questions: feed.Questions{Pending: []protocol.Question{wantsToVisit()}}}, pagetest.Noon)
	w := pagetest.Window(t, l.Box, 480, 420)
	golden.Markup(t, "visit", l.Box)
	pagetest.Shot(t, w, "visit-card")
	pagetest.Shows(t, l.Box, "Let ann@example.com visit “Wiki”?", "Nobody has checked that this address is theirs", "192.0.2.7", "It is Ann from the club.", "whoever can prove")
	l.Tick(pagetest.Noon.Add(3 * time.Second))
	times := widgettest.Find(l.Box, func(s *widgets.Select) bool { return slices.Contains(s.Options, "A day") })
	for _, want := range []string{protocol.VisitHour, protocol.VisitDay, protocol.VisitAlways} {
		test.Tap(pagetest.Button(t, l.Box, "Allow"))
		if got := answers[len(answers)-1]; got.Decision != protocol.DecisionAllow || got.For != want {
			t.Errorf("with %q: got %+v, want an allow for %q", times.Selected, got, want)
		}
		times.SetSelected(map[string]string{protocol.VisitHour: "A day", protocol.VisitDay: "Always"}[want])
	}
	test.Tap(pagetest.Button(t, l.Box, "Deny"))
	if got := answers[len(answers)-1]; got.Decision != protocol.DecisionDeny || got.For != "" {
		t.Errorf("got %+v, want a denial", got)
	}
}
