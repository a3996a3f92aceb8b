package terminal

import (
	"strings"

	"fairlead/gateway/peer/screen"
)

// place is a cell: its column, and its line counted from the first one that the terminal ever had.
type place struct{ line, column int }

func (p place) before(other place) bool {
	return p.line < other.line || p.line == other.line && p.column < other.column
}

// selected is the text between two places, the second one not included.
type selected struct{ from, to place }

func (s selected) isEmpty() bool { return s.from == s.to }

// ordered returns the places in the order of the text.
func (s selected) ordered() (from, to place) {
	if s.to.before(s.from) {
		return s.to, s.from
	}
	return s.from, s.to
}

// columns returns the selected columns of a line, which has so many.
func (s selected) columns(line, cols int) (from, to int) {
	first, last := s.ordered()
	if line < first.line || line > last.line {
		return 0, 0
	}
	to = cols
	if line == first.line {
		from = first.column
	}
	if line == last.line {
		to = last.column
	}
	return from, to
}

// text returns the selected text. Lines that the terminal wrapped are one.
func (s selected) text(sc *screen.Screen) string {
	first, last := s.ordered()
	cols, _ := sc.Size()
	var b strings.Builder
	for n := first.line; n <= last.line; n++ {
		cells, wrapped := sc.Line(n-sc.Scrolled(), nil)
		from, to := s.columns(n, cols)
		text := textOf(between(cells, from, to))
		if !wrapped || n == last.line {
			text = strings.TrimRight(text, " ")
		}
		b.WriteString(text)
		if !wrapped && n < last.line {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// between returns the cells that begin in the columns from up to to.
func between(cells []screen.Cell, from, to int) (found []screen.Cell) {
	column := 0
	for _, c := range cells {
		if column >= from && column < to {
			found = append(found, c)
		}
		column += c.Width
	}
	return found
}

// wordAt returns the columns of the word at a column: characters without spaces and quotation marks.
func wordAt(cells []screen.Cell, at int) (from, to int) {
	column, inWord := 0, false
	for _, c := range cells {
		isPart := !strings.ContainsRune(" \"'`()<>[]{}|,;", c.Rune)
		if isPart && !inWord {
			from = column
		}
		if inWord = isPart; !isPart && column > at {
			return from, column
		}
		if !isPart && column == at {
			return at, at + 1
		}
		column += c.Width
		to = column
	}
	return from, to
}
