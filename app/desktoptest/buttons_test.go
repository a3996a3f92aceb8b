//go:build desktop

package desktoptest

import (
	"image"
	"strings"
)

// clickAction clicks the button that allows an approval, once it is armed and has the expected
// text.
func (d *desktop) clickAction(says string) {
	d.t.Helper()
	d.click(d.waitAction(says)[0])
}

// waitAction waits until an approval has an enabled (coloured) action button with this text. It
// does not give the window the keyboard: a click counts without it. It returns the centres of the
// button and of the one to its right.
func (d *desktop) waitAction(says string) (middles []image.Point) {
	d.t.Helper()
	d.waitWindow(question)
	d.waitFor("a button that acts and says "+says, func() bool {
		w, ok := d.windowNamed(question)
		if !ok {
			return false
		}
		before := d.capture(w)
		areas := d.colouredAreas(buttonRow(w))
		if len(areas) == 0 || !d.buttonSays(areas[0], says) {
			return false
		}
		middles = middles[:0]
		for _, a := range areas {
			middles = append(middles, a.Min.Add(a.Size().Div(2)))
		}
		if !d.isUnchanged(question, w, before, middles...) {
			return false
		}
		for i, at := range middles {
			d.rememberReading(at, before, func() image.Point { return d.waitAction(says)[i] })
		}
		return true
	})
	return middles
}

// buttonSays reports whether a button has this text, read with its border or without it: a border
// beside a letter is sometimes read as part of it.
func (d *desktop) buttonSays(button image.Rectangle, text string) bool {
	d.t.Helper()
	for _, r := range []image.Rectangle{button, button.Inset(3)} {
		if strings.Contains(withoutSpaces(d.readLine(r)), withoutSpaces(text)) {
			return true
		}
	}
	return false
}

func withoutSpaces(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }

// buttonRow is the area of an approval's buttons.
func buttonRow(w window) window { w.y, w.h = w.y+w.h-64, 64; return w }

// colouredAreas returns the filled blue areas of a region, from the left.
func (d *desktop) colouredAreas(w window) (areas []image.Rectangle) {
	d.t.Helper()
	pic := d.capture(w)
	area := image.Rectangle{}
	for x := range w.w + 1 {
		column := image.Rectangle{}
		n := 0
		for y := range w.h {
			if r, _, b, _ := pic.At(w.x+x, w.y+y).RGBA(); x < w.w && int(b>>8)-int(r>>8) > 60 {
				column = column.Union(image.Rect(x, y, x+1, y+1))
				n++
			}
		}
		if n >= 12 { // wider than a focus ring
			area = area.Union(column)
			continue
		}
		if area.Dx() > 12 {
			areas = append(areas, area.Add(image.Pt(w.x, w.y)))
		}
		area = image.Rectangle{}
	}
	return areas
}
