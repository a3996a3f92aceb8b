package pagetest

import (
	"fmt"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
)

// mouseOnly are controls that only offer to the mouse what a key or another control does, too.
var mouseOnly = map[string]string{
	"*widgets.TapArea":    "a check box, a field or a page of the sidebar does the same",
	"*widgets.ScrollBar":  "the arrow keys, Page Up and Page Down scroll",
	"*widgets.Zoom":       "+, - and 0 zoom",
	"*code.LineView":      "its card is a button",
	"*markdown.RichText":  "the menu of the message has its links",
	"*palette.View":       "Escape closes it",
	"*chat.completionRow": "the arrow keys and Enter choose it",

	// parts of Fyne's widgets
	"*widget.scrollBarArea":   "the arrow keys, Page Up and Page Down scroll",
	"*widget.listItem":        "it shows a row, which has the name",
	"*widget.selectable":      "it is the text of a field, which has the name",
	"*widget.focusSelectable": "it is the text of a label, which has the name",
}

// Controls checks a window's controls: each has a name for reading aids, Tab reaches it or the list
// that it is in, and Tab leaves it.
func Controls(t testing.TB, w fyne.Window) {
	t.Helper()
	content := w.Content()
	if top := w.Canvas().Overlays().Top(); top != nil {
		content = top
	}
	reached := tabStops(t, w)
	var visit func(o fyne.CanvasObject, path string, inList bool)
	visit = func(o fyne.CanvasObject, path string, inList bool) {
		if !o.Visible() {
			return
		}
		if _, isBox := o.(*fyne.Container); !isBox {
			path += fmt.Sprintf(" %T", o)
		}
		_, mouse := mouseOnly[fmt.Sprintf("%T", o)]
		stop, canFocus := o.(fyne.Focusable)
		_, canTap := o.(fyne.Tappable)
		disabled := false
		if d, ok := o.(fyne.Disableable); ok {
			disabled = d.Disabled()
		}
		if (canFocus || canTap) && !mouse {
			_, hasParts := o.(interface{ AccessibleParts() []fyne.CanvasObject }) // reading aids find these one by one
			if named, ok := o.(fyne.Accessible); !hasParts && (!ok || named.AccessibilityLabel() == "") {
				t.Errorf("no name for reading aids:%s, %v wide at %v", path, o.Size().Width, fyne.CurrentApp().Driver().AbsolutePositionForObject(o))
			}
			if !disabled && !inList && !slices.Contains(reached, stop) {
				t.Errorf("Tab does not reach%s", path)
			}
		}
		for _, c := range widgettest.Children(o) {
			visit(c, path, inList || canFocus)
		}
	}
	visit(content, "", false)
}

// tabStops returns what Tab reaches, in this order.
func tabStops(t testing.TB, w fyne.Window) (stops []fyne.Focusable) {
	t.Helper()
	c := w.Canvas()
	before := c.Focused()
	c.Unfocus()
	for c.FocusNext(); c.Focused() != nil && !slices.Contains(stops, c.Focused()); c.FocusNext() {
		stops = append(stops, c.Focused())
	}
	// the test driver takes the last window for that of every object
	isLast := fyne.CurrentApp().Driver().CanvasForObject(w.Content()) == c
	for _, stop := range stops {
		f, ok := stop.(fyne.Tabbable)
		if !ok || !f.AcceptsTab() || len(stops) == 1 || !isLast {
			continue
		}
		c.Focus(stop)
		f.(fyne.Shortcutable).TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyTab, Modifier: fyne.KeyModifierShortcutDefault})
		if c.Focused() == stop {
			t.Errorf("neither Tab nor Ctrl Tab leaves %T %.40q of %d", f, widgets.AccessibleText(f.(fyne.CanvasObject)), len(stops))
		}
	}
	if before != nil {
		c.Focus(before)
	} else {
		c.Unfocus()
	}
	return stops
}

// Heard returns the names of what reading aids find: Fyne passes on the objects in plain containers,
// and looks into no widget (fyne 2.8.0, internal/driver/glfw/accessibility_windows.go).
func Heard(o fyne.CanvasObject) (names []string) {
	if !o.Visible() {
		return nil
	}
	if c, ok := o.(*fyne.Container); ok {
		for _, child := range c.Objects {
			names = append(names, Heard(child)...)
		}
		return names
	}
	if a, ok := o.(fyne.Accessible); ok && a.AccessibilityRole() != fyne.AccessibleRoleContainer {
		names = append(names, a.AccessibilityLabel())
	}
	return names
}
