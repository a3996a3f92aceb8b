package markdown

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Limits of a column's width, in letters of the text's size: the text of a column wraps before the
// table is wider than its place, down to minColumn.
const (
	maxColumn = 80
	minColumn = 10
)

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
	room  float32 // available width; 0 before the table has a place

	// the last measurement, and what it was made for
	widths, heights []float32
	measured        [2]float32
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
			cell.Events, cell.flow.maxWidth, cell.text.Separator = events, columnLimit(maxColumn), "\t"
			if c == 0 {
				cell.text.Separator = "\n"
			}
			cells = append(cells, cell)
			objects = append(objects, cell)
		}
		t.cells = append(t.cells, cells)
	}
	t.Compose(t, container.New(tableLayout{t}, objects...))
	return t
}

// columnLimit returns the width of a number of letters.
func columnLimit(letters float32) float32 { return letters * style.Size("text") / 2 }

// WrapTo wraps the text of the columns so that the table fits in a width, if it can.
func (t *table) WrapTo(width float32) {
	if width += widgets.ScrollBarWidth; width != t.room { // a table has no vertical scroll bar
		t.room = width
		t.LayOut()
	}
}

// SetView implements the scroller's interface: the table draws all of itself.
func (t *table) SetView(fyne.Position, fyne.Size) {}

type tableLayout struct{ t *table }

// columns returns the widths of the columns: those of their texts, but the widest are narrowed until
// the table fits in its place.
func (l tableLayout) columns() []float32 {
	widths := make([]float32, len(l.t.cells[0]))
	total := float32(0)
	for c := range widths {
		for _, row := range l.t.cells {
			row[c].flow.maxWidth = columnLimit(maxColumn)
			row[c].flow.layOut(0)
			widths[c] = max(widths[c], row[c].flow.fullSize.Width+2*cellPadding)
		}
		total += widths[c]
	}
	for l.t.room > 0 && total > l.t.room {
		widest := slices.Index(widths, slices.Max(widths))
		second := columnLimit(minColumn)
		for c, w := range widths {
			if c != widest {
				second = max(second, w)
			}
		}
		narrower := max(widths[widest]-(total-l.t.room), second-1, columnLimit(minColumn))
		if narrower >= widths[widest] {
			break
		}
		total -= widths[widest] - narrower
		widths[widest] = narrower
	}
	return widths
}

func (l tableLayout) measure() (widths, heights []float32) {
	t, now := l.t, [2]float32{l.t.room, style.Size("text")}
	if t.widths != nil && t.measured == now {
		return t.widths, t.heights
	}
	defer func() { t.widths, t.heights, t.measured = widths, heights, now }()
	widths = l.columns()
	for _, row := range l.t.cells {
		h := float32(0)
		for c, cell := range row {
			cell.flow.maxWidth = widths[c] - 2*cellPadding
			cell.flow.layOut(0)
			h = max(h, cell.flow.fullSize.Height+2*cellPadding-4)
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
			room := widths[c] - 2*cellPadding - cell.flow.fullSize.Width
			cell.Move(fyne.NewPos(x+cellPadding+float32(int(room*float32(l.t.align[c])/2)), y+cellPadding-2))
			cell.Resize(cell.flow.fullSize)
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
