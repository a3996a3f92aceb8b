package code

import (
	"fmt"
	"image/color"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/parser"

	"fairlead/app/style"
)

// OutputLines returns the lines of a program's output as a terminal would show them: with its
// colours, and with lines that were written several times, such as progress bars, in their last
// state. Any goroutine may call it.
func OutputLines(text string) []Line {
	if !needsTerminal(text) {
		return PlainLines(text)
	}
	lines := runTerminal(text, true)
	if n := len(lines); len(lines[n-1].Spans) == 0 { // after the last line break
		lines = lines[:n-1]
	}
	return lines
}

// CleanOutput makes the output of a program displayable without its colours: it removes escape
// sequences, moves the cursor as a terminal would, expands tabs, and replaces invalid UTF-8 and
// other control characters with �.
func CleanOutput(s string) string {
	if !needsTerminal(s) {
		return s
	}
	return JoinLines(runTerminal(s, true))
}

func needsTerminal(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == utf8.RuneError })
}

// Limits of the terminal: the columns that a line can have when the cursor jumps, and tab stops.
const (
	maxColumn = 2000
	tabWidth  = 4
)

// glyph is a character of the terminal's screen, with the index of its style.
type glyph struct {
	r     rune
	style int32
}

// terminal is a screen of unlimited height. Positions on the screen, which full-screen programs
// use, have no effect.
type terminal struct {
	moves    bool
	rows     [][]glyph
	row, col int
	style    Span // of the next character, without a text
	inverse  bool
	styles   []Span // all visible styles; the first is plain
	index    map[Span]int32
	current  int32 // index of the next character's style
}

// runTerminal returns the lines of a screen. moves makes the cursor move as the text says; otherwise
// no text can hide another.
func runTerminal(s string, moves bool) []Line {
	t := &terminal{moves: moves, rows: make([][]glyph, 1, strings.Count(s, "\n")+1), styles: make([]Span, 1), index: map[Span]int32{{}: 0}}
	p := ansi.NewParser()
	p.SetHandler(ansi.Handler{Print: t.print, Execute: t.control, HandleCsi: t.sequence})
	for i := 0; i < len(s); {
		// Characters need no parser, which takes some bytes of broken UTF-8 for control characters.
		if r, n := utf8.DecodeRuneInString(s[i:]); r >= ' ' && p.State() == parser.GroundState {
			t.print(r)
			i += n
			continue
		}
		p.Advance(s[i])
		i++
	}
	lines := make([]Line, len(t.rows))
	for i, row := range t.rows {
		lines[i] = t.line(row)
	}
	return lines
}

// line joins characters of the same style.
func (t *terminal) line(row []glyph) (l Line) {
	var text strings.Builder
	for i, g := range row {
		text.WriteRune(g.r)
		if i+1 == len(row) || row[i+1].style != g.style {
			s := t.styles[g.style]
			s.Text = text.String()
			l.Spans = append(l.Spans, s)
			text.Reset()
		}
	}
	return l
}

func (t *terminal) print(r rune) {
	if r < ' ' || r >= 0x7f && r < 0xa0 {
		r = utf8.RuneError
	}
	row := t.rows[t.row]
	for len(row) <= t.col {
		row = append(row, glyph{r: ' '})
	}
	row[t.col] = glyph{r, t.current}
	t.rows[t.row] = row
	t.col++
}

// updateStyle sets the style of the next character. Inverse text gets a background instead of its
// colour.
func (t *terminal) updateStyle() {
	s := t.style
	if t.inverse {
		s.Color, s.Background = "", s.Color
		if s.Background == "" {
			s.Background = style.ColorMuted
		}
	}
	i, known := t.index[s]
	if !known {
		i = int32(len(t.styles))
		t.index[s] = i
		t.styles = append(t.styles, s)
	}
	t.current = i
}

func (t *terminal) control(b byte) {
	switch b {
	case '\n':
		t.row++
		t.col = 0
		if t.row == len(t.rows) {
			t.rows = append(t.rows, nil)
		}
	case '\r':
		if t.moves {
			t.col = 0
		} else {
			t.print(utf8.RuneError)
		}
	case '\b':
		if t.moves {
			t.col = max(t.col-1, 0)
		}
	case '\t':
		for next := t.col + tabWidth - t.col%tabWidth; t.col < next; {
			t.print(' ')
		}
	case '\a', 0x0e, 0x0f: // the bell, and other character sets
	default:
		t.print(utf8.RuneError)
	}
}

