package transcript

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/selection"
)

// textPosition is a position in the text of an item.
type textPosition struct {
	item    string
	passage int
	rune    int
}

// textSelection is the selection by mouse: from the position of the press to the current one.
type textSelection struct {
	active   bool
	from, to textPosition
	unit     int // 1 runes, 2 words, 3 paragraphs
	dragging bool
}

// passageRow is a row with selectable text.
type passageRow interface{ Passages() []selection.Passage }

func passages(row Row) []selection.Passage {
	if r, ok := row.(passageRow); ok {
		return r.Passages()
	}
	return nil
}

// Press starts selecting text at a mouse press in a passage: at a rune, or for a second and third
// press at the word or paragraph there. The transcript takes the focus, so that Ctrl+C copies the
// selection.
func (t *View) Press(in selection.Passage, at, times int) {
	for _, a := range t.order {
		if i := slices.Index(passages(a.row), in); i >= 0 {
			from, to := at, at
			if times > 1 {
				from, to = in.Word(at, times > 2)
			}
			t.selection = textSelection{active: true, unit: times, from: textPosition{a.item.Key, i, from}, to: textPosition{a.item.Key, i, to}}
			t.takeFocus()
			t.paintSelection()
			return
		}
	}
}

func (t *View) takeFocus() {
	if c := fyne.CurrentApp().Driver().CanvasForObject(t); c != nil && c.Focused() != fyne.Focusable(t) {
		t.focusedByMouse = true
		c.Focus(t)
		t.focusedByMouse = false
	}
}

// ClearSelection clears the selection. It reports whether there was one.
func (t *View) ClearSelection() bool {
	was := t.HasSelection()
	t.selection = textSelection{}
	t.paintSelection()
	return was
}

// SelectAll selects the whole text.
func (t *View) SelectAll() {
	if n := len(t.items); n > 0 {
		t.selection = textSelection{active: true, from: textPosition{item: t.items[0].Key}, to: textPosition{t.items[n-1].Key, 1 << 20, 1 << 30}}
		t.paintSelection()
	}
}

// HasSelection reports whether text is selected.
func (t *View) HasSelection() bool { return t.selection.active && t.selection.from != t.selection.to }

// TextMoved announces that a passage's text will move back by this number of runes, so that the
// selection moves with it; if ok is false, the selection in it is cleared. A row calls it before it
// shows the new text.
func (t *View) TextMoved(in selection.Passage, by int, ok bool) {
	if !t.selection.active {
		return
	}
	for key, a := range t.visible {
		i := slices.Index(passages(a.row), in)
		if i < 0 {
			continue
		}
		for _, s := range []*textPosition{&t.selection.from, &t.selection.to} {
			if s.item != key || s.passage != i {
				continue
			}
			if !ok {
				t.selection = textSelection{}
				return
			}
			s.rune = max(s.rune+by, 0)
		}
		return
	}
}

// before reports whether a is before b.
func (t *View) before(a, b textPosition) bool {
	if a.item != b.item {
		for i := range t.items {
			switch t.items[i].Key {
			case a.item:
				return true
			case b.item:
				return false
			}
		}
	}
	if a.passage != b.passage {
		return a.passage < b.passage
	}
	return a.rune < b.rune
}

// selectedRange returns the selection from its beginning to its end, with the indexes of their
// items; ok is false if nothing is selected, or if one of these items is gone.
func (t *View) selectedRange() (from, to textPosition, first, last int, ok bool) {
	if !t.HasSelection() {
		return from, to, 0, 0, false
	}
	if from, to = t.selection.from, t.selection.to; t.before(to, from) {
		from, to = to, from
	}
	first, last = -1, -1
	for i := range t.items {
		if t.items[i].Key == from.item {
			first = i
		}
		if t.items[i].Key == to.item {
			last = i
			break
		}
	}
	return from, to, first, last, first >= 0 && last >= first
}

// paintSelection shows the selection and the search results in the visible rows.
func (t *View) paintSelection() {
	from, to, first, last, ok := t.selectedRange()
	for _, a := range t.order {
		t.paintHit(a)
		for i, p := range passages(a.row) {
			lo, hi := 0, 0
			if !p.Visible() {
				continue
			}
			if ok && a.index >= first && a.index <= last {
				hi = p.Runes()
				if a.index == first && i <= from.passage {
					if lo = from.rune; i < from.passage {
						lo = hi
					}
				}
				if a.index == last && i >= to.passage {
					if hi = min(to.rune, hi); i > to.passage {
						lo, hi = 0, 0
					}
				}
			}
			if lo >= hi {
				lo, hi = 0, 0
			}
			p.Select(lo, hi)
		}
	}
}

// SelectedText returns the text that Ctrl+C copies: for fully selected items the result of Words,
// for others the selected part of the visible row.
func (t *View) SelectedText() string {
	from, to, first, last, ok := t.selectedRange()
	if !ok {
		return ""
	}
	var b strings.Builder
	add := func(s string) {
		if s = strings.Trim(s, "\n"); s != "" {
			if b.Len() > 0 {
				b.WriteString("\n\n")
			}
			b.WriteString(s)
		}
	}
	for i := first; i <= last; i++ {
		if t.ItemText != nil && i > first && i < last {
			add(t.ItemText(t.items[i]))
			continue
		}
		a := t.visible[t.items[i].Key]
		if a == nil { // it left the screen
			a = t.bindRow(t.items[i])
			defer t.recycleRow(a)
		}
		list := passages(a.row)
		if len(list) == 0 && t.ItemText != nil {
			add(t.ItemText(t.items[i]))
			continue
		}
		var row strings.Builder
		for k, p := range list {
			if !p.Visible() {
				continue
			}
			lo, hi := 0, p.Runes()
			if i == first && k == from.passage {
				lo = from.rune
			}
			if i == last && k == to.passage {
				hi = min(to.rune, hi)
			}
			if i == first && k < from.passage || i == last && k > to.passage || lo > hi {
				continue
			}
			if row.Len() > 0 {
				row.WriteString(p.Separator())
			}
			row.WriteString(p.Slice(lo, hi))
		}
		add(row.String())
	}
	return b.String()
}
