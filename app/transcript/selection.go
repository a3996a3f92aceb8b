package transcript

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/selection"
)

// textPosition is a position in the text of an item.
type textPosition struct {
	item    string
	passage int
	rune    int
}

// Selection is text that is selected with the mouse, across the rows of a [View].
type Selection struct {
	// ItemText returns the text of an item, for copying items that are not visible.
	ItemText func(Item) string

	rows       *viewport
	area       focusArea
	scroll     func(dy float32)
	active     bool
	takesFocus bool // the view shows no ring then
	// from the position of the press to the current one
	from, to       textPosition
	unit           int             // 1 runes, 2 words, 3 paragraphs
	dragTo         fyne.Position   // mouse position of the drag
	autoScroll     *fyne.Animation // scrolls while the mouse is held outside the view
	lastAutoScroll time.Time       // its last step
	painted        bool            // rows may show a selection
}

func (s *Selection) deselect() { s.active, s.from, s.to = false, textPosition{}, textPosition{} }

// Press starts selecting text at a mouse press in a passage: at a rune, or for a second and third
// press at the word or paragraph there. The transcript takes the focus, so that Ctrl+C copies the
// selection.
func (s *Selection) Press(in selection.Passage, at, times int) {
	for _, a := range s.rows.order {
		if i := slices.Index(a.row.Passages(), in); i >= 0 {
			from, to := at, at
			if times > 1 {
				from, to = in.Selectable().Word(at, times > 2)
			}
			s.active, s.unit = true, times
			s.from, s.to = textPosition{a.item.Key, i, from}, textPosition{a.item.Key, i, to}
			s.takeFocus()
			s.paint()
			return
		}
	}
}

// takeFocus gives the view the keyboard.
func (s *Selection) takeFocus() {
	if c := fyne.CurrentApp().Driver().CanvasForObject(s.area); c != nil && c.Focused() != fyne.Focusable(s.area) {
		s.takesFocus = true
		c.Focus(s.area)
		s.takesFocus = false
	}
}

// Clear clears the selection. It reports whether there was one.
func (s *Selection) Clear() bool {
	was := s.Exists()
	s.deselect()
	s.paint()
	return was
}

// SelectAll selects the whole text.
func (s *Selection) SelectAll() {
	if items := s.rows.items; len(items) > 0 {
		s.active, s.from, s.to = true, textPosition{item: items[0].Key}, textPosition{items[len(items)-1].Key, 1 << 20, 1 << 30}
		s.paint()
	}
}

// Exists reports whether text is selected.
func (s *Selection) Exists() bool { return s.active && s.from != s.to }

// TextMoved announces that a passage's text will move back by this number of runes, so that the
// selection moves with it; if ok is false, the selection in it is cleared. A row calls it before it
// shows the new text.
func (s *Selection) TextMoved(in selection.Passage, by int, ok bool) {
	for key, a := range s.rows.visible {
		i := slices.Index(a.row.Passages(), in)
		if i < 0 || !s.active {
			continue
		}
		for _, p := range []*textPosition{&s.from, &s.to} {
			if p.item != key || p.passage != i {
				continue
			}
			if !ok {
				s.deselect()
				return
			}
			p.rune = max(p.rune+by, 0)
		}
	}
}

func (s *Selection) before(a, b textPosition) bool {
	if a.item != b.item {
		return s.rows.index(a.item) < s.rows.index(b.item)
	}
	return cmp.Or(cmp.Compare(a.passage, b.passage), cmp.Compare(a.rune, b.rune)) < 0
}

// selectedRange is the selection from its beginning to its end, with the indexes of their items.
type selectedRange struct {
	from, to    textPosition
	first, last int
}

// currentSelection returns the selection; ok is false if nothing is selected or an item is gone.
func (s *Selection) currentSelection() (r selectedRange, ok bool) {
	if !s.Exists() {
		return r, false
	}
	if r.from, r.to = s.from, s.to; s.before(r.to, r.from) {
		r.from, r.to = r.to, r.from
	}
	r.first, r.last = s.rows.index(r.from.item), s.rows.index(r.to.item)
	return r, r.first >= 0 && r.last >= r.first
}

// in returns the selected runes of a passage with n runes; ok is false if it is not in the range.
func (r selectedRange) in(item, passage, n int) (from, to int, ok bool) {
	to = n
	if item < r.first || item > r.last || item == r.first && passage < r.from.passage || item == r.last && passage > r.to.passage {
		return 0, 0, false
	}
	if item == r.first && passage == r.from.passage {
		from = r.from.rune
	}
	if item == r.last && passage == r.to.passage {
		to = min(r.to.rune, n)
	}
	return from, to, from <= to
}

// repaint shows the selection in rows that were placed again.
func (s *Selection) repaint() {
	if s.active || s.painted {
		s.painted = s.active
		s.paint()
	}
}

// paint shows the selection in the visible rows.
func (s *Selection) paint() {
	r, ok := s.currentSelection()
	for _, a := range s.rows.order {
		for i, p := range a.row.Passages() {
			if !p.Visible() {
				continue
			}
			from, to := 0, 0
			if text := p.Selectable(); ok {
				from, to, _ = r.in(a.index, i, text.Runes())
			}
			if from >= to {
				from, to = 0, 0
			}
			p.Selectable().Select(from, to)
		}
	}
}

// Text returns the text that Ctrl+C copies.
func (s *Selection) Text() string {
	r, ok := s.currentSelection()
	if !ok {
		return ""
	}
	var texts []string
	for i := r.first; i <= r.last; i++ {
		if text := strings.Trim(s.itemText(r, i), "\n"); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// itemText returns the selected text of an item.
func (s *Selection) itemText(r selectedRange, i int) string {
	it := s.rows.items[i]
	if s.ItemText != nil && i > r.first && i < r.last {
		return s.ItemText(it)
	}
	a := s.rows.visible[it.Key]
	if a == nil { // it left the screen
		a = s.rows.pool.bind(it)
		defer s.rows.pool.recycle(a)
	}
	list := a.row.Passages()
	if len(list) == 0 && s.ItemText != nil {
		return s.ItemText(it)
	}
	var b strings.Builder
	for k, p := range list {
		if from, to, ok := r.in(i, k, p.Selectable().Runes()); ok && p.Visible() {
			if b.Len() > 0 {
				b.WriteString(p.Selectable().Separator)
			}
			b.WriteString(p.Slice(from, to))
		}
	}
	return b.String()
}
