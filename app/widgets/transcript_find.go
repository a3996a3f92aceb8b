package widgets

import (
	"fairlead/app/look"

	"fyne.io/fyne/v2"
)

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
	for _, p := range passages(a.row) {
		if found := p.Find(t.query); hit < n+found {
			y = d.AbsolutePositionForObject(p).Y - origin.Y + p.Current(hit-n).Y
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
	for _, p := range passages(a.row) {
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
