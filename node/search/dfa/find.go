package dfa

import (
	"context"
	"unicode/utf8"
)

// State is the state of a machine within a line. It is valid until the machine is used for another
// text.
type State uint32

// Start returns the state at the beginning of a line.
func (m *Machine) Start() State { return State(m.start) }

// Find runs over text, beginning in state at, to the first byte after which it is certain that a
// line matches. It returns that byte's index, from 0 to len(text), or -1. The byte is in the line
// or is its line feed. Without a match, the returned state is the one after text; text may be
// continued unless it ends inside a character or with a carriage return.
//
// An expression that needs many states takes long, so Find checks ctx now and then and returns -1
// when it has ended.
func (m *Machine) Find(ctx context.Context, at State, text []byte) (int, State) {
	row := uint32(at)
	table, columns := m.table, &m.columns
	budget := m.made + m.patience
	for i := 0; i < len(text); {
		for i+4 <= len(text) {
			a := table[row+uint32(columns[text[i]])]
			if a <= matched {
				break
			}
			b := table[a+uint32(columns[text[i+1]])]
			if b <= matched {
				row, i = a, i+1
				break
			}
			c := table[b+uint32(columns[text[i+2]])]
			if c <= matched {
				row, i = b, i+2
				break
			}
			d := table[c+uint32(columns[text[i+3]])]
			if d <= matched {
				row, i = c, i+3
				break
			}
			row, i = d, i+4
		}
		if i >= len(text) {
			break
		}
		to, size := m.one(row, text[i:])
		if to == matched {
			return i, State(m.start)
		}
		row, i, table = to, i+size, m.table
		if m.made > budget {
			if budget = m.made + m.patience; ctx.Err() != nil {
				break
			}
		}
	}
	return -1, State(row)
}

// End reports whether a line that ends in state at matches.
func (m *Machine) End(at State) bool {
	to := m.table[uint32(at)+uint32(m.eol)]
	if to == 0 {
		to = m.next(uint32(at), m.eol)
	}
	return to == matched
}

// one makes the transition from row on the first character of text, and returns its size in bytes.
func (m *Machine) one(row uint32, text []byte) (to uint32, size int) {
	column, size := m.columns[text[0]], 1
	if column == m.special {
		if text[0] == '\r' {
			if len(text) == 1 || text[1] == '\n' {
				return row, 1
			}
			column = m.classOf('\r')
		} else {
			var r rune
			r, size = utf8.DecodeRune(text)
			column = m.classOf(r)
		}
	}
	if to = m.table[row+uint32(column)]; to == 0 {
		to = m.next(row, column)
	}
	return to, size
}
