package widgets

import (
	"slices"

	"fairlead/app/look"

	"fyne.io/fyne/v2"
)

// revealer is a passage in a view of its own.
type revealer interface{ Reveal(at fyne.Position) }

// shownPassages are those that are not folded away.
func shownPassages(row ItemRow) []Passage {
	return slices.DeleteFunc(passages(row), func(p Passage) bool { return !p.Visible() })
}

// Again binds an item's row again, after something else than the item changed what it shows, such as whether it is folded.
func (t *Transcript) Again(key string) {
	if a := t.active[key]; a != nil {
		a.row.Bind(a.item)
		t.Changed()
	}
}

// ShowHit brings one of the places where the text that is looked for stands in an item into view, and marks it among the others.
func (t *Transcript) ShowHit(key string, hit int) {
	t.hitKey, t.hit = key, hit
	if t.active[key] == nil && !t.ScrollToKey(key) {
		return
	}
	t.paintMarks()
	a := t.active[key]
	if a == nil {
		return
	}
	d := fyne.CurrentApp().Driver()
	origin := d.AbsolutePositionForObject(t)
	y, n := a.y, 0
	for _, p := range shownPassages(a.row) {
		if found := p.Find(t.query); hit < n+found {
			at := p.Current(hit - n)
			if r, ok := p.(revealer); ok {
				r.Reveal(at)
			}
			y = d.AbsolutePositionForObject(p).Y - origin.Y + at.Y
			break
		} else {
			n += found
		}
	}
	if height := t.Size().Height; y < look.Group || y > height-48 {
		t.scrollBy(y - float32(int(height/3)))
	}
}

// paintHit marks the current place in a row.
func (t *Transcript) paintHit(a *activeRow) {
	n := 0
	for _, p := range shownPassages(a.row) {
		found := p.Find(t.query)
		if a.item.Key == t.hitKey && t.hit >= n && t.hit < n+found {
			p.Current(t.hit - n)
		} else {
			p.Current(-1)
		}
		n += found
	}
}

// Find marks where a text occurs in the rows that are on the screen or come there.
func (t *Transcript) Find(query string) {
	if t.query != query {
		t.query, t.hitKey = query, ""
		t.paintMarks()
	}
}
