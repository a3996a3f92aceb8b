package widgets

import (
	"slices"

	"fairlead/app/style"
	"fyne.io/fyne/v2"
)

// revealer is a passage that scrolls by itself.
type revealer interface{ Reveal(at fyne.Position) }

// counted returns the passages whose search results count: those that are not collapsed and do not
// repeat another one.
func counted(row ItemRow) []Passage {
	return slices.DeleteFunc(passages(row), func(p Passage) bool { return !p.Visible() || echo(p) })
}

func echo(p Passage) bool {
	l, ok := p.(*Line)
	return ok && l.Repeated
}

// Again rebinds an item's row after a change outside the item, such as expanding it.
func (t *Transcript) Again(key string) {
	if a := t.active[key]; a != nil {
		a.row.Bind(a.item)
		t.Changed()
	}
}

// ShowHit scrolls a search result of an item into view, and highlights it as the current one. It
// reports whether the result is visible: a collapsed card's line may end before it.
func (t *Transcript) ShowHit(key string, hit int) bool {
	t.hitKey, t.hit = key, hit
	if t.active[key] == nil && !t.ScrollToKey(key) {
		return true
	}
	t.paintMarks()
	a := t.active[key]
	if a == nil {
		return true
	}
	d := fyne.CurrentApp().Driver()
	origin := d.AbsolutePositionForObject(t)
	y, n, room := a.y, 0, true
	for _, p := range counted(a.row) {
		if found := p.Find(t.query); hit < n+found {
			at := p.Current(hit - n)
			if r, ok := p.(revealer); ok {
				r.Reveal(at)
			}
			if l, ok := p.(*Line); ok {
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
func (t *Transcript) paintHit(a *activeRow) {
	for _, p := range passages(a.row) {
		if echo(p) {
			p.Find(t.query)
			p.Current(-1)
		}
	}
	n := 0
	for _, p := range counted(a.row) {
		found := p.Find(t.query)
		if a.item.Key == t.hitKey && t.hit >= n && t.hit < n+found {
			p.Current(t.hit - n)
		} else {
			p.Current(-1)
		}
		n += found
	}
}

// Find highlights all occurrences of a text in the visible rows, and in rows that become visible.
func (t *Transcript) Find(query string) {
	if t.query != query {
		t.query, t.hitKey = query, ""
		t.paintMarks()
	}
}
