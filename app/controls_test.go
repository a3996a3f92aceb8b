package app

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/shortcuts"
	"fairlead/app/style"
)

// eachPage shows every page of the main window, one after another, and calls f with its name.
func eachPage(t *testing.T, u *ui, f func(name string)) {
	t.Helper()
	f("chat")
	for _, p := range u.places.palette.entries() {
		if p.Kind != "Action" {
			u.places.nav.open(p.Title, nil)
			f(p.Title)
		}
	}
	u.env(nil).Open(host.Page(shortcuts.Title))
	f("Keyboard shortcuts")
	u.env(nil).Open(host.Search("x"))
	f("search")
	u.main.Pages.Close()
	u.main.SetFirstRun(true)
	f("first page")
	u.main.SetFirstRun(false)
}

func TestEveryControlHasANameAndIsReachedByTab(t *testing.T) {
	for _, size := range []fyne.Size{{Width: 1120, Height: 760}, {Width: 480, Height: 760}} {
		u := newTestUI(t)
		u.update(sample())
		u.places.questions.window.Close() // the test driver treats the last window as the window of every object
		w := u.main.Chat.Window
		w.Resize(size)
		eachPage(t, u, func(name string) { t.Run(name, func(t *testing.T) { pagetest.Controls(t, w) }) })
	}
}

func TestLargestTextFitsNarrowWindow(t *testing.T) {
	u := newTestUI(t)
	u.settings.setTheme(style.Light, style.TextLargest)
	u.update(sample())
	u.places.questions.window.Close() // the test driver treats the last window as the window of every object
	w := u.main.Chat.Window
	w.Resize(fyne.NewSize(480, 760))
	eachPage(t, u, func(name string) {
		t.Run(name, func(t *testing.T) {
			pagetest.Shot(t, w, "largest-"+name)
			pagetest.Fits(t, w)
		})
	})
}
