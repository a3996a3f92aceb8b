package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/look"
)

// maxCell is how wide a table's cell gets before it wraps.
const maxCell float32 = 280

// table shows a Markdown table: header bold, a line under each row. Columns are as wide as their widest cell.
type table struct {
	widget.BaseWidget
	cells [][]*widget.RichText
	lines []*Rect
	head  *Rect
	frame *Rect
}

func newTable(source string, parse func(string) []widget.RichTextSegment) *table {
	t := &table{head: NewRect("headerBackground", "", look.Corner-1), frame: NewRect(look.ColorSurface, look.ColorLine, look.Corner)}
	rows, align := parseTable(source)
	for r, row := range rows {
		var cells []*widget.RichText
		for c, text := range row {
			if r == 0 && text != "" {
				text = "**" + text + "**"
			}
			segments := parse(text)
			for _, s := range segments {
				if ts, ok := s.(*widget.TextSegment); ok {
					ts.Style.Alignment = []fyne.TextAlign{fyne.TextAlignLeading, fyne.TextAlignCenter, fyne.TextAlignTrailing}[align[c]]
				}
			}
			cell := widget.NewRichText(segments...)
			cell.Wrapping = fyne.TextWrapOff
			if w := cell.MinSize().Width; w > maxCell {
				cell.Wrapping = fyne.TextWrapWord
				cell.Resize(fyne.NewSize(maxCell, 10))
			}
			cells = append(cells, cell)
		}
		t.cells = append(t.cells, cells)
		if r > 0 {
			t.lines = append(t.lines, NewRect(look.ColorLine, "", 0))
		}
	}
	t.ExtendBaseWidget(t)
	return t
}

func (t *table) CreateRenderer() fyne.WidgetRenderer {
	r := &tableRenderer{t: t, objects: []fyne.CanvasObject{t.frame, t.head}}
	for _, l := range t.lines {
		r.objects = append(r.objects, l)
	}
	for _, row := range t.cells {
		for _, c := range row {
			r.objects = append(r.objects, c)
		}
	}
	return r
}

type tableRenderer struct {
	t       *table
	objects []fyne.CanvasObject
}

func (r *tableRenderer) measure() (widths, heights []float32) {
	widths = make([]float32, len(r.t.cells[0]))
	for _, row := range r.t.cells {
		for c, cell := range row {
			w := cell.MinSize().Width
			if cell.Wrapping != fyne.TextWrapOff {
				w = maxCell
			}
			widths[c] = max(widths[c], w)
		}
	}
	for _, row := range r.t.cells {
		h := float32(0)
		for _, cell := range row {
			h = max(h, cell.MinSize().Height)
		}
		heights = append(heights, h)
	}
	return widths, heights
}

func (r *tableRenderer) MinSize() fyne.Size {
	widths, heights := r.measure()
	var s fyne.Size
	for _, w := range widths {
		s.Width += w
	}
	for _, h := range heights {
		s.Height += h
	}
	return s
}

func (r *tableRenderer) Layout(fyne.Size) {
	widths, heights := r.measure()
	total, y := float32(0), float32(0)
	for _, w := range widths {
		total += w
	}
	for i, row := range r.t.cells {
		x := float32(0)
		for c, cell := range row {
			cell.Move(fyne.NewPos(x, y))
			cell.Resize(fyne.NewSize(widths[c], heights[i]))
			x += widths[c]
		}
		if i > 0 {
			r.t.lines[i-1].Move(fyne.NewPos(0, y))
			r.t.lines[i-1].Resize(fyne.NewSize(total, 1))
		}
		y += heights[i]
	}
	r.t.head.Move(fyne.NewPos(1, 1))
	r.t.head.Resize(fyne.NewSize(total-2, heights[0]-1))
	r.t.frame.Resize(fyne.NewSize(total, y))
}

func (r *tableRenderer) Refresh() {
	for _, o := range r.objects {
		o.Refresh()
	}
	r.Layout(r.t.Size())
}
func (r *tableRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *tableRenderer) Destroy()                     {}
