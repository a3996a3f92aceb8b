package transcript

import (
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/code"
	"fairlead/app/selection"
	"fairlead/app/style"
)

// searchedPassages returns the passages whose search results count: those that are not collapsed
// and do not repeat another one.
func searchedPassages(row Row) []selection.Passage {
	return slices.DeleteFunc(row.Passages(), func(p selection.Passage) bool { return !p.Visible() || isRepeated(p) })
}

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
	for _, p := range searchedPassages(a.row) {
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

// paintHit highlights the current search result in a row.
func (s *selector) paintHit(a *visibleRow) {
	for _, p := range a.row.Passages() {
		if isRepeated(p) {
			p.Selectable().Find(s.query)
			p.Selectable().ShowHit(-1)
		}
	}
	n := 0
	for _, p := range searchedPassages(a.row) {
		found := p.Selectable().Find(s.query)
		if a.item.Key == s.hitKey && s.hit >= n && s.hit < n+found {
			p.Selectable().ShowHit(s.hit - n)
		} else {
			p.Selectable().ShowHit(-1)
		}
		n += found
	}
}

// Find highlights all occurrences of a text in the visible rows, and in rows that become visible.
func (s *selector) Find(query string) {
	if s.query != query {
		s.query, s.hitKey = query, ""
		s.paint()
	}
}
