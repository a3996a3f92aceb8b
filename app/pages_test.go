package app

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/pagetest"
)

func TestChannelsSayHowManyStrangersWait(t *testing.T) {
	s := newTestShell(t)
	v := sample()
	v.Strangers = 2
	s.update(v)
	s.window.Resize(fyne.NewSize(1120, 760))
	markup := test.RenderObjectToMarkup(s.sidebar.box)
	for _, row := range s.sidebar.pages {
		if row.Item().Title == channelsTitle && row.Item().Count != 2 {
			t.Errorf("the sidebar says %d", row.Item().Count)
		}
		if !strings.Contains(markup, ">"+row.Item().Title+"<") {
			t.Errorf("%s is shortened", row.Item().Title)
		}
	}
	pagetest.Shot(t, s.window, "foot")
}

func TestEveryPageOpensInTheSmallestWindowAndTheDrawerHoldsAll(t *testing.T) {
	s := newTestShell(t)
	s.update(sample())
	s.window.Resize(fyne.NewSize(480, 560))
	for _, p := range s.pages() {
		s.openPage(p)
		if size := s.window.Canvas().Size(); size.Width > 480 || size.Height > 560 {
			t.Errorf("%s needs %v", p.title, size)
		}
	}
	s.leavePage()
	s.toggleDrawer()
	driver := fyne.CurrentApp().Driver()
	last := s.sidebar.pages[len(s.sidebar.pages)-1]
	if bottom := driver.AbsolutePositionForObject(last).Y + last.Size().Height; bottom > 560 || last.Size().Height < 20 {
		t.Errorf("%s ends at %v", last.Item().Title, bottom)
	}
	if list := s.sidebar.rows.MinSize().Height; list <= 0 {
		t.Error("no room is left for the chats")
	}
}
