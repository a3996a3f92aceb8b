package screen

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// A Cell is one character of a line as a window draws it.
type Cell struct {
	Rune  rune   // ' ' where nothing was written
	Marks string // combining characters that belong to Rune
	Width int    // in columns: 1 or 2
	Style Style
	Link  string // where the text leads, or ""
}

// A Style is how a cell is drawn. The zero value is the terminal's default.
type Style struct {
	Foreground, Background Color
	Attributes             Attributes
	link                   uint16 // index of the address in the table of links, 0: none
}

// Look returns the style without what does not change how text looks.
func (s Style) Look() Style {
	s.link = 0
	return s
}

// A Color is the zero value for the default, an index of the palette, or red, green and blue.
type Color uint32

const (
	paletteColor Color = 1 << 24
	directColor  Color = 2 << 24
)

// Palette returns the index of the palette's 256 colours, if the colour is one of them.
func (c Color) Palette() (index uint8, ok bool) { return uint8(c), c&^0xff == paletteColor }

// RGB returns the parts of a colour that was given directly.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c>>24 == directColor>>24
}

// Attributes are a set of Bold and the others.
type Attributes uint16

// The attributes of text.
const (
	Bold Attributes = 1 << iota
	Faint
	Italic
	Underline
	DoubleUnderline
	CurlyUnderline
	Blink
	Inverse
	Hidden
	Strike
	Overline
)

const anyUnderline = Underline | DoubleUnderline | CurlyUnderline

// glyph is the text of a cell: a character or an index of the table of clusters, and whether it is
// the first or the second half of a wide one. 0 is a cell that nothing was written to.
type glyph uint32

const (
	clusterGlyph glyph = 1 << 21
	wideGlyph    glyph = 1 << 22
	tailGlyph    glyph = 1 << 23
	glyphValue   glyph = 1<<21 - 1
)

// cell is one column of a row. It holds no pointers, so that the garbage collector skips rows.
type cell struct {
	glyph glyph
	style Style
}

// row is a line of the screen. Its text goes on in the next row if it is wrapped.
type row struct {
	cells   []cell
	end     int // the cells from here on are blank; most lines are short
	wrapped bool
}

func newRow(cols int, fill cell) *row {
	r := &row{cells: make([]cell, cols)}
	r.empty(fill)
	return r
}

// empty removes the text.
func (r *row) empty(fill cell) {
	r.wrapped = false
	if fill == (cell{}) {
		clear(r.cells[:r.end])
		r.end = 0
		return
	}
	r.fill(0, len(r.cells), fill)
}

// fill sets the cells from column x up to end.
func (r *row) fill(x, end int, fill cell) {
	cells := r.change(x, end)
	for i := range cells {
		cells[i] = fill
	}
}

// change returns the cells from column x up to end, which the caller will overwrite.
func (r *row) change(x, end int) []cell {
	r.split(x)
	r.split(end)
	r.end = max(r.end, end)
	return r.cells[x:end]
}

// split removes a wide character whose halves are on both sides of column x.
func (r *row) split(x int) {
	if x > 0 && x < len(r.cells) && r.cells[x].glyph&tailGlyph != 0 {
		r.cells[x-1].glyph, r.cells[x].glyph = 0, 0
	}
}

// used returns how many columns are left without the empty end.
func (r *row) used() int {
	n := r.end
	for n > 0 && isBlank(r.cells[n-1]) {
		n--
	}
	return n
}

func isBlank(c cell) bool {
	return (c.glyph == 0 || c.glyph == ' ') && c.style == Style{}
}

// maxCluster is how many bytes a character and its combining marks can have.
const maxCluster = 32

// runeWidth returns how many columns a character takes: what programs expect that use wcwidth, and
// what xterm.js takes with its Unicode 11 add-on.
func runeWidth(r rune) int {
	switch {
	case r < utf8.RuneSelf, r == 0xad, r >= 0x1f1e6 && r <= 0x1f1ff: // also the letters of flags
		return 1
	case r >= 0x1160 && r <= 0x11ff: // vowels and final consonants of Hangul syllables
		return 0
	}
	return displaywidth.Rune(r)
}

// isMark reports whether a character of no width belongs to the one before it. Marks that change
// the direction of text do not: they could make a line read as another one.
func isMark(r rune) bool {
	return r == '\u200d' || r == '\u200c' || !unicode.Is(unicode.Cf, r) && unicode.IsPrint(r) ||
		r >= 0xe0020 && r <= 0xe007f
}
