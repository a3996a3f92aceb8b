// Package pagetest tests pages without a gateway: a test sets the page's state, presses its buttons
// and reads its texts. Only tests import it. It sets the time zone to UTC, so that pages look the
// same everywhere.
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

// Noon is the time in tests of pages.
var Noon = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

// Clock is a page's clock that always returns Noon.
func Clock() time.Time { return Noon }

// Start starts the test toolkit, like [App], and returns a state without a gateway. Both stop with
// the test, and ctx ends then.
func Start(t *testing.T, mode style.Mode) (ctx context.Context, app *state.App) {
	t.Helper()
	App(t).Settings().SetTheme(style.New(mode, 1))
	app = state.NewApp()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(app.Close)
	t.Cleanup(cancel)
	return ctx, app
}

// Window shows a page's content in a window of that size, which closes with the test.
func Window(t *testing.T, content fyne.CanvasObject, width, height float32) fyne.Window {
	t.Helper()
	w := test.NewTempWindow(t, content)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(width, height))
	return w
}

// Walk visits an object and all objects in it until visit returns false.
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

// Button finds the last button with that text; the test fails if there is none.
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

// Shows checks that all texts are visible.
func Shows(t *testing.T, o fyne.CanvasObject, want ...string) {
	t.Helper()
	markup := test.RenderObjectToMarkup(o) + golden.Words(o)
	for _, text := range want {
		if !strings.Contains(markup, text) {
			t.Errorf("%q is not shown", text)
		}
	}
}

// Shot writes a picture of the window to $FAIRLEAD_SHOTS/NAME.png for manual review; without that
// variable it does nothing.
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
