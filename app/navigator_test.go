package app

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/pagetest"
)

func TestSettingsSayHowManyStrangersWait(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	v.AccessRequests = 2
	u.update(v)
	u.main.window.Resize(fyne.NewSize(1120, 760))
	markup := test.RenderObjectToMarkup(u.main.sidebar.box)
	for _, row := range u.main.sidebar.links {
		if row.Item().Title == settingsTitle && row.Item().Count != 2 {
			t.Errorf("got a count of %d, want 2", row.Item().Count)
		}
		if !strings.Contains(markup, ">"+row.Item().Title+"<") {
			t.Errorf("%s is shortened", row.Item().Title)
		}
	}
	pagetest.Shot(t, u.main.window, "foot")
}

func TestEveryPageOpensInTheSmallestWindowAndTheDrawerHoldsAll(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.window.Resize(fyne.NewSize(480, 560))
	for _, p := range (fixedPages{u.nav}).all() {
		u.nav.open(p)
		if size := u.main.window.Canvas().Size(); size.Width > 480 || size.Height > 560 {
			t.Errorf("%s needs %v", p.title, size)
		}
	}
	u.nav.close()
	u.main.toggleDrawer()
	driver := fyne.CurrentApp().Driver()
	last := u.main.sidebar.links[len(u.main.sidebar.links)-1]
	if bottom := driver.AbsolutePositionForObject(last).Y + last.Size().Height; bottom > 560 || last.Size().Height < 20 {
		t.Errorf("%s ends at %v", last.Item().Title, bottom)
	}
	if list := u.main.sidebar.list.Height(); list <= 0 {
		t.Error("no room is left for the chats")
	}
}
