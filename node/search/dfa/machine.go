package dfa

import (
	"context"
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

const (
	// maxCells is the maximum number of cached transitions of four bytes each.
	maxCells = 256 << 10
	// maxSeeds is the maximum total size of the names of states, in bytes.
	maxSeeds = 1 << 20
)

// A row of the table is a state. The first rows are not states: a transition to 0 is unknown yet,
// one to matched ends the search.
const matched = 1

// Machine runs a program. Only one goroutine may use it at a time.
type Machine struct {
	*Program
	// table has the transitions; an index is a row (its first index in table) plus a column.
	table []uint32
	index map[string]uint32 // rows by their seeds
	seeds []string          // by row / stride
	size  int               // of all seeds together, in bytes
	start uint32            // the row at the beginning of a line
	made  int               // number of states made since the machine was new
	marks []uint32          // by instruction: the generation in which it was reached
	gen   uint32
	// patience is the number of states that may be made, each from all instructions at worst,
	// before the context is checked.
	patience int
	stack    []uint32
	leads    []uint32
	kernel   []uint32 // instructions of a new state, ascending
	seed     []byte   // name of a state: the kind of the previous character, and the kernel
}

// NewMachine makes a machine for the program.
func (p *Program) NewMachine() *Machine {
	m := &Machine{Program: p, marks: make([]uint32, len(p.prog.Inst)), patience: 1 + 500_000/len(p.prog.Inst)}
	m.reset()
	return m
}

func (m *Machine) reset() {
	m.table = append(m.table[:0], make([]uint32, 2*m.stride)...)
	m.seeds = append(m.seeds[:0], "", "")
	m.index, m.size = map[string]uint32{}, 0
	m.stack = append(m.stack[:0], uint32(m.prog.Start))
	m.expand()
	m.start = m.row(lineEdge)
}

// row finds or makes the state of the instructions in m.kernel, whose assertions depend on the next
// character.
func (m *Machine) row(before kind) uint32 {
	m.seed = append(m.seed[:0], byte(before))
	for _, pc := range m.kernel {
		m.seed = binary.AppendUvarint(m.seed, uint64(pc))
	}
	if row, ok := m.index[string(m.seed)]; ok {
		return row
	}
	row := uint32(len(m.table))
	m.table = append(m.table, make([]uint32, m.stride)...)
	m.table[row+uint32(m.same)] = row
	seed := string(m.seed)
	m.index[seed] = row
	m.seeds = append(m.seeds, seed)
	m.size += len(seed)
	m.made++
	return row
}

// next computes the transition of a state on a class of characters. It returns a valid row; the
// given row may no longer be valid.
func (m *Machine) next(row uint32, column uint16) uint32 {
	if len(m.table) > maxCells || m.size > maxSeeds {
		seed := m.seeds[row/m.stride]
		m.reset()
		m.kernel = decode(m.kernel[:0], seed[1:])
		row = m.row(kind(seed[0]))
	}
	seed := m.seeds[row/m.stride]
	r, end := m.sample[column], column == m.eol
	after := lineEdge
	if !end {
		after = m.kinds[column]
	}
	holds := holding(kind(seed[0]), after)
	m.stack = decode(m.stack[:0], seed[1:])
	to := uint32(matched)
	if !m.step(r, end, holds) {
		if end {
			to = m.start
		} else {
			to = m.row(after)
		}
	}
	m.table[row+uint32(column)] = to
	return to
}

// step follows the instructions on m.stack over r and stores their successors in m.kernel, or
// reports that the expression matches before or with r.
func (m *Machine) step(r rune, end bool, holds Assertion) bool {
	seen := m.generation()
	m.leads = m.leads[:0]
	for len(m.stack) > 0 {
		pc := m.pop()
		if m.marks[pc] == seen {
			continue
		}
		m.marks[pc] = seen
		in := &m.prog.Inst[pc]
		switch in.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			m.stack = append(m.stack, in.Out, in.Arg)
		case syntax.InstNop, syntax.InstCapture:
			m.stack = append(m.stack, in.Out)
		case syntax.InstEmptyWidth:
			if Assertion(in.Arg)&^holds == 0 {
				m.stack = append(m.stack, in.Out)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if !end && in.MatchRune(r) {
				m.leads = append(m.leads, in.Out)
			}
		}
	}
	m.stack = append(append(m.stack, m.leads...), uint32(m.prog.Start)) // a match may begin anywhere
	return m.expand() && !end
}

// expand replaces m.kernel by the instructions that those on m.stack reach without reading a
// character, and reports whether one of them is a match.
func (m *Machine) expand() (match bool) {
	seen := m.generation()
	m.kernel = m.kernel[:0]
	for len(m.stack) > 0 {
		pc := m.pop()
		if m.marks[pc] == seen {
			continue
		}
		m.marks[pc] = seen
		in := &m.prog.Inst[pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			m.stack = append(m.stack, in.Out, in.Arg)
		case syntax.InstNop, syntax.InstCapture:
			m.stack = append(m.stack, in.Out)
		case syntax.InstFail:
		default:
			match = match || in.Op == syntax.InstMatch
			m.kernel = append(m.kernel, pc)
		}
	}
	slices.Sort(m.kernel)
	return match
}

func (m *Machine) pop() uint32 {
	pc := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return pc
}

// generation returns a mark that no instruction has.
func (m *Machine) generation() uint32 {
	if m.gen++; m.gen == 0 {
		clear(m.marks)
		m.gen = 1
	}
	return m.gen
}

func decode(list []uint32, seed string) []uint32 {
	for rest := []byte(seed); len(rest) > 0; {
		v, n := binary.Uvarint(rest)
		list, rest = append(list, uint32(v)), rest[n:]
	}
	return list
}

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
			budget = m.made + m.patience
			if ctx.Err() != nil {
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
