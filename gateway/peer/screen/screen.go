// Package screen holds the screen of a terminal in memory: a program's output goes in, and what a
// terminal would show comes out, as cells or as escape sequences that bring another terminal to the
// same state.
//
// Where terminals differ it follows xterm.js, which shows the same output in browsers.
package screen

import (
	"strings"
	"unicode/utf8"
)

// A Screen is the screen of one terminal. It is not safe for concurrent use: its owner holds a lock.
type Screen struct {
	state       *state
	interpreter *interpreter
}

// The smallest and the largest size of a screen, in cells. Two columns have room for a wide character.
const (
	minCols = 2
	minRows = 1
	maxSize = 1000
)

// New returns an empty screen that stores up to history lines that scrolled out at the top.
func New(cols, rows, history int) *Screen {
	cols, rows = fitting(cols, rows)
	s := newState(cols, rows, max(history, 0))
	return &Screen{s, newInterpreter(s)}
}

func fitting(cols, rows int) (int, int) {
	return min(max(cols, minCols), maxSize), min(max(rows, minRows), maxSize)
}

// Write takes the output of the program. It never fails and never blocks.
func (s *Screen) Write(p []byte) (int, error) {
	s.interpreter.write(p)
	return len(p), nil
}

// Resize sets the size, and keeps the newest lines. The size is at least 2×1 and at most 1000×1000.
func (s *Screen) Resize(cols, rows int) {
	if cols, rows = fitting(cols, rows); cols != s.state.main.cols || rows != len(s.state.main.rows) {
		s.state.resize(cols, rows)
	}
}

// Snapshot returns the escape sequences that bring a terminal of the same size to the state of this
// one, with history, colours, cursor, modes and title. It can be several megabytes.
func (s *Screen) Snapshot() []byte { return s.interpreter.snapshot() }

// Answers returns what the program must be told since the last call: answers to its questions, such
// as where the cursor is. They belong into the program's input.
func (s *Screen) Answers() []byte {
	answers := s.interpreter.answers
	s.interpreter.answers = nil
	return answers
}

// Size returns the size in cells.
func (s *Screen) Size() (cols, rows int) { return s.state.main.cols, len(s.state.main.rows) }

// Title returns the title that the program set, in one line of harmless characters, or "".
func (s *Screen) Title() string { return s.interpreter.title }

// Cursor returns the column and the row of the cursor.
func (s *Screen) Cursor() (x, y int) { return s.state.cursor.x, s.state.cursor.y }

// Modes returns what the program switched on.
func (s *Screen) Modes() Modes { return s.state.modes }

// HistoryLines returns how many lines scrolled out at the top and are stored.
func (s *Screen) HistoryLines() int { return s.state.history.len() }

// Scrolled returns how many lines have scrolled out at the top so far, whether they are stored or
// not: with it a line can be found again after others have scrolled out.
func (s *Screen) Scrolled() int { return s.state.history.pushed }

// Line appends the cells of line i without its empty end to cells, and says whether its text goes on
// in the next line. Line 0 is the first on the screen, and -HistoryLines() the oldest.
func (s *Screen) Line(i int, cells []Cell) (_ []Cell, wrapped bool) {
	add := func(base rune, marks string, width int, style Style) {
		cells = append(cells, Cell{base, marks, width, style, s.state.links.texts[style.link]})
	}
	h := &s.state.history
	switch {
	case i < -h.len() || i >= len(s.state.active.rows):
		return cells, false
	case i < 0:
		l := h.at(h.len() + i)
		l.each(add)
		return cells, l.wrapped
	}
	r := s.state.active.rows[i]
	for _, c := range r.cells[:r.used()] {
		if c.glyph&tailGlyph != 0 {
			continue
		}
		width := 1
		if c.glyph&wideGlyph != 0 {
			width = 2
		}
		if base := rune(c.glyph & glyphValue); base > 0 && c.glyph&clusterGlyph == 0 {
			add(base, "", width, c.style)
			continue
		}
		text := s.state.clusters.text(c.glyph)
		base, size := utf8.DecodeRuneInString(text)
		add(base, text[size:], width, c.style)
	}
	return cells, r.wrapped
}

// Text returns the text of line i without its blank end; lines are counted as for Line.
func (s *Screen) Text(i int) string {
	cells, _ := s.Line(i, nil)
	var b strings.Builder
	for _, c := range cells {
		b.WriteRune(c.Rune)
		b.WriteString(c.Marks)
	}
	return strings.TrimRight(b.String(), " ")
}
