package transcript

import (
	"iter"

	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// ScrollToEnd scrolls to the end and follows it.
func (t *View) ScrollToEnd() {
	t.follow = true
	t.place()
}

// ScrollToTop scrolls to the beginning.
func (t *View) ScrollToTop() {
	t.follow, t.anchor, t.topOffset = false, 0, 0
	t.place()
	t.afterScroll()
}

// Top returns the item at the top of the view, and its height above the view; the key is empty if
// there is no item.
func (t *View) Top() (key string, into float32) {
	if t.anchor >= len(t.items) {
		return "", 0
	}
	return t.items[t.anchor].Key, t.topOffset
}

// ScrollToKey scrolls an item to the top of the view. It reports whether there is an item with that
// key.
func (t *View) ScrollToKey(key string) bool { return t.ScrollToOffset(key, 0) }

// ScrollToOffset does the same with a part of the item above the view.
func (t *View) ScrollToOffset(key string, into float32) bool {
	for i := range t.items {
		if t.items[i].Key == key {
			t.follow, t.anchor, t.topOffset = false, i, into
			t.place()
			t.afterScroll()
			return true
		}
	}
	return false
}

// ItemPosition returns the distance of a visible item from the top of the view.
func (t *View) ItemPosition(key string) (y float32, ok bool) {
	a := t.visible[key]
	if a == nil {
		return 0, false
	}
	return a.y, true
}

// VisibleRows returns the visible rows, from top to bottom.
func (t *View) VisibleRows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for _, a := range t.order {
			if !yield(a.row) {
				return
			}
		}
	}
}

// Highlight highlights the item with that key, until another one or none is highlighted.
func (t *View) Highlight(key string) {
	if t.highlightKey != key {
		t.highlightKey = key
		t.place()
	}
}

// Highlighted returns the key of the highlighted item if it is visible, and its distance from the
// top of the view.
func (t *View) Highlighted() (key string, y float32) {
	if !t.highlight.Visible() {
		return "", 0
	}
	return t.highlightKey, t.highlight.Position().Y
}

// placeHighlight positions the highlight behind its row while that is visible.
func (t *View) placeHighlight() {
	for _, a := range t.order {
		if a.item.Key == t.highlightKey && t.highlightKey != "" {
			t.highlight.Move(a.row.Position().SubtractXY(style.Inside, 0))
			t.highlight.Resize(fyne.NewSize(a.row.Size().Width+2*style.Inside, a.h+style.Gap))
			t.highlight.Show()
			return
		}
	}
	t.highlight.Hide()
}

// scrollTo scrolls to an offset of the scroll bar.
func (t *View) scrollTo(y float64) {
	t.follow = false
	t.anchor, t.topOffset = t.sizes.at(y)
	t.place()
	t.afterScroll()
}

// Scrolled implements fyne.Scrollable.
func (t *View) Scrolled(e *fyne.ScrollEvent) { t.scrollBy(-e.Scrolled.DY) }

func (t *View) scrollBy(dy float32) {
	if dy == 0 || len(t.items) == 0 {
		return
	}
	t.follow = false
	t.topOffset += dy
	t.place()
	t.afterScroll()
}

// afterScroll follows the end again when the reader has scrolled to it.
func (t *View) afterScroll() {
	if t.endInView() {
		t.follow = true
	}
	t.updateNewButton()
	if t.OnTop != nil && len(t.items) > 0 && t.anchor < 5 && t.topReported != t.items[0].Key {
		t.topReported = t.items[0].Key
		t.OnTop()
	}
}

func (t *View) endInView() bool {
	if len(t.items) == 0 || len(t.order) == 0 {
		return true
	}
	last := t.order[len(t.order)-1]
	return last.index == len(t.items)-1 && last.y+last.h <= t.Size().Height+1
}

// FocusGained implements fyne.Focusable.
func (t *View) FocusGained() {
	t.focused = true
	if !t.focusedByMouse {
		t.ring.Show()
	}
}

// FocusLost implements fyne.Focusable.
func (t *View) FocusLost() { t.focused = false; t.ring.Hide() }

// TypedRune implements fyne.Focusable: Space scrolls, other letters go to OnType.
func (t *View) TypedRune(r rune) {
	switch {
	case r == ' ':
		t.scrollBy(t.Size().Height * 0.9)
	case t.OnType != nil:
		t.OnType(r)
	}
}

// TypedShortcut implements fyne.Shortcutable: copy and select all.
func (t *View) TypedShortcut(s fyne.Shortcut) {
	switch s.(type) {
	case *fyne.ShortcutCopy:
		if t.HasSelection() {
			fyne.CurrentApp().Clipboard().SetContent(t.SelectedText())
		}
	case *fyne.ShortcutSelectAll:
		t.SelectAll()
	case *fyne.ShortcutPaste:
		if t.OnPaste != nil {
			t.OnPaste()
		}
	default:
		widgets.PassShortcut(t, s)
	}
}

// TypedKey implements fyne.Focusable: the arrow keys, Page Up and Down, Home and End scroll, Escape
// clears the selection.
func (t *View) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyUp:
		t.scrollBy(-40)
	case fyne.KeyDown:
		t.scrollBy(40)
	case fyne.KeyPageUp:
		t.scrollBy(-t.Size().Height * 0.9)
	case fyne.KeyPageDown:
		t.scrollBy(t.Size().Height * 0.9)
	case fyne.KeyHome:
		t.ScrollToTop()
	case fyne.KeyEnd:
		t.ScrollToEnd()
	case fyne.KeyEscape:
		if !t.ClearSelection() && t.OnLeave != nil {
			t.OnLeave()
		}
	}
}
