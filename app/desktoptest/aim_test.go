//go:build desktop

package desktoptest

import "image"

// reading is a place that was read from a picture of the screen, and not used yet.
type reading struct {
	at     image.Point
	before *image.RGBA // the picture
	again  func() image.Point
}

// rememberReading keeps a place until the mouse or the keyboard is used: currentPosition
// reads it again if it changes until then.
func (d *desktop) rememberReading(at image.Point, before *image.RGBA, again func() image.Point) {
	d.readings = append(d.readings, reading{at, before, again})
}

// currentPosition returns where something is now that was at p when the screen was read. It costs
// one small picture, and another reading only if the screen has changed there. Other readings than
// the last ones around p do not matter.
func (d *desktop) currentPosition(p image.Point) image.Point {
	d.t.Helper()
	for i := len(d.readings) - 1; i >= 0; i-- {
		r := d.readings[i]
		// callers click the text, or beside or below it
		if by := p.Sub(r.at); max(by.X, -by.X) > 200 || max(by.Y, -by.Y) > 60 {
			continue
		}
		around := window{x: r.at.X - 20, y: r.at.Y - 20, w: 40, h: 40}
		if sameAround(r.before, d.capture(around), r.at) {
			return p
		}
		d.readings = nil
		now := r.again()
		d.t.Logf("%v changed before the click: it is at %v", r.at, now)
		return d.currentPosition(p.Add(now.Sub(r.at)))
	}
	return p
}
