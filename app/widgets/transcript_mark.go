package widgets

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
)

// spot is a position in the text of an item.
type spot struct {
	key     string
	passage int
	at      int
}

// marking is the selection by mouse: from the position of the press to the current one.
type marking struct {
	on       bool
	from, to spot
	grain    int // 1 runes, 2 words, 3 paragraphs
	dragging bool
}

// passaged is a row with selectable text.
type passaged interface{ Passages() []Passage }

func passages(row ItemRow) []Passage {
	if r, ok := row.(passaged); ok {
		return r.Passages()
	}
	return nil
}

// Press starts selecting text at a mouse press in a passage: at a rune, or for a second and third
// press at the word or paragraph there. The transcript takes the focus, so that Ctrl+C copies the
// selection.
func (t *Transcript) Press(in Passage, at, times int) {
	for _, a := range t.order {
		if i := slices.Index(passages(a.row), in); i >= 0 {
			from, to := at, at
			if times > 1 {
				from, to = in.Word(at, times > 2)
			}
			t.marks = marking{on: true, grain: times, from: spot{a.item.Key, i, from}, to: spot{a.item.Key, i, to}}
			t.takeKeys()
			t.paintMarks()
			return
		}
	}
}

func (t *Transcript) takeKeys() {
	if c := fyne.CurrentApp().Driver().CanvasForObject(t); c != nil && c.Focused() != fyne.Focusable(t) {
		t.byMouse = true
		c.Focus(t)
		t.byMouse = false
	}
}

// Unmark clears the selection. It reports whether there was one.
func (t *Transcript) Unmark() bool {
	was := t.HasMarked()
	t.marks = marking{}
	t.paintMarks()
	return was
}

// MarkAll selects the whole text.
func (t *Transcript) MarkAll() {
	if n := len(t.items); n > 0 {
		t.marks = marking{on: true, from: spot{key: t.items[0].Key}, to: spot{t.items[n-1].Key, 1 << 20, 1 << 30}}
		t.paintMarks()
	}
}

// HasMarked reports whether text is selected.
func (t *Transcript) HasMarked() bool { return t.marks.on && t.marks.from != t.marks.to }

// Moved announces that a passage's text will move back by this number of runes, so that the
// selection moves with it; if ok is false, the selection in it is cleared. A row calls it before it
// shows the new text.
func (t *Transcript) Moved(in Passage, by int, ok bool) {
	if !t.marks.on {
		return
	}
	for key, a := range t.active {
		i := slices.Index(passages(a.row), in)
		if i < 0 {
			continue
		}
		for _, s := range []*spot{&t.marks.from, &t.marks.to} {
			if s.key != key || s.passage != i {
				continue
			}
			if !ok {
				t.marks = marking{}
				return
			}
			s.at = max(s.at+by, 0)
		}
		return
	}
}

// before reports whether a is before b.
func (t *Transcript) before(a, b spot) bool {
	if a.key != b.key {
		for i := range t.items {
			switch t.items[i].Key {
			case a.key:
				return true
			case b.key:
				return false
			}
		}
	}
	if a.passage != b.passage {
		return a.passage < b.passage
	}
	return a.at < b.at
}

// span returns the selection from its beginning to its end, with the indexes of their items; ok is
// false if nothing is selected, or if one of these items is gone.
func (t *Transcript) span() (from, to spot, first, last int, ok bool) {
	if !t.HasMarked() {
		return from, to, 0, 0, false
	}
	if from, to = t.marks.from, t.marks.to; t.before(to, from) {
		from, to = to, from
	}
	first, last = -1, -1
	for i := range t.items {
		if t.items[i].Key == from.key {
			first = i
		}
		if t.items[i].Key == to.key {
			last = i
			break
		}
	}
	return from, to, first, last, first >= 0 && last >= first
}

// paintMarks shows the selection and the search results in the visible rows.
func (t *Transcript) paintMarks() {
	from, to, first, last, ok := t.span()
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
					if lo = from.at; i < from.passage {
						lo = hi
					}
				}
				if a.index == last && i >= to.passage {
					if hi = min(to.at, hi); i > to.passage {
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

// MarkedText returns the text that Ctrl+C copies: for fully selected items the result of Words, for
// others the selected part of the visible row.
func (t *Transcript) MarkedText() string {
	from, to, first, last, ok := t.span()
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
		if t.Words != nil && i > first && i < last {
			add(t.Words(t.items[i]))
			continue
		}
		a := t.active[t.items[i].Key]
		if a == nil { // it left the screen
			a = t.take(t.items[i])
			defer t.release(a)
		}
		list := passages(a.row)
		if len(list) == 0 && t.Words != nil {
			add(t.Words(t.items[i]))
			continue
		}
		var row strings.Builder
		for k, p := range list {
			if !p.Visible() {
				continue
			}
			lo, hi := 0, p.Runes()
			if i == first && k == from.passage {
				lo = from.at
			}
			if i == last && k == to.passage {
				hi = min(to.at, hi)
			}
			if i == first && k < from.passage || i == last && k > to.passage || lo > hi {
				continue
			}
			if row.Len() > 0 {
				row.WriteString(p.Lead())
			}
			row.WriteString(p.Slice(lo, hi))
		}
		add(row.String())
	}
	return b.String()
}