// sequence handles a control sequence: colours, deleting in a line, moving the cursor.
func (t *terminal) sequence(cmd ansi.Cmd, params ansi.Params) {
	if cmd.Prefix() != 0 || cmd.Intermediate() != 0 || !t.moves {
		return
	}
	first, _, _ := params.Param(0, 0)
	n := min(max(first, 1), maxColumn)
	switch cmd.Final() {
	case 'm':
		t.setStyle(params)
	case 'K':
		t.erase(first)
	case 'A':
		t.row = max(t.row-n, 0)
	case 'B':
		t.row = min(t.row+n, len(t.rows)-1)
	case 'C':
		t.col = min(t.col+n, maxColumn)
	case 'D':
		t.col = max(t.col-n, 0)
	case 'E':
		t.row, t.col = min(t.row+n, len(t.rows)-1), 0
	case 'F':
		t.row, t.col = max(t.row-n, 0), 0
	case 'G':
		t.col = n - 1
	}
}

// erase deletes in the line of the cursor: 0 to its end, 1 from its beginning, 2 all.
func (t *terminal) erase(what int) {
	row := t.rows[t.row]
	at := min(t.col, len(row))
	switch what {
	case 0:
		t.rows[t.row] = row[:at]
	case 1:
		for i := range row[:at] {
			row[i] = glyph{r: ' '}
		}
	case 2:
		t.rows[t.row] = nil
	}
}

// setStyle handles the parameters of a change of style (ECMA-48, SGR).
func (t *terminal) setStyle(params ansi.Params) {
	defer t.updateStyle()
	if len(params) == 0 {
		t.style, t.inverse = Span{}, false
	}
	for i := 0; i < len(params); i++ {
		switch n := params[i].Param(0); {
		case n == 38, n == 48, n == 58:
			var c color.Color
			read := ansi.ReadStyleColor(params[i:], &c)
			if read == 0 {
				return
			}
			i += read - 1
			switch name := colorName(c); n {
			case 38:
				t.style.Color = name
			case 48:
				t.style.Background = name
			}
		default:
			t.setAttribute(n)
		}
	}
}

// setAttribute handles one parameter of a change of style.
func (t *terminal) setAttribute(n int) {
	s := &t.style
	switch {
	case n == 0:
		*s, t.inverse = Span{}, false
	case n == 1, n == 22:
		s.Bold = n == 1
	case n == 3, n == 23:
		s.Italic = n == 3
	case n == 4, n == 21, n == 24:
		s.Underline = n != 24
	case n == 7, n == 27:
		t.inverse = n == 7
	case n == 9, n == 29:
		s.Strike = n == 9
	case n == 2 && s.Color == "":
		s.Color = style.ColorMuted
	case n >= 30 && n < 38:
		s.Color = terminalColors[n-30]
	case n >= 90 && n < 98:
		s.Color = terminalColors[n-90+8]
	case n == 39:
		s.Color = ""
	case n >= 40 && n < 48:
		s.Background = terminalColors[n-40]
	case n >= 100 && n < 108:
		s.Background = terminalColors[n-100+8]
	case n == 49:
		s.Background = ""
	}
}

// terminalColors are the 16 basic colours. Black and white are those of text, because either would
// be invisible in one of the themes.
var terminalColors = [16]fyne.ThemeColorName{
	style.ColorMuted, style.ColorBad, style.ColorGood, style.ColorYellow, style.ColorAccent, style.ColorMagenta, style.ColorCyan, "",
	style.ColorMuted, style.ColorBad, style.ColorGood, style.ColorYellow, style.ColorAccent, style.ColorMagenta, style.ColorCyan, "",
}

// colorName returns the name of a terminal's colour.
func colorName(c color.Color) fyne.ThemeColorName {
	switch c := c.(type) {
	case nil:
		return ""
	case ansi.BasicColor:
		return terminalColors[c&15]
	case ansi.IndexedColor:
		if c < 16 {
			return terminalColors[c]
		}
	}
	r, g, b, a := c.RGBA()
	if a == 0 {
		return ""
	}
	return style.RGB(fmt.Sprintf("%02x%02x%02x", r>>8, g>>8, b>>8))
}
