package widgets

import (
	"iter"

	"fairlead/app/style"
	"fyne.io/fyne/v2"
)

// ScrollToEnd scrolls to the end and follows it.
func (t *Transcript) ScrollToEnd() {
	t.follow = true
	t.place()
}

// ScrollToTop scrolls to the beginning.
func (t *Transcript) ScrollToTop() {
	t.follow, t.anchor, t.into = false, 0, 0
	t.place()
	t.settle()
}

// Top returns the item at the top of the view, and its height above the view; the key is empty if
// there is no item.
func (t *Transcript) Top() (key string, into float32) {
	if t.anchor >= len(t.items) {
		return "", 0
	}
	return t.items[t.anchor].Key, t.into
}

// ScrollToKey scrolls an item to the top of the view. It reports whether there is an item with that
// key.
func (t *Transcript) ScrollToKey(key string) bool { return t.ScrollInto(key, 0) }

// ScrollInto does the same with a part of the item above the view.
func (t *Transcript) ScrollInto(key string, into float32) bool {
	for i := range t.items {
		if t.items[i].Key == key {
			t.follow, t.anchor, t.into = false, i, into
			t.place()
			t.settle()
			return true
		}
	}
	return false
}

// Place returns the distance of a visible item from the top of the view.
func (t *Transcript) Place(key string) (y float32, ok bool) {
	a := t.active[key]
	if a == nil {
		return 0, false
	}
	return a.y, true
}

// Shown returns the visible rows, from top to bottom.
func (t *Transcript) Shown() iter.Seq[ItemRow] {
	return func(yield func(ItemRow) bool) {
		for _, a := range t.order {
			if !yield(a.row) {
				return
			}
		}
	}
}

// Mark highlights the item with that key, until another one or none is highlighted.
func (t *Transcript) Mark(key string) {
	if t.markKey != key {
		t.markKey = key
		t.place()
	}
}

// Marked returns the key of the highlighted item if it is visible, and its distance from the top of
// the view.
func (t *Transcript) Marked() (key string, y float32) {
	if !t.mark.Visible() {
		return "", 0
	}
	return t.markKey, t.mark.Position().Y
}

// placeMark positions the highlight behind its row while that is visible.
func (t *Transcript) placeMark() {
	for _, a := range t.order {
		if a.item.Key == t.markKey && t.markKey != "" {
			t.mark.Move(a.row.Position().SubtractXY(style.Inside, 0))
			t.mark.Resize(fyne.NewSize(a.row.Size().Width+2*style.Inside, a.h+style.Gap))
			t.mark.Show()
			return
		}
	}
	t.mark.Hide()
}

// scrollTo scrolls to an offset of the scroll bar.
func (t *Transcript) scrollTo(y float64) {
	t.follow = false
	t.anchor, t.into = t.sizes.at(y)
	t.place()
	t.settle()
}

// Scrolled implements fyne.Scrollable.
func (t *Transcript) Scrolled(e *fyne.ScrollEvent) { t.scrollBy(-e.Scrolled.DY) }

func (t *Transcript) scrollBy(dy float32) {
	if dy == 0 || len(t.items) == 0 {
		return
	}
	t.follow = false
	t.into += dy
	t.place()
	t.settle()
}

// settle follows the end again when the reader has scrolled to it.
func (t *Transcript) settle() {
	if t.endInView() {
		t.follow = true
	}
	t.showMore()
	if t.OnTop != nil && len(t.items) > 0 && t.anchor < 5 && t.topSeen != t.items[0].Key {
		t.topSeen = t.items[0].Key
		t.OnTop()
	}
}

func (t *Transcript) endInView() bool {
	if len(t.items) == 0 || len(t.order) == 0 {
		return true
	}
	last := t.order[len(t.order)-1]
	return last.index == len(t.items)-1 && last.y+last.h <= t.Size().Height+1
}

// FocusGained implements fyne.Focusable.
func (t *Transcript) FocusGained() {
	t.focused = true
	if !t.byMouse {
		t.ring.Show()
	}
}

// FocusLost implements fyne.Focusable.
func (t *Transcript) FocusLost() { t.focused = false; t.ring.Hide() }

// TypedRune implements fyne.Focusable: Space scrolls, other letters go to OnType.
func (t *Transcript) TypedRune(r rune) {
	switch {
	case r == ' ':
		t.scrollBy(t.Size().Height * 0.9)
	case t.OnType != nil:
		t.OnType(r)
	}
}

// TypedShortcut implements fyne.Shortcutable: copy and select all.
func (t *Transcript) TypedShortcut(s fyne.Shortcut) {
	switch s.(type) {
	case *fyne.ShortcutCopy:
		if t.HasMarked() {
			fyne.CurrentApp().Clipboard().SetContent(t.MarkedText())
		}
	case *fyne.ShortcutSelectAll:
		t.MarkAll()
	case *fyne.ShortcutPaste:
		if t.OnPaste != nil {
			t.OnPaste()
		}
	default:
		PassShortcut(t, s)
	}
}

// TypedKey implements fyne.Focusable: the arrow keys, Page Up and Down, Home and End scroll, Escape
// clears the selection.
func (t *Transcript) TypedKey(e *fyne.KeyEvent) {
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
		if !t.Unmark() && t.OnLeave != nil {
			t.OnLeave()
		}
	}
}
