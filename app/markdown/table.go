package markdown

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// maxCellWidth is the maximum width of a table cell before it wraps.
const maxCellWidth float32 = 280

// cellPadding is the padding of a cell's text.
const cellPadding = style.Inside

// table shows a Markdown table: bold header, a line under each row, columns as wide as their cells.
type table struct {
	widgets.Composite
	cells [][]*RichText
	align []int
	lines []*widgets.Rect
	head  *widgets.Rect
	frame *widgets.Background
}

func newTable(source string, events *selection.Events) *table {
	t := &table{head: widgets.NewRect("headerBackground", "", style.Corner-1), frame: widgets.NewBackground(style.ColorSurface, style.ColorLine, style.Corner)}
	rows, align := parseTable(source)
	t.align = align
	objects := []fyne.CanvasObject{t.frame, t.head}
	for range rows[1:] {
		t.lines = append(t.lines, widgets.NewRect(style.ColorLine, "", 0))
		objects = append(objects, t.lines[len(t.lines)-1])
	}
	for r, row := range rows {
		var cells []*RichText
		for c, text := range row {
			if r == 0 && text != "" {
				text = "**" + text + "**"
			}
			cell := newRichText(parse(text))
			cell.Events, cell.maxWidth, cell.Separator = events, maxCellWidth, "\t"
			if c == 0 {
				cell.Separator = "\n"
			}
			cells = append(cells, cell)
			objects = append(objects, cell)
		}
		t.cells = append(t.cells, cells)
	}
	t.Compose(t, container.New(tableLayout{t}, objects...))
	return t
}

type tableLayout struct{ t *table }

func (l tableLayout) measure() (widths, heights []float32) {
	widths = make([]float32, len(l.t.cells[0]))
	for _, row := range l.t.cells {
		h := float32(0)
		for c, cell := range row {
			cell.layOut(maxCellWidth)
			widths[c] = max(widths[c], cell.fullSize.Width+2*cellPadding)
			h = max(h, cell.fullSize.Height+2*cellPadding-4)
		}
		heights = append(heights, h)
	}
	return widths, heights
}

func (l tableLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	widths, heights := l.measure()
	var s fyne.Size
	for _, w := range widths {
		s.Width += w
	}
	for _, h := range heights {
		s.Height += h
	}
	return s
}

func (l tableLayout) Layout([]fyne.CanvasObject, fyne.Size) {
	widths, heights := l.measure()
	total, y := float32(0), float32(0)
	for _, w := range widths {
		total += w
	}
	for i, row := range l.t.cells {
		x := float32(0)
		for c, cell := range row {
			room := widths[c] - 2*cellPadding - cell.fullSize.Width
			cell.Move(fyne.NewPos(x+cellPadding+float32(int(room*float32(l.t.align[c])/2)), y+cellPadding-2))
			cell.Resize(cell.fullSize)
			x += widths[c]
		}
		if i > 0 {
			l.t.lines[i-1].Move(fyne.NewPos(0, y))
			l.t.lines[i-1].Resize(fyne.NewSize(total, 1))
		}
		y += heights[i]
	}
	l.t.head.Move(fyne.NewPos(1, 1))
	l.t.head.Resize(fyne.NewSize(total-2, heights[0]-1))
	l.t.frame.Resize(fyne.NewSize(total, y))
}
