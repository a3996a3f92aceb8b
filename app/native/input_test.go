package native

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

// driverWindow has the fields of the toolkit's window, and handles a button as that does.
type driverWindow struct {
	mouseDragged     fyne.Draggable
	mouseDragStarted bool
	mouseButton      desktop.MouseButton
	mouseOver        desktop.Hoverable
	mousePressed     fyne.CanvasObject
	tapped           int
}

func (w *driverWindow) release() {
	if w.mouseDragged != nil {
		w.mouseDragged.DragEnd()
		w.mouseDragged, w.mouseDragStarted = nil, false
	}
	w.mouseButton = 0
	w.tapped++
}

// brokenRow panics whenever a drag ends, and when it loses the keyboard.
type brokenRow struct{ widget.Button }

func (*brokenRow) Dragged(*fyne.DragEvent) {}
func (*brokenRow) DragEnd()                { panic("broken") }
func (*brokenRow) FocusLost()              { panic("broken") }

// driverCanvas has the field of the toolkit's canvas with the object that has the keyboard.
type driverCanvas struct {
	fyne.Canvas
	contentFocusMgr *focusManager
}

type focusManager struct{ focused fyne.Focusable }

func (c driverCanvas) Unfocus() {
	if f := c.contentFocusMgr.focused; f != nil {
		f.FocusLost()
		c.contentFocusMgr.focused = nil
	}
}

func TestClicksWorkAfterADragThatPanicked(t *testing.T) {
	row := &brokenRow{}
	w := &driverWindow{mouseDragged: row, mouseDragStarted: true, mouseButton: desktop.MouseButtonPrimary, mouseOver: row, mousePressed: row}
	c := &driverCanvas{test.NewCanvas(), &focusManager{row}}
	in := inputOf(w, c)
	in.guard(w.release)
	if *w != (driverWindow{}) || c.contentFocusMgr.focused != nil {
		t.Errorf("after a panic, the toolkit remembers %+v and the keyboard's %v; want %+v and nil", *w, c.contentFocusMgr.focused, (driverWindow{}))
	}
	in.guard(w.release)
	if w.tapped != 1 {
		t.Error("the next click is lost")
	}
}

func TestOnlyAPanicResetsTheInputState(t *testing.T) {
	w := &driverWindow{mouseButton: desktop.MouseButtonPrimary}
	button := widget.NewButton("", nil)
	c := &driverCanvas{test.NewCanvas(), &focusManager{button}}
	inputOf(w, c).guard(func() {})
	if w.mouseButton == 0 || c.contentFocusMgr.focused == nil {
		t.Error("an event without a panic changes what the toolkit remembers")
	}
	inputOf(w, test.NewCanvas()).guard(func() { panic("broken") }) // of another toolkit
	if w.mouseButton != 0 {
		t.Error("a panic forgets nothing where the focus is unknown")
	}
}

// TestLinksToFyneStayFew fails for a new go:linkname, and for one in another package: each may
// break with a new version of Fyne. Those of app/fonts stay there, because this package links the
// driver.
func TestLinksToFyneStayFew(t *testing.T) {
	t.Parallel()
	got := make(map[string]int)
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if n := strings.Count(string(text), "\n//go:link"+"name "); n > 0 {
			got[filepath.Base(filepath.Dir(path))] += n
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"native": 6, "fonts": 5}; !maps.Equal(got, want) {
		t.Errorf("go:linkname by package: got %v, want %v", got, want)
	}
}

// TestFyneHasTheFields fails for a new version of Fyne: look at the fields and functions of its
// internal packages that this package names.
func TestFyneHasTheFields(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "fyne.io/fyne/v2 v2.8.0\n") {
		t.Error("this package was checked with Fyne 2.8.0")
	}
}
