package dfa

import "regexp/syntax"

// Assertion is a condition on the characters before and after a position, or several conditions
// that must all hold.
type Assertion uint32

// Assertions of package regexp/syntax.
const (
	LineBegin      = Assertion(syntax.EmptyBeginText)
	LineEnd        = Assertion(syntax.EmptyEndText)
	WordBoundary   = Assertion(syntax.EmptyWordBoundary)
	NoWordBoundary = Assertion(syntax.EmptyNoWordBoundary)
)

// Assertions that package regexp/syntax lacks. The edge of a line counts as a character outside of
// words.
const (
	NoWordBefore Assertion = 1 << (iota + 8)
	NoWordAfter
	wordBefore
	wordAfter
	NoASCIIWordBefore // here words consist of ASCII characters
	NoASCIIWordAfter
	asciiWordBefore
	asciiWordAfter
	ASCIIWordBoundary
	NoASCIIWordBoundary
	LineBeginCRLF // a line edge, or after a carriage return
	LineEndCRLF   // a line edge, or before a carriage return

	WordStart      = NoWordBefore | wordAfter
	WordEnd        = wordBefore | NoWordAfter
	ASCIIWordStart = NoASCIIWordBefore | asciiWordAfter
	ASCIIWordEnd   = asciiWordBefore | NoASCIIWordAfter
)

// marker marks the number of a capture as an assertion, because the trees of regexp/syntax have no
// other place for it.
const marker = 1 << 24

// Tree returns the assertion as a tree that only [Compile] understands.
func (a Assertion) Tree() *syntax.Regexp {
	return &syntax.Regexp{Op: syntax.OpCapture, Cap: marker | int(a), Sub: []*syntax.Regexp{{Op: syntax.OpEmptyMatch}}}
}

// assertions turns marked captures back into assertions and returns all that the program has.
func assertions(prog *syntax.Prog) (all Assertion) {
	for i := range prog.Inst {
		in := &prog.Inst[i]
		if in.Op == syntax.InstCapture && in.Arg>>1&marker != 0 {
			if in.Arg%2 == 0 {
				in.Op, in.Arg = syntax.InstEmptyWidth, in.Arg>>1&^marker
			} else {
				in.Op = syntax.InstNop
			}
		}
		if in.Op == syntax.InstEmptyWidth {
			all |= Assertion(in.Arg)
		}
	}
	return all
}

// kind classifies the neighbour of a position, as far as assertions depend on it: a character, or
// the edge of the line.
type kind byte

const (
	lineEdge kind = 1 << iota
	word
	asciiWord
	carriageReturn
)

// neighbour is a kind with its characters, as ascending pairs of first and last.
type neighbour struct {
	kind kind
	set  []rune
}

func (a Assertion) neighbours(words []rune) (list []neighbour) {
	if a&(WordBoundary|NoWordBoundary|WordStart|WordEnd) != 0 {
		list = append(list, neighbour{word, words})
	}
	if a&(ASCIIWordBoundary|NoASCIIWordBoundary|ASCIIWordStart|ASCIIWordEnd) != 0 {
		list = append(list, neighbour{asciiWord, ASCII})
	}
	if a&(LineBeginCRLF|LineEndCRLF) != 0 {
		list = append(list, neighbour{carriageReturn, []rune{'\r', '\r'}})
	}
	return list
}

// holding returns the assertions that hold between two neighbours.
func holding(before, after kind) (all Assertion) {
	for _, a := range []struct {
		assertion Assertion
		holds     bool
	}{
		{LineBegin | Assertion(syntax.EmptyBeginLine), before&lineEdge != 0},
		{LineEnd | Assertion(syntax.EmptyEndLine), after&lineEdge != 0},
		{WordBoundary, (before^after)&word != 0},
		{NoWordBoundary, (before^after)&word == 0},
		{wordBefore, before&word != 0},
		{NoWordBefore, before&word == 0},
		{wordAfter, after&word != 0},
		{NoWordAfter, after&word == 0},
		{ASCIIWordBoundary, (before^after)&asciiWord != 0},
		{NoASCIIWordBoundary, (before^after)&asciiWord == 0},
		{asciiWordBefore, before&asciiWord != 0},
		{NoASCIIWordBefore, before&asciiWord == 0},
		{asciiWordAfter, after&asciiWord != 0},
		{NoASCIIWordAfter, after&asciiWord == 0},
		{LineBeginCRLF, before&(lineEdge|carriageReturn) != 0},
		{LineEndCRLF, after&(lineEdge|carriageReturn) != 0},
	} {
		if a.holds {
			all |= a.assertion
		}
	}
	return all
}

// size estimates how many instructions a tree needs, up to a little above maxProgram.
func size(tree *syntax.Regexp) int {
	n := 1
	switch tree.Op {
	case syntax.OpLiteral:
		n = len(tree.Rune)
	case syntax.OpConcat, syntax.OpRepeat:
		n = 0
	}
	for _, sub := range tree.Sub {
		n += size(sub)
	}
	if tree.Op == syntax.OpRepeat {
		n *= max(1, tree.Min, tree.Max)
	}
	return min(n, maxProgram+1)
}
