package dfa

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxProgram is the maximum number of instructions of an expression: one step of the automaton
	// visits all of them at worst.
	maxProgram = 50_000
	// maxClasses is the maximum number of character classes that an expression may distinguish.
	maxClasses = 5_000
)

// ErrTooLarge is the error for an expression that would take too long per byte.
var ErrTooLarge = errors.New("the expression is too large")

// Program is a compiled expression. It is safe for use by many goroutines.
type Program struct {
	prog *syntax.Prog
	// Characters that no instruction distinguishes form one class. Each class is a column of the
	// transition table; after them come the columns of line ends and of bytes that are not
	// characters.
	bounds  []rune   // where intervals of characters begin, ascending; the first is 0
	class   []uint16 // of each interval
	sample  []rune   // a character of each class
	columns [256]uint16
	stride  uint32 // columns of a row
	eol     uint16 // the column of the line's end
	same    uint16 // of bytes inside a character whose first byte decided: the state stays
	special uint16 // of bytes that need a look at what follows
	kinds   []kind // of each class, as far as assertions depend on it
}

// ASCII are the word characters of RE2.
var ASCII = []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}

// Compile makes a program. The tree need not be simplified; it may contain assertions made by
// [Assertion.Tree]. words are the characters of words, as ascending pairs of first and last.
func Compile(tree *syntax.Regexp, words []rune) (*Program, error) {
	if size(tree) > maxProgram { // repetitions grow when they are compiled
		return nil, ErrTooLarge
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if len(prog.Inst) > maxProgram {
		return nil, ErrTooLarge
	}
	p := &Program{prog: prog}
	neighbours := assertions(prog).neighbours(words)
	if err := p.classes(p.sets(neighbours), neighbours); err != nil {
		return nil, err
	}
	for b := range 256 {
		p.columns[b] = p.column(byte(b))
	}
	return p, nil
}

// sets returns the character sets of the program, as ascending pairs of first and last.
func (p *Program) sets(neighbours []neighbour) [][]rune {
	seen := map[string]bool{}
	var sets [][]rune
	add := func(set []rune) {
		if key := string(set); !seen[key] {
			seen[key] = true
			sets = append(sets, set)
		}
	}
	for i := range p.prog.Inst {
		switch in := &p.prog.Inst[i]; in.Op {
		case syntax.InstRune, syntax.InstRune1:
			if len(in.Rune) > 1 {
				add(in.Rune)
				continue
			}
			if len(in.Rune) == 0 {
				continue
			}
			r := in.Rune[0]
			set := []rune{r, r}
			if in.Op == syntax.InstRune && syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
				for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
					set = append(set, f, f)
				}
				slices.Sort(set)
			}
			add(set)
		}
	}
	for _, n := range neighbours {
		add(n.set)
	}
	add([]rune{'\n', '\n'})
	return sets
}

func (p *Program) classes(sets [][]rune, neighbours []neighbour) error {
	p.bounds = append(p.bounds, 0)
	for _, set := range sets {
		for i := 0; i+1 < len(set); i += 2 {
			p.bounds = append(p.bounds, set[i], set[i+1]+1)
		}
	}
	slices.Sort(p.bounds)
	p.bounds = slices.Compact(p.bounds)
	if n := len(p.bounds); p.bounds[n-1] > unicode.MaxRune {
		p.bounds = p.bounds[:n-1]
	}
	// An interval's signature lists the sets that contain it; intervals with equal signatures form
	// one class.
	signature := make([]strings.Builder, len(p.bounds))
	for n, set := range sets {
		for i := 0; i+1 < len(set); i += 2 {
			at, _ := slices.BinarySearch(p.bounds, set[i])
			for ; at < len(p.bounds) && p.bounds[at] <= set[i+1]; at++ {
				fmt.Fprintf(&signature[at], "%d,", n)
			}
		}
	}
	index := map[string]uint16{}
	for i := range signature {
		key := signature[i].String()
		class, ok := index[key]
		if !ok {
			if len(index) == maxClasses {
				return ErrTooLarge
			}
			class = uint16(len(index))
			index[key] = class
			p.sample = append(p.sample, p.bounds[i])
			var kinds kind
			for _, n := range neighbours {
				if within(n.set, p.bounds[i]) {
					kinds |= n.kind
				}
			}
			p.kinds = append(p.kinds, kinds)
		}
		p.class = append(p.class, class)
	}
	n := uint16(len(index))
	p.eol, p.same, p.special = p.classOf('\n'), n, n+1
	p.stride = uint32(n) + 2
	return nil
}

func within(set []rune, r rune) bool {
	at, found := slices.BinarySearch(set, r)
	return found || at%2 == 1
}

func (p *Program) classOf(r rune) uint16 {
	i, found := slices.BinarySearch(p.bounds, r)
	if !found {
		i--
	}
	return p.class[i]
}

func (p *Program) column(b byte) uint16 {
	switch {
	case b == '\r':
		return p.special
	case b < utf8.RuneSelf:
		return p.classOf(rune(b))
	case b < 0xC0:
		return p.same
	}
	// All characters that begin with this byte.
	var low, high rune
	switch {
	case b < 0xE0:
		low, high = rune(b&0x1F)<<6, rune(b&0x1F)<<6|0x3F
	case b < 0xF0:
		low, high = rune(b&0x0F)<<12, rune(b&0x0F)<<12|0xFFF
	default:
		low, high = rune(b&0x07)<<18, rune(b&0x07)<<18|0x3FFFF
	}
	low, high = max(low, utf8.RuneSelf), min(high, unicode.MaxRune)
	if low > high {
		return p.classOf(utf8.RuneError)
	}
	first := p.classOf(low)
	i, found := slices.BinarySearch(p.bounds, low)
	if !found {
		i--
	}
	for ; i < len(p.bounds) && p.bounds[i] <= high; i++ {
		if p.class[i] != first {
			return p.special
		}
	}
	return first
}
