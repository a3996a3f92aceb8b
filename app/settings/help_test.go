package settings

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

func TestProblemsAreShownWithTheirFix(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *bench) {
		p.o.About = About{Version: "1"}
		p.e.Feed.Update(func(v *feed.View) {
			v.Status.Connected, v.Status.Loaded, v.Machines = true, true, []protocol.NodeInfo{{ID: "box", Online: true}}
			v.Status.Status = protocol.Status{Version: "1", Paused: true, Model: protocol.ModelRef{Provider: "openai", ID: "m"}}
		}, p.e.Feed.All()...)
		page := p.help()
		test.Tap(pagetest.Button(t, page, "Check now"))
		pagetest.Settle()
		s := texts(page)
		for _, want := range []string{"2 problems found.", "Paused", "Machine box", "Resume agent"} {
			if !strings.Contains(s, want) {
				t.Errorf("%q is not shown", want)
			}
		}
		test.Tap(pagetest.Button(t, page, "Open Models"))
		test.Tap(pagetest.Button(t, page, "Copy report"))
		if got := p.Did; len(got) != 2 || got[0] != "page Models" || !strings.HasPrefix(got[1], "copy Fairlead 1, ") || !strings.Contains(got[1], "! agent: paused\n  → resume it") {
			t.Errorf("got %q, want the page of models and a report", got)
		}
	})
}
