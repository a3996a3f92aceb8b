package screen

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/parser"
)

// Commands with a byte before their parameters or before their letter.
const (
	private   = '?' << parser.PrefixShift
	secondary = '>' << parser.PrefixShift
	space     = ' ' << parser.IntermedShift
	bang      = '!' << parser.IntermedShift
	dollar    = '$' << parser.IntermedShift
)

// count returns a parameter that says how often or how far: at least 1, and not more than any screen
// has.
func count(params ansi.Params, i int) int {
	n, _, _ := params.Param(i, 1)
	return min(max(n, 1), parser.MaxParam)
}

// number returns a parameter, or 0 if it is missing.
func number(params ansi.Params, i int) int {
	n, _, _ := params.Param(i, 0)
	return min(max(n, 0), parser.MaxParam)
}

// csi carries out a control sequence.
func (in *interpreter) csi(cmd ansi.Cmd, params ansi.Params) {
	last := in.writer.last
	in.writer.last = 0
	switch {
	case cmd == 'm':
		in.state.cursor.pen.set(params)
		in.writer.last = last
	case cmd == 'b':
		in.repeat(last, count(params, 0))
	case in.move(cmd, params), in.edit(cmd, params), in.set(cmd, params):
	default:
		in.report(cmd, params)
	}
}

// repeat writes a character again, but not more often than it has room.
func (in *interpreter) repeat(g glyph, n int) {
	if g == 0 {
		return
	}
	width := 1
	if g&wideGlyph != 0 {
		width = 2
	}
	for range min(n, in.state.active.cols*len(in.state.active.rows)) {
		in.writer.wrap()
		if in.state.cursor.x+width > in.state.active.cols {
			return
		}
		in.writer.writeGlyph(g, width)
	}
}

// move carries out what moves the cursor.
func (in *interpreter) move(cmd ansi.Cmd, params ansi.Params) bool {
	s, n := in.state, count(params, 0)
	c := &s.cursor
	switch cmd {
	case 'A', 'F':
		s.moveUp(n)
	case 'B', 'e', 'E':
		s.moveDown(n)
	case 'C', 'a':
		c.x, c.pending = min(c.x+n, s.active.cols-1), false
	case 'D':
		c.x, c.pending = max(c.x-n, 0), false
	case 'G', '`':
		c.x, c.pending = min(n, s.active.cols)-1, false
	case 'H', 'f':
		s.moveTo(count(params, 1)-1, n-1)
	case 'd':
		s.moveTo(c.x, n-1)
	case 'I':
		s.tab(n)
	case 'Z':
		s.tab(-n)
	case 's':
		s.save()
	case 'u':
		s.restore()
	case 'r':
		bottom := number(params, 1)
		if bottom == 0 {
			bottom = parser.MaxParam
		}
		s.setRegion(n-1, bottom-1)
	default:
		return false
	}
	if cmd == 'E' || cmd == 'F' {
		c.x = 0
	}
	return true
}

// edit carries out what moves and erases text.
func (in *interpreter) edit(cmd ansi.Cmd, params ansi.Params) bool {
	s, n := in.state, count(params, 0)
	g, c := s.active, &s.cursor
	switch cmd {
	case 'J', 'J' | private:
		in.eraseScreen(number(params, 0))
	case 'K', 'K' | private:
		in.eraseLine(number(params, 0))
	case 'X':
		c.pending = false
		g.eraseCells(c.y, c.x, min(c.x+n, g.cols), s.blank())
	case '@':
		c.pending = false
		g.insertCells(c.x, c.y, n, s.blank())
	case 'P':
		c.pending = false
		g.deleteCells(c.x, c.y, n, s.blank())
	case 'L':
		s.insertLines(n)
	case 'M':
		s.insertLines(-n)
	case 'S':
		g.scrollUp(g.top, g.bottom, n, s.blank(), nil)
	case 'T':
		if len(params) > 1 { // mouse highlighting
			break
		}
		g.scrollDown(g.top, g.bottom, n, s.blank())
	default:
		return false
	}
	return true
}

