package terminal

import (
	"image"
	"image/color"
	"math"
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/typeset"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/screen"
)

// Proportions of the monospaced font: lines touch, so that frames of characters have no gaps.
const (
	lineHeight = 1.17
	baseline   = 0.93
	boldOffset = 0.6 // between the two copies of a bold letter: the font has only one weight
)

// cellSize returns the size of a cell in the running theme.
func cellSize() fyne.Size {
	size := style.Size(style.SizeCode)
	s := widgets.MeasureText("MMMMMMMMMM", size, fyne.TextStyle{Monospace: true})
	return fyne.NewSize(s.Width/10, float32(math.Round(float64(size*lineHeight))))
}

// line is what a row of the widget shows.
type line struct {
	cells    []screen.Cell
	from, to int // the selected columns
	cursor   int // its column, or -1
	shape    cursorShape
}

type cursorShape int

// Shapes of the cursor.
const (
	block cursorShape = iota
	underline
	bar
	outline // the keyboard is elsewhere
)

func (l line) equal(other line) bool {
	return l.from == other.from && l.to == other.to && l.cursor == other.cursor && l.shape == other.shape && slices.Equal(l.cells, other.cells)
}

// painter paints one row.
type painter struct {
	img   *image.RGBA
	inks  *inks
	cell  fyne.Size
	scale float32
	size  float32 // of the text
}

// paint returns the picture of a row.
func (l line) paint(w, h int, inks *inks, cell fyne.Size) image.Image {
	p := painter{image.NewRGBA(image.Rect(0, 0, w, h)), inks, cell, float32(h) / cell.Height, style.Size(style.SizeCode)}
	p.rect(0, 0, float32(w)/p.scale, cell.Height, inks.ground)
	column := 0
	for from := 0; from < len(l.cells); {
		to, columns := from, 0
		for to < len(l.cells) && l.cells[to].Style == l.cells[from].Style && (to == from || isASCII(l.cells[to]) && isASCII(l.cells[from])) {
			columns += l.cells[to].Width
			to++
		}
		p.run(l.cells[from:to], column, columns)
		from, column = to, column+columns
	}
	if l.from < l.to {
		p.rect(float32(l.from)*cell.Width, 0, float32(l.to-l.from)*cell.Width, cell.Height, withAlpha(style.Color(style.ColorAccent), 0x60))
	}
	if l.cursor >= 0 {
		p.cursor(l)
	}
	return p.img
}

func isASCII(c screen.Cell) bool { return c.Rune < 0x80 && c.Marks == "" }

func withAlpha(c color.Color, alpha uint8) color.Color {
	n := rgb(c)
	n.A = alpha
	return n
}

func (p *painter) rect(x, y, w, h float32, c color.Color) {
	typeset.Fill(p.img, x*p.scale, y*p.scale, w*p.scale, h*p.scale, c)
}

// run paints cells of one style: several of ASCII, or one other.
func (p *painter) run(cells []screen.Cell, column, columns int) {
	s := cells[0].Style
	ink := p.inks.of(s)
	x, width := float32(column)*p.cell.Width, float32(columns)*p.cell.Width
	if ink.hasGround {
		p.rect(x, 0, width, p.cell.Height, ink.ground)
	}
	p.text(cells, x, ink.text, s.Attributes&screen.Bold != 0)
	bottom := p.cell.Height - 1
	isLink := cells[0].Link != ""
	if s.Attributes&(screen.Underline|screen.CurlyUnderline|screen.DoubleUnderline) != 0 || isLink {
		p.rect(x, bottom-1, width, 1, ink.text)
	}
	if s.Attributes&screen.DoubleUnderline != 0 {
		p.rect(x, bottom-3, width, 1, ink.text)
	}
	if s.Attributes&screen.Strike != 0 {
		p.rect(x, p.cell.Height/2, width, 1, ink.text)
	}
	if s.Attributes&screen.Overline != 0 {
		p.rect(x, 0, width, 1, ink.text)
	}
}

func (p *painter) text(cells []screen.Cell, x float32, c color.Color, bold bool) {
	text := textOf(cells)
	base := int(math.Round(float64(p.size * baseline * p.scale)))
	paint := func(x float32) {
		typeset.Cells(p.img, text, p.size, p.scale, p.cell.Width, x*p.scale, base, func(s string) int { return len(s) }, c)
	}
	paint(x)
	if bold {
		paint(x + boldOffset)
	}
}

func textOf(cells []screen.Cell) string {
	var text []byte
	for _, c := range cells {
		text = append(append(text, string(c.Rune)...), c.Marks...)
	}
	return string(text)
}

// cursor paints the cursor over its cell.
func (p *painter) cursor(l line) {
	cell, columns := screen.Cell{Rune: ' '}, 1
	for column, i := 0, 0; i < len(l.cells); i++ {
		if column == l.cursor {
			cell, columns = l.cells[i], l.cells[i].Width
		}
		column += l.cells[i].Width
	}
	x, w, h := float32(l.cursor)*p.cell.Width, float32(columns)*p.cell.Width, p.cell.Height
	c := style.Color(style.ColorAccent)
	switch l.shape {
	case block:
		p.rect(x, 0, w, h, c)
		p.text([]screen.Cell{cell}, x, style.Legible(p.inks.ground, c), false)
	case underline:
		p.rect(x, h-2, w, 2, c)
	case bar:
		p.rect(x, 0, 2, h, c)
	case outline:
		p.rect(x, 0, w, 1, c)
		p.rect(x, h-1, w, 1, c)
		p.rect(x, 0, 1, h, c)
		p.rect(x+w-1, 0, 1, h, c)
	}
}
