package files

import (
	"cmp"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// columnHeads are the headings of the columns: a click sorts by a column.
type columnHeads struct {
	box   *fyne.Container
	heads map[string]*widgets.Clickable
	texts map[string]*widgets.Text
}

var columnNames = map[string]string{state.ByName: "Name", state.BySize: "Size", state.ByTime: "Modified"}

func newColumnHeads(choose func(string)) *columnHeads {
	h := &columnHeads{heads: map[string]*widgets.Clickable{}, texts: map[string]*widgets.Text{}}
	var list []fyne.CanvasObject
	for _, by := range []string{state.ByName, state.BySize, state.ByTime} {
		t := widgets.NewText(columnNames[by], style.ColorMuted, style.SizeSmall)
		if by != state.ByName {
			t.Align = fyne.TextAlignTrailing
		}
		h.texts[by] = t
		h.heads[by] = widgets.NewClickable(t, func() { choose(by) })
		list = append(list, h.heads[by])
	}
	line := widgets.NewRect(style.ColorLine, "", 0)
	line.SetMinSize(fyne.NewSize(1, 1))
	h.box = widgets.Border(nil, line, nil, nil, container.New(columnLayout{}, list...))
	return h
}

// set shows the sort order; details reports whether there are sizes and times.
func (h *columnHeads) set(s state.FileSort, details bool) {
	for by, t := range h.texts {
		name, color := columnNames[by], style.ColorMuted
		if by == cmp.Or(s.By, state.ByName) {
			color = style.ColorText
			arrow := " ↑"
			if s.Down {
				arrow = " ↓"
			}
			name += arrow
		}
		t.Set(name, color)
	}
	if details {
		h.heads[state.BySize].Show()
		h.texts[state.ByTime].Show()
	} else {
		h.heads[state.BySize].Hide()
		h.texts[state.ByTime].Hide()
	}
	h.box.Refresh()
}

// columnLayout puts the headings above the columns of [rowLayout].
type columnLayout struct{}

func (columnLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(120, o[0].MinSize().Height+style.Gap)
}

func (columnLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	right, h := size.Width-style.Inside, size.Height
	place := func(c fyne.CanvasObject, x, width float32) {
		c.Move(fyne.NewPos(x, 0))
		c.Resize(fyne.NewSize(width, h))
	}
	place(o[2], right-timeWidth, timeWidth)
	if size.Width >= minTimeWidth {
		right -= timeWidth + style.Inside
		o[2].Show()
	} else {
		o[2].Hide()
	}
	place(o[1], right-sizeWidth, sizeWidth)
	right -= sizeWidth + style.Inside
	place(o[0], style.Inside, max(0, right-style.Inside))
}
