package transcript

import (
	"fairlead/app/code"
	"fairlead/app/native"
	"fairlead/app/selection"
	"fairlead/app/style"
)

// Search highlights a text in the rows of a [View], and one result as the current one.
type Search struct {
	rows    *viewport
	scroll  func(row int, into float32) // scrolls to a row
	query   string
	hitKey  string // the item with the current result
	hit     int    // index of the result in the item
	painted bool   // rows may show results
}

// isRepeated reports whether the search results of a passage count in another one.
func isRepeated(p selection.Passage) bool {
	l, ok := p.(*code.LineView)
	return ok && l.Repeated
}

// ShowHit scrolls a search result of an item into view, and highlights it as the current one. It
// reports whether the result is visible: a collapsed card's line may end before it.
func (s *Search) ShowHit(key string, hit int) bool {
	s.hitKey, s.hit = key, hit
	if s.rows.visible[key] == nil {
		i := s.rows.index(key)
		if i < 0 {
			return true
		}
		s.scroll(i, 0)
	}
	s.paint()
	a := s.rows.visible[key]
	if a == nil {
		return true
	}
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
			if pos, ok := native.PositionIn(a.row, p); ok { // no frame may have shown a new row yet
				y = pos.Y + at.Y
			}
			break
		} else {
			n += found
		}
	}
	if height := s.rows.height; y < style.Group || y > height-48 {
		s.scroll(s.rows.anchor, s.rows.topOffset+y-float32(int(height/3)))
	}
	return room
}

// repaint repeats what was highlighted in rows that were placed again.
func (s *Search) repaint() {
	if paints := s.query != ""; paints || s.painted {
		s.painted = paints
		s.paint()
	}
}

func (s *Search) paint() {
	for _, a := range s.rows.order {
		s.paintRow(a)
	}
}

func (s *Search) paintRow(a *visibleRow) {
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
func (s *Search) Find(query string) {
	if s.query != query {
		s.query, s.hitKey = query, ""
		s.paint()
	}
}
