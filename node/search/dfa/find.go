package dfa

import (
	"bytes"
	"context"
	"unicode/utf8"
)

const (
	// short is the length in bytes up to which a text is searched byte by byte, as is the beginning
	// of a longer text.
	short = 2 << 10
	// block is the number of bytes that are searched in several places at once. A match in it is
	// located by searching again from the beginning of the block.
	block = 32 << 10
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
	done := lines(text, short)
	if done == 0 {
		return m.run(ctx, at, text)
	}
	i, end := m.run(ctx, at, text[:done])
	for i < 0 && len(text)-done > short {
		size := lines(text[done:], block)
		if size == 0 {
			break
		}
		if ctx.Err() != nil {
			return -1, m.Start()
		}
		if !m.skim(ctx, text[done:done+size]) {
			if i, end = m.run(ctx, m.Start(), text[done:done+size]); i >= 0 {
				return done + i, end
			}
		}
		done, end = done+size, m.Start()
	}
	if i >= 0 || done == len(text) || ctx.Err() != nil {
		return i, end
	}
	if i, end = m.run(ctx, end, text[done:]); i >= 0 {
		i += done
	}
	return i, end
}

// lines returns the end of the line that contains text[at], or else of the last complete line; 0
// when there is none.
func lines(text []byte, at int) int {
	if len(text) <= at {
		return bytes.LastIndexByte(text, '\n') + 1
	}
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return bytes.LastIndexByte(text[:at], '\n') + 1
}

// End reports whether a line that ends in state at matches.
func (m *Machine) End(at State) bool {
	to := m.table[uint32(at)+uint32(m.eol)]
	if to == 0 {
		to = m.next(uint32(at), m.eol)
	}
	return to == matched
}

// run is Find, byte by byte.
func (m *Machine) run(ctx context.Context, at State, text []byte) (int, State) {
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

// skim reports whether it is certain that no line of text, which ends with a line feed, matches. It
// searches four parts at once: each step depends on the previous one of its part, and meanwhile the
// processor can work on the others.
func (m *Machine) skim(ctx context.Context, text []byte) bool {
	var part [4][]byte
	for i := range 3 {
		end := lines(text, len(text)/(4-i))
		part[i], text = text[:end], text[end:]
	}
	part[3] = text
	row := [4]uint32{m.start, m.start, m.start, m.start}
	resets, budget := m.resets, m.made+m.patience
	for {
		n := min(len(part[0]), len(part[1]), len(part[2]), len(part[3]))
		if n == 0 {
			break
		}
		k := m.lockstep(&row, &part, n)
		if k == n {
			continue
		}
		if m.made > budget {
			return false
		}
		for i := range part {
			to, size := m.one(row[i], part[i])
			if to == matched || m.resets != resets {
				return false
			}
			row[i], part[i] = to, part[i][size:]
		}
	}
	for i := range part {
		found, _ := m.run(ctx, State(row[i]), part[i])
		if found >= 0 || m.resets != resets {
			return false
		}
	}
	return true
}

// lockstep advances n bytes in all parts, or until a part needs a closer look, and returns the
// number of bytes.
func (m *Machine) lockstep(row *[4]uint32, part *[4][]byte, n int) (k int) {
	table, columns := m.table, &m.columns
	a, b, c, d := row[0], row[1], row[2], row[3]
	p, q, r, s := part[0][:n], part[1][:n], part[2][:n], part[3][:n]
	for k = range p {
		e := table[a+uint32(columns[p[k]])]
		f := table[b+uint32(columns[q[k]])]
		g := table[c+uint32(columns[r[k]])]
		h := table[d+uint32(columns[s[k]])]
		if min(e, f, g, h) <= matched {
			n = k
			break
		}
		a, b, c, d = e, f, g, h
	}
	*row = [4]uint32{a, b, c, d}
	for i := range part {
		part[i] = part[i][n:]
	}
	return n
}
