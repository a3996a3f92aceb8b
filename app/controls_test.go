package app

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/pagetest"
	"fairlead/app/style"
)

// eachPage shows every page of the main window, one after another, and calls f with its name.
func eachPage(t *testing.T, u *ui, f func(name string)) {
	t.Helper()
	f("chat")
	for _, p := range u.nav.paletteEntries() {
		if p.Kind != "Action" {
			u.nav.openTitled(p.Title)
			f(p.Title)
		}
	}
	u.nav.openShortcuts()
	f("Keyboard shortcuts")
	u.nav.search("x")
	f("search")
	u.nav.close()
	u.main.setFirstRun(true)
	f("first page")
	u.main.setFirstRun(false)
}

func TestEveryControlHasANameAndIsReachedByTab(t *testing.T) {
	for _, size := range []fyne.Size{{Width: 1120, Height: 760}, {Width: 480, Height: 760}} {
		u := newTestUI(t)
		u.update(sample())
		u.questions.window.Close() // the test driver treats the last window as the window of every object
		w := u.main.conversation.Window
		w.Resize(size)
		eachPage(t, u, func(name string) { t.Run(name, func(t *testing.T) { pagetest.Controls(t, w) }) })
	}
}

func TestLargestTextFitsNarrowWindow(t *testing.T) {
	u := newTestUI(t)
	u.setTheme(style.Light, style.TextLargest)
	u.update(sample())
	u.questions.window.Close() // the test driver treats the last window as the window of every object
	w := u.main.conversation.Window
	w.Resize(fyne.NewSize(480, 760))
	eachPage(t, u, func(name string) {
		t.Run(name, func(t *testing.T) {
			pagetest.Shot(t, w, "largest-"+name)
			pagetest.Fits(t, w)
		})
	})
}
