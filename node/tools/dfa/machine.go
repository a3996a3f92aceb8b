package dfa

import (
	"context"
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

const (
	// maxCells is how many transitions are remembered, of four bytes each.
	maxCells = 256 << 10
	// maxSeeds is how much the names of the states may take, in bytes.
	maxSeeds = 1 << 20
)

// A row of the table is a state. The first rows are no states: a transition to 0 is not known yet, one to matched ends the search.
const matched = 1

// Machine runs a program. One goroutine uses it at a time.
type Machine struct {
	*Program
	table  []uint32          // transitions: row, which is an index into table, plus column
	index  map[string]uint32 // rows by their seeds
	seeds  []string          // by row / stride
	size   int               // of all seeds, in bytes
	start  uint32            // the row at the beginning of a line
	made   int               // states since the machine was new
	marks  []uint32          // by instruction: the generation in which it was reached
	gen    uint32
	stack  []uint32
	leads  []uint32
	kernel []uint32 // instructions of a new state, ascending
	seed   []byte   // a state's name: what is known of the character before, and the kernel
}

// NewMachine makes a machine.
func (p *Program) NewMachine() *Machine {
	m := &Machine{Program: p, marks: make([]uint32, len(p.prog.Inst))}
	m.reset()
	return m
}

// What a state knows of the character before.
const (
	atBegin = 1 << iota // there is none: the line begins
	afterWord
)

func (m *Machine) reset() {
	m.table = append(m.table[:0], make([]uint32, 2*m.stride)...)
	m.seeds = append(m.seeds[:0], "", "")
	m.index, m.size = map[string]uint32{}, 0
	context := byte(atBegin)
	m.stack = append(m.stack[:0], uint32(m.prog.Start))
	m.expand()
	m.start = m.row(context)
}

// row finds or makes the state of the instructions in m.kernel, which wait for the next character to know whether their assertions hold.
func (m *Machine) row(context byte) uint32 {
	m.seed = append(m.seed[:0], context)
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

// next computes the transition of a state on a class of characters. The row it gives is valid; the one it was given may no longer be.
func (m *Machine) next(row uint32, column uint16) uint32 {
	if len(m.table) > maxCells || m.size > maxSeeds {
		seed := m.seeds[row/m.stride]
		m.reset()
		m.kernel = decode(m.kernel[:0], seed[1:])
		row = m.row(seed[0])
	}
	seed := m.seeds[row/m.stride]
	r, end := m.sample[column], column == m.eol
	word := !end && m.words && isWord(r)
	var holds syntax.EmptyOp
	begin, before := seed[0]&atBegin != 0, seed[0]&afterWord != 0
	if begin {
		holds |= syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	if end {
		holds |= syntax.EmptyEndLine | syntax.EmptyEndText
	}
	if before != word {
		holds |= syntax.EmptyWordBoundary
	} else {
		holds |= syntax.EmptyNoWordBoundary
	}
	m.stack = decode(m.stack[:0], seed[1:])
	to := uint32(matched)
	if !m.step(r, end, holds) {
		if end {
			to = m.start
		} else {
			var context byte
			if word {
				context = afterWord
			}
			to = m.row(context)
		}
	}
	m.table[row+uint32(column)] = to
	return to
}

// step follows the instructions on m.stack over r and leaves in m.kernel where they lead, or reports that the expression matches before or
// with r.
func (m *Machine) step(r rune, end bool, holds syntax.EmptyOp) bool {
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
			if syntax.EmptyOp(in.Arg)&^holds == 0 {
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

// expand replaces m.kernel by the instructions that those on m.stack lead to without a look at the text, and reports whether one of them is
// a match.
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

// generation is a mark that no instruction bears.
func (m *Machine) generation() uint32 {
	if m.gen++; m.gen == 0 {
		clear(m.marks)
		m.gen = 1
	}
	return m.gen
}

func decode(list []uint32, seed string) []uint32 {
	for i := 0; i < len(seed); {
		v, shift := uint32(0), 0
		for ; seed[i] >= 0x80; i++ {
			v |= uint32(seed[i]&0x7F) << shift
			shift += 7
		}
		v |= uint32(seed[i]) << shift
		i++
		list = append(list, v)
	}
	return list
}

func isWord(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
}

// State is where a machine stands in a line. It is valid until the machine is used for another text.
type State uint32

// Start is the state at the beginning of a line.
func (m *Machine) Start() State { return State(m.start) }

// Find runs over text, which begins in state at, up to the first byte behind which it is certain that a line matches. It gives that
// byte's index, from 0 to len(text), or -1. The byte is in the line or is its line feed. Without a match, the state is the one behind text:
// text may go on, if it does not end inside a character or with a carriage return.
//
// An expression that needs many states takes its time: ctx is asked every few thousand of them, and when it has ended Find gives -1.
func (m *Machine) Find(ctx context.Context, at State, text []byte) (int, State) {
	row := uint32(at)
	table, columns := m.table, &m.columns
	budget := m.made + 2000
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
		column, size := columns[text[i]], 1
		if column == m.special {
			if text[i] == '\r' {
				if i+1 == len(text) || text[i+1] == '\n' {
					i++
					continue
				}
				column = m.classOf('\r')
			} else {
				var r rune
				r, size = utf8.DecodeRune(text[i:])
				column = m.classOf(r)
			}
		}
		to := table[row+uint32(column)]
		if to == 0 {
			to = m.next(row, column)
			table = m.table
			if m.made > budget {
				if budget = m.made + 2000; ctx.Err() != nil {
					return -1, State(row)
				}
			}
		}
		if to == matched {
			return i, State(m.start)
		}
		row, i = to, i+size
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
