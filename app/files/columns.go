package files

import (
	"cmp"
	"sort"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/app/wording"
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
	if l.row.table.details {
		o[4].Show()
		right = placeDetails(o[4], o[5], size.Width, middle)
	} else {
		o[4].Hide()
		o[5].Hide()
	}
	// the field is slightly higher than the line: with less height it would scroll and cut off letters
	h := o[2].MinSize().Height
	o[2].Move(fyne.NewPos(left-style.Inside, (size.Height-h)/2))
	o[2].Resize(fyne.NewSize(max(0, right-left+style.Inside), h))
	// the mark is at the right; the name gets the remaining width
	if mark := o[3].(*widgets.Text); mark.Text != "" {
		w := min(fyne.MeasureText(mark.Text, style.Size(style.SizeSmall), fyne.TextStyle{}).Width+1, (right-left)/2)
		middle(o[3], right-w, w)
		right -= w + style.Inside
	}
	o[1].(*widgets.Text).SetText(shortenMiddle(l.row.entry.Title(), max(0, right-left)))
	middle(o[1], left, max(0, right-left))
}

// placeDetails places the columns at the right and returns the end of the remaining width.
func placeDetails(size, when fyne.CanvasObject, width float32, place func(o fyne.CanvasObject, x, width float32)) (right float32) {
	right = width - style.Inside
	widgets.SetVisible(when, width >= minTimeWidth)
	if width >= minTimeWidth {
		place(when, right-timeWidth, timeWidth)
		right -= timeWidth + style.Inside
	}
	place(size, right-sizeWidth, sizeWidth)
	return right - sizeWidth - style.Inside
}

// shortenMiddle shortens a name in its middle if it is too wide: its end has the file's extension.
func shortenMiddle(name string, width float32) string {
	wide := func(s string) bool {
		return fyne.MeasureText(s, style.Size("text"), fyne.TextStyle{}).Width > width
	}
	if !wide(name) {
		return name
	}
	fits := sort.Search(utf8.RuneCountInString(name), func(n int) bool { return wide(wording.ShortenMiddle(name, n+1)) })
	return wording.ShortenMiddle(name, max(fits, 1))
}

type columnHeads struct {
	box    *fyne.Container
	layout *columnLayout
	heads  map[string]*widgets.Clickable
	texts  map[string]*widgets.Text
}

var columnNames = map[string]string{ByName: "Name", BySize: "Size", ByTime: "Modified"}

func newColumnHeads(choose func(string)) *columnHeads {
	h := &columnHeads{layout: &columnLayout{}, heads: map[string]*widgets.Clickable{}, texts: map[string]*widgets.Text{}}
	var list []fyne.CanvasObject
	for _, by := range []string{ByName, BySize, ByTime} {
		t := widgets.NewText(columnNames[by], style.ColorMuted, style.SizeSmall)
		if by != ByName {
			t.Align = fyne.TextAlignTrailing
		}
		h.texts[by] = t
		h.heads[by] = widgets.NewClickable(t, func() { choose(by) })
		list = append(list, h.heads[by])
	}
	line := widgets.NewRect(style.ColorLine, "", 0)
	line.SetMinSize(fyne.NewSize(1, 1))
	h.box = widgets.Border(nil, line, nil, nil, container.New(h.layout, list...))
	return h
}

// set shows the sort order; details reports whether there are sizes and times.
func (h *columnHeads) set(s Sort, details bool) {
	for by, t := range h.texts {
		name, color := columnNames[by], style.ColorMuted
		if by == cmp.Or(s.By, ByName) {
			name, color = name+map[bool]string{false: " ↑", true: " ↓"}[s.Down], style.ColorText
		}
		t.Set(name, color)
	}
	widgets.SetVisible(h.heads[BySize], details)
	h.layout.details = details
	h.box.Refresh()
}

// columnLayout puts the headings above the columns of [rowLayout].
type columnLayout struct{ details bool }

func (*columnLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(120, o[0].MinSize().Height+style.Gap)
}

func (l *columnLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	place := func(c fyne.CanvasObject, x, width float32) {
		c.Move(fyne.NewPos(x, 0))
		c.Resize(fyne.NewSize(width, size.Height))
	}
	right := placeDetails(o[1], o[2], size.Width, place)
	widgets.SetVisible(o[2], o[2].Visible() && l.details)
	place(o[0], style.Inside, max(0, right-style.Inside))
}

// fileMarks adds the purpose of each agent file, and whether it is missing or unsaved.
func fileMarks(v View, drafts *unsaved.Store, marks map[string]string) map[string]string {
	if v.Place != "" {
		return marks
	}
	if marks == nil {
		marks = map[string]string{}
	}
	for _, e := range v.Entries {
		_, draft := drafts.File(e.Path)
		short, _, _ := aboutFile(e.Path)
		switch {
		case e.Dir:
		case draft:
			marks[e.Path] = "unsaved"
		case marks[e.Path] != "" || short == "":
		case e.Missing:
			marks[e.Path] = short + notCreated
		default:
			marks[e.Path] = short
		}
	}
	return marks
}

const notCreated = " · not created yet"

// markColor returns a fainter colour for a purpose than for a state.
func markColor(e Entry, mark string) fyne.ThemeColorName {
	if short, _, _ := aboutFile(e.Path); short != "" && (mark == short || mark == short+notCreated) {
		return style.ColorMuted
	}
	return style.ColorAccent
}
