package transcript

import (
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/code"
	"fairlead/app/selection"
	"fairlead/app/style"
)

// selfScroller is a passage that scrolls by itself.
type selfScroller interface{ Reveal(at fyne.Position) }

// searchedPassages returns the passages whose search results count: those that are not collapsed
// and do not repeat another one.
func searchedPassages(row Row) []selection.Passage {
	return slices.DeleteFunc(passages(row), func(p selection.Passage) bool { return !p.Visible() || isRepeated(p) })
}

func isRepeated(p selection.Passage) bool {
	l, ok := p.(*code.LineView)
	return ok && l.Repeated
}

// Rebind rebinds an item's row after a change outside the item, such as expanding it.
func (t *View) Rebind(key string) {
	if a := t.visible[key]; a != nil {
		a.row.Bind(a.item)
		t.HeightChanged()
	}
}

// ShowHit scrolls a search result of an item into view, and highlights it as the current one. It
// reports whether the result is visible: a collapsed card's line may end before it.
func (t *View) ShowHit(key string, hit int) bool {
	t.hitKey, t.hit = key, hit
	if t.visible[key] == nil && !t.ScrollToKey(key) {
		return true
	}
	t.paintSelection()
	a := t.visible[key]
	if a == nil {
		return true
	}
	d := fyne.CurrentApp().Driver()
	origin := d.AbsolutePositionForObject(t)
	y, n, room := a.y, 0, true
	for _, p := range searchedPassages(a.row) {
		if found := p.Find(t.query); hit < n+found {
			at := p.ShowHit(hit - n)
			if r, ok := p.(selfScroller); ok {
				r.Reveal(at)
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
func (t *View) paintHit(a *visibleRow) {
	for _, p := range passages(a.row) {
		if isRepeated(p) {
			p.Find(t.query)
			p.ShowHit(-1)
		}
	}
	n := 0
	for _, p := range searchedPassages(a.row) {
		found := p.Find(t.query)
		if a.item.Key == t.hitKey && t.hit >= n && t.hit < n+found {
			p.ShowHit(t.hit - n)
		} else {
			p.ShowHit(-1)
		}
		n += found
	}
}

// Find highlights all occurrences of a text in the visible rows, and in rows that become visible.
func (t *View) Find(query string) {
	if t.query != query {
		t.query, t.hitKey = query, ""
		t.paintSelection()
	}
}
