package files

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Widths of the columns at the right, and the minimum list widths that show them.
const (
	sizeWidth    = 84
	timeWidth    = 104
	minTimeWidth = 440
)

// rowLayout positions the columns: icon, name or its field, mark, size, time.
type rowLayout struct{ row *row }

func (*rowLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(120, rowHeight()) }

func (l *rowLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	left, right := float32(style.Inside), size.Width-style.Inside
	middle := func(c fyne.CanvasObject, x, width float32) {
		h := min(c.MinSize().Height, size.Height)
		c.Move(fyne.NewPos(x, (size.Height-h)/2))
		c.Resize(fyne.NewSize(width, h))
	}
	icon := min(size.Height, style.Size(theme.SizeNameInlineIcon))
	o[0].Move(fyne.NewPos(left, (size.Height-icon)/2))
	o[0].Resize(fyne.NewSquareSize(icon))
	left += icon + style.Inside
	if !l.row.table.details {
		o[4].Hide()
		o[5].Hide()
		l.placeName(o, left, right, middle)
		placeNameField(o[2], left, right, size.Height)
		return
	}
	o[4].Show()
	if size.Width >= minTimeWidth {
		middle(o[5], right-timeWidth, timeWidth)
		right -= timeWidth + style.Inside
		o[5].Show()
	} else {
		o[5].Hide()
	}
	middle(o[4], right-sizeWidth, sizeWidth)
	right -= sizeWidth + style.Inside
	l.placeName(o, left, right, middle)
	placeNameField(o[2], left, right, size.Height)
}

// placeNameField puts the field for a name over it, slightly higher than the line: with less height
// it would scroll and cut off letters.
func placeNameField(o fyne.CanvasObject, left, right, line float32) {
	h := o.MinSize().Height
	o.Move(fyne.NewPos(left-style.Inside, (line-h)/2))
	o.Resize(fyne.NewSize(max(0, right-left+style.Inside), h))
}

// placeName puts the mark at the right and gives the remaining width to the name.
func (l *rowLayout) placeName(o []fyne.CanvasObject, left, right float32, middle func(fyne.CanvasObject, float32, float32)) {
	if mark := o[3].(*widgets.Text); mark.Text != "" {
		w := min(fyne.MeasureText(mark.Text, style.Size(style.SizeSmall), fyne.TextStyle{}).Width+1, (right-left)/2)
		middle(o[3], right-w, w)
		right -= w + style.Inside
	}
	o[1].(*widgets.Text).SetText(shortenMiddle(l.row.content.entry.Title(), max(0, right-left)))
	middle(o[1], left, max(0, right-left))
}

// shortenMiddle shortens a name in its middle if it is too wide: its end has the file's extension.
func shortenMiddle(name string, width float32) string {
	size := style.Size("text")
	if float32(len(name))*size*0.8 < width {
		return name // it certainly fits
	}
	wide := func(s string) bool { return fyne.MeasureText(s, size, fyne.TextStyle{}).Width > width }
	if !wide(name) {
		return name
	}
	r := []rune(name)
	cut := func(n int) string { // removes n characters
		tail := (len(r) - n) / 3
		return strings.TrimRight(string(r[:len(r)-n-tail]), " ") + "…" + strings.TrimLeft(string(r[len(r)-tail:]), " ")
	}
	least, most := 1, len(r)
	for least < most {
		if n := (least + most) / 2; wide(cut(n)) {
			least = n + 1
		} else {
			most = n
		}
	}
	return cut(least)
}
