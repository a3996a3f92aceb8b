package app

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/golden"
)

func TestDrawerLooksAsItDid(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.conversation.window.Resize(fyne.NewSize(500, 700))
	u.main.toggleDrawer()
	golden.Markup(t, "drawer", u.main.drawer)
}

func TestFirstPageLooksAsItDid(t *testing.T) {
	u := newTestUI(t)
	u.main.conversation.window.Resize(fyne.NewSize(1120, 760))
	u.main.setFirstRun(true)
	golden.Markup(t, "first", u.main.first.box)
	u.main.first.showText("None of them is running.", "muted", u.main.first.searchAgain, u.main.first.getModel)
	golden.Markup(t, "first-none", u.main.first.box)
}