// eraseLine empties the line after the cursor, up to it, or all of it.
func (in *interpreter) eraseLine(part int) {
	s := in.state
	x, y := s.cursor.x, s.cursor.y
	switch part {
	case 0:
		if !s.cursor.pending { // the cursor is after the last column
			s.active.eraseCells(y, x, s.active.cols, s.blank())
		}
	case 1:
		s.active.eraseCells(y, 0, x+1, s.blank())
	case 2:
		s.active.eraseCells(y, 0, s.active.cols, s.blank())
	}
}

// eraseScreen empties the screen after the cursor, up to it, all of it, or the history.
func (in *interpreter) eraseScreen(part int) {
	s := in.state
	switch part {
	case 0, 1:
		in.eraseLine(part)
		if part == 0 {
			s.active.eraseRows(s.cursor.y+1, len(s.active.rows), s.blank())
		} else {
			s.active.eraseRows(0, s.cursor.y, s.blank())
		}
	case 2:
		s.active.eraseRows(0, len(s.active.rows), s.blank())
	case 3:
		s.history.clear()
	}
}

// set carries out what changes modes.
func (in *interpreter) set(cmd ansi.Cmd, params ansi.Params) bool {
	s := in.state
	switch cmd {
	case 'h', 'l', 'h' | private, 'l' | private:
		for i := range params {
			s.setMode(cmd.Prefix() == '?', number(params, i), cmd.Final() == 'h')
		}
	case 'p' | bang:
		s.softReset()
	case 'q' | space:
		if n := number(params, 0); n <= 6 {
			s.modes.CursorShape = n
		}
	case 'g':
		switch number(params, 0) {
		case 0:
			s.tabs[s.cursor.x] = false
		case 3:
			clear(s.tabs)
		}
	case 't':
		in.windowOperation(number(params, 0))
	default:
		return false
	}
	return true
}

// windowOperation stores and restores titles, and reports the size.
func (in *interpreter) windowOperation(n int) {
	switch {
	case n == 22 && len(in.titles) < maxTitles:
		in.titles = append(in.titles, in.title)
	case n == 23 && len(in.titles) > 0:
		in.title = in.titles[len(in.titles)-1]
		in.titles = in.titles[:len(in.titles)-1]
	case n == 18:
		in.answer("\x1b[8;%d;%dt", len(in.state.active.rows), in.state.active.cols)
	}
}

// report answers a question of the program.
func (in *interpreter) report(cmd ansi.Cmd, params ansi.Params) {
	n := number(params, 0)
	switch cmd {
	case 'c':
		if n == 0 {
			in.answer("\x1b[?62;22c") // a VT220 with colours
		}
	case 'c' | secondary:
		if n == 0 {
			in.answer("\x1b[>1;10;0c")
		}
	case 'q' | secondary:
		if n == 0 {
			in.answer("\x1bP>|fairlead\x1b\\")
		}
	case 'n', 'n' | private:
		in.reportStatus(cmd.Prefix() == '?', n)
	case 'p' | dollar, 'p' | dollar | private:
		mark := ""
		if cmd.Prefix() == '?' {
			mark = "?"
		}
		in.answer("\x1b[%s%d;%d$y", mark, n, in.state.modes.report(mark != "", n))
	}
}

func (in *interpreter) reportStatus(isPrivate bool, n int) {
	s := in.state
	switch {
	case n == 5 && !isPrivate:
		in.answer("\x1b[0n")
	case n == 6:
		y := s.cursor.y + 1
		if s.modes.origin {
			y -= s.active.top
		}
		mark := ""
		if isPrivate {
			mark = "?"
		}
		in.answer("\x1b[%s%d;%dR", mark, y, s.cursor.x+1)
	}
}

// dcs answers that settings and capabilities are unknown. It ignores pictures.
func (in *interpreter) dcs(cmd ansi.Cmd) {
	switch {
	case cmd.Final() == 'q' && cmd.Intermediate() == '$':
		in.answer("\x1bP0$r\x1b\\")
	case cmd.Final() == 'q' && cmd.Intermediate() == '+':
		in.answer("\x1bP0+r\x1b\\")
	}
}

// answer queues an answer, unless nobody reads them.
func (in *interpreter) answer(layout string, values ...any) {
	if len(in.answers) < maxAnswers {
		in.answers = fmt.Appendf(in.answers, layout, values...)
	}
}
