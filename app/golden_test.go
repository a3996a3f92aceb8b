package app

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/golden"
)

func TestDrawerMatchesGolden(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.conversation.Window.Resize(fyne.NewSize(500, 700))
	u.main.toggleDrawer()
	golden.Markup(t, "drawer", u.main.drawer)
}
