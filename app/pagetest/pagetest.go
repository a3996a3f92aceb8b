// Package pagetest opens a page's views without a gateway, for tests: they give the page its states, press its buttons and read what it shows.
// Only tests import it. It sets the time zone to UTC, so that views look the same everywhere.
package pagetest

import (
	"context"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

func init() { time.Local = time.UTC }

// Noon is what the clock of a page in a test says.
var Noon = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

// Clock is a page's clock that stands at Noon.
func Clock() time.Time { return Noon }

// Start begins the toolkit, as [App] does, and a state that knows no gateway. Both end with the test, as ctx does.
func Start(t *testing.T, mode style.Mode) (ctx context.Context, app *state.App) {
	t.Helper()
	App(t).Settings().SetTheme(style.New(mode, 1))
	app = state.NewApp()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(app.Close)
	t.Cleanup(cancel)
	return ctx, app
}

// Window shows a page's content in a window of that size, which is closed with the test.
func Window(t *testing.T, content fyne.CanvasObject, width, height float32) fyne.Window {
	t.Helper()
	w := test.NewTempWindow(t, content)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(width, height))
	return w
}

// Walk visits an object and all in it until visit returns false.
func Walk(o fyne.CanvasObject, visit func(fyne.CanvasObject) bool) bool {
	if !visit(o) {
		return false
	}
	var inside []fyne.CanvasObject
	switch o := o.(type) {
	case *fyne.Container:
		inside = o.Objects
	case fyne.Widget:
		inside = test.WidgetRenderer(o).Objects()
	}
	for _, c := range inside {
		if !Walk(c, visit) {
			return false
		}
	}
	return true
}

// Button finds the last button with that text; without one the test ends.
func Button(t *testing.T, o fyne.CanvasObject, text string) *widgets.Button {
	t.Helper()
	var found *widgets.Button
	Walk(o, func(o fyne.CanvasObject) bool {
		if b, ok := o.(*widgets.Button); ok && b.Text == text {
			found = b
		}
		return true
	})
	if found == nil {
		t.Fatalf("no button %q in %s", text, test.RenderObjectToMarkup(o))
	}
	return found
}

// Shows checks that each text is somewhere in what is drawn.
func Shows(t *testing.T, o fyne.CanvasObject, want ...string) {
	t.Helper()
	markup := test.RenderObjectToMarkup(o) + golden.Words(o)
	for _, text := range want {
		if !strings.Contains(markup, text) {
			t.Errorf("%q is not shown", text)
		}
	}
}

// Shot writes a picture of the window to $FAIRLEAD_SHOTS/NAME.png, for a person to look at; without that variable it does nothing.
func Shot(t *testing.T, w fyne.Window, name string) {
	t.Helper()
	dir := os.Getenv("FAIRLEAD_SHOTS")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, w.Canvas().Capture()); err != nil {
		t.Fatal(err)
	}
}
