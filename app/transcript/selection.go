package transcript

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/code"
	"fairlead/app/selection"
	"fairlead/app/style"
)

// textPosition is a position in the text of an item.
type textPosition struct {
	item    string
	passage int
	rune    int
}

// selector selects and searches text across the rows of its view.
type selector struct {
	view   *View
	active bool
	// from the position of the press to the current one
	from, to       textPosition
	unit           int             // 1 runes, 2 words, 3 paragraphs
	dragTo         fyne.Position   // mouse position of the drag
	autoScroll     *fyne.Animation // scrolls while the mouse is held outside the view
	lastAutoScroll time.Time       // its last step
	query          string
	hitKey         string // the item with the current search result
	hit            int    // index of the result in the item
	painted        bool   // rows may show a selection or search results
}

func (s *selector) deselect() { s.active, s.from, s.to = false, textPosition{}, textPosition{} }

// Press starts selecting text at a mouse press in a passage: at a rune, or for a second and third
// press at the word or paragraph there. The transcript takes the focus, so that Ctrl+C copies the
// selection.
func (s *selector) Press(in selection.Passage, at, times int) {
	for _, a := range s.view.order {
		if i := slices.Index(a.row.Passages(), in); i >= 0 {
			from, to := at, at
			if times > 1 {
				from, to = in.Selectable().Word(at, times > 2)
			}
			s.active, s.unit = true, times
			s.from, s.to = textPosition{a.item.Key, i, from}, textPosition{a.item.Key, i, to}
			if c := fyne.CurrentApp().Driver().CanvasForObject(s.view); c != nil && c.Focused() != fyne.Focusable(s.view) {
				s.view.byMouse = true
				c.Focus(s.view)
				s.view.byMouse = false
			}
			s.paint()
			return
		}
	}
}

// ClearSelection clears the selection. It reports whether there was one.
func (s *selector) ClearSelection() bool {
	was := s.HasSelection()
	s.deselect()
	s.paint()
	return was
}

// SelectAll selects the whole text.
func (s *selector) SelectAll() {
	if items := s.view.items; len(items) > 0 {
		s.active, s.from, s.to = true, textPosition{item: items[0].Key}, textPosition{items[len(items)-1].Key, 1 << 20, 1 << 30}
		s.paint()
	}
}

// HasSelection reports whether text is selected.
func (s *selector) HasSelection() bool { return s.active && s.from != s.to }

// TextMoved announces that a passage's text will move back by this number of runes, so that the
// selection moves with it; if ok is false, the selection in it is cleared. A row calls it before it
// shows the new text.
func (s *selector) TextMoved(in selection.Passage, by int, ok bool) {
	for key, a := range s.view.visible {
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

func (s *selector) before(a, b textPosition) bool {
	if a.item != b.item {
		return indexOf(s.view.items, a.item) < indexOf(s.view.items, b.item)
	}
	return cmp.Or(cmp.Compare(a.passage, b.passage), cmp.Compare(a.rune, b.rune)) < 0
}

// selectedRange is the selection from its beginning to its end, with the indexes of their items.
type selectedRange struct {
	from, to    textPosition
	first, last int
}

// currentSelection returns the selection; ok is false if nothing is selected or an item is gone.
func (s *selector) currentSelection() (r selectedRange, ok bool) {
	if !s.HasSelection() {
		return r, false
	}
	if r.from, r.to = s.from, s.to; s.before(r.to, r.from) {
		r.from, r.to = r.to, r.from
	}
	r.first, r.last = indexOf(s.view.items, r.from.item), indexOf(s.view.items, r.to.item)
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

// paint shows the selection and the search results in the visible rows.
func (s *selector) paint() {
	r, ok := s.currentSelection()
	for _, a := range s.view.order {
		s.paintHit(a)
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

// SelectedText returns the text that Ctrl+C copies.
func (s *selector) SelectedText() string {
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
func (s *selector) itemText(r selectedRange, i int) string {
	t := s.view
	if t.ItemText != nil && i > r.first && i < r.last {
		return t.ItemText(t.items[i])
	}
	a := t.visible[t.items[i].Key]
	if a == nil { // it left the screen
		a = t.pool.bind(t, t.items[i])
		defer t.pool.recycle(a)
	}
	list := a.row.Passages()
	if len(list) == 0 && t.ItemText != nil {
		return t.ItemText(t.items[i])
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

// isRepeated reports whether the search results of a passage count in another one.
func isRepeated(p selection.Passage) bool {
	l, ok := p.(*code.LineView)
	return ok && l.Repeated
}

// ShowHit scrolls a search result of an item into view, and highlights it as the current one. It
// reports whether the result is visible: a collapsed card's line may end before it.
func (s *selector) ShowHit(key string, hit int) bool {
	t := s.view
	s.hitKey, s.hit = key, hit
	if t.visible[key] == nil && !t.ScrollToKey(key) {
		return true
	}
	s.paint()
	a := t.visible[key]
	if a == nil {
		return true
	}
	d := fyne.CurrentApp().Driver()
	origin := d.AbsolutePositionForObject(t)
	y, n, room := a.y, 0, true
	for _, p := range a.row.Passages() {
		if !p.Visible() || isRepeated(p) {
			continue
		}
		if found := p.Selectable().Find(s.query); hit < n+found {
			at := p.Selectable().ShowHit(hit - n)
			if c, ok := p.(*code.View); ok {
				c.Reveal(at)
			}
			if l, ok := p.(*code.LineView); ok {
				room = !l.Hides(hit - n)
			}
			y = d.AbsolutePositionForObject(p).Y - origin.Y + at.Y
			break
		} else {
			n += found
		}
	}
	if height := t.Size().Height; y < style.Group || y > height-48 {
		t.scrollBy(y - float32(int(height/3)))
	}
	return room
}

func (s *selector) paintHit(a *visibleRow) {
	n := 0
	for _, p := range a.row.Passages() {
		repeated := isRepeated(p)
		if !p.Visible() && !repeated {
			continue
		}
		found, hit := p.Selectable().Find(s.query), -1
		if !repeated {
			if a.item.Key == s.hitKey && s.hit >= n && s.hit < n+found {
				hit = s.hit - n
			}
			n += found
		}
		p.Selectable().ShowHit(hit)
	}
}

// Find highlights all occurrences of a text in the visible rows, and in rows that become visible.
func (s *selector) Find(query string) {
	if s.query != query {
		s.query, s.hitKey = query, ""
		s.paint()
	}
}
