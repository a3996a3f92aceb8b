package settings

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/feed"
	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

func TestProblemsAreShownWithWhatFixesThem(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *Page, copied *string) {
		p.about = About{Version: "1"}
		shown := ""
		p.pages = newPages([]*entry{{title: ModelsTitle, build: func() fyne.CanvasObject { shown = ModelsTitle; return widget.NewLabel("") }}}, nil)
		p.app.Update(func(v *feed.View) {
			v.Status.Connected, v.Status.Loaded, v.Machines = true, true, []protocol.NodeInfo{{ID: "box", Online: true}}
			v.Status.Status = protocol.Status{Version: "1", Paused: true, Model: protocol.ModelRef{Provider: "openai", ID: "m"}}
		}, p.app.All()...)
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
		if shown != ModelsTitle {
			t.Error("the page of models is not opened")
		}
		test.Tap(pagetest.Button(t, page, "Copy report"))
		if !strings.HasPrefix(*copied, "Fairlead 1, ") || !strings.Contains(*copied, "! agent: paused\n  → resume it") {
			t.Errorf("copied %q", *copied)
		}
	})
}
