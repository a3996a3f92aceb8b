package typeset

import (
	"slices"

	"golang.org/x/text/unicode/bidi"
)

// This file implements the Unicode Bidirectional Algorithm (UAX 9, revision 48), with the rule
// names of its text. The tables are from golang.org/x/text. Its ordering of runs is not used,
// because it returns directions but not the levels that rule L2 needs, for example to place a
// number after Hebrew words.

// maxDepth is the maximum depth of embeddings (BD2).
const maxDepth = 125

// firstRightToLeft is less than all right-to-left letters and directional formatting characters.
const firstRightToLeft = 0x590

// levels returns the levels of a paragraph's runes up to rule I2, with rule L1 applied to
// separators, and the paragraph level. fixed is the paragraph level, or -1 to derive it from the
// text.
func levels(text []rune, fixed int) (list []uint8, base uint8) {
	if fixed <= 0 && !slices.ContainsFunc(text, func(r rune) bool { return r >= firstRightToLeft }) {
		return make([]uint8, len(text)), 0
	}
	p := paragraph{classes: make([]bidi.Class, len(text)), text: text, levels: make([]uint8, len(text)), match: make([]int, len(text))}
	for i, r := range text {
		c, _ := bidi.LookupRune(r)
		p.classes[i] = c.Class()
	}
	p.types = slices.Clone(p.classes)
	p.pairIsolates()
	if fixed < 0 {
		p.base = p.firstStrongLevel(0, len(text))
	} else {
		p.base = uint8(fixed)
	}
	p.explicit()
	p.explicitLevels = slices.Clone(p.levels)
	p.sequences()
	p.assignRemoved()
	p.resetSeparators(p.levels, 0, len(text))
	return p.levels, p.base
}

type paragraph struct {
	text           []rune
	classes        []bidi.Class // original classes
	types          []bidi.Class // classes as changed by the rules
	levels         []uint8
	explicitLevels []uint8 // levels of the embeddings, before later rules change them
	// for an isolate's initiator and its end the index of the other, or the text's length, or -1
	match []int
	base  uint8
}

func isIsolate(c bidi.Class) bool { return c == bidi.LRI || c == bidi.RLI || c == bidi.FSI }

// isRemoved reports whether rule X9 removes a class.
func isRemoved(c bidi.Class) bool {
	switch c {
	case bidi.LRE, bidi.RLE, bidi.LRO, bidi.RLO, bidi.PDF, bidi.BN:
		return true
	}
	return false
}

// pairIsolates finds the matching ends of isolates (BD9).
func (p *paragraph) pairIsolates() {
	var open []int
	for i, c := range p.classes {
		p.match[i] = -1
		switch {
		case isIsolate(c):
			p.match[i] = len(p.classes)
			open = append(open, i)
		case c == bidi.PDI && len(open) > 0:
			from := open[len(open)-1]
			open = open[:len(open)-1]
			p.match[from], p.match[i] = i, from
		case c == bidi.B:
			open = open[:0]
		}
	}
}

// firstStrongLevel returns the level from the first strong character outside isolates (P2, P3).
func (p *paragraph) firstStrongLevel(from, to int) uint8 {
	for i := from; i < to; i++ {
		switch c := p.classes[i]; {
		case c == bidi.L:
			return 0
		case c == bidi.R, c == bidi.AL:
			return 1
		case isIsolate(c):
			i = p.match[i]
		}
	}
	return 0
}

type embedding struct {
	level    uint8
	override bidi.Class // ON means none
	isolate  bool
}

// embeddings is the stack of rules X1 to X8.
type embeddings struct {
	stack                                        []embedding
	isolateOverflow, embeddingOverflow, isolates int
}

func (e *embeddings) top() embedding { return e.stack[len(e.stack)-1] }

func (e *embeddings) pop() { e.stack = e.stack[:len(e.stack)-1] }

// push adds an embedding, and reports false if it exceeds the maximum depth.
func (e *embeddings) push(right, isolate bool, override bidi.Class) bool {
	level := e.top().level
	if right {
		level = (level + 1) | 1
	} else {
		level = (level + 2) &^ 1
	}
	if level > maxDepth || e.isolateOverflow > 0 || e.embeddingOverflow > 0 {
		return false
	}
	e.stack = append(e.stack, embedding{level, override, isolate})
	return true
}

// endIsolate closes an isolate and the embeddings in it (X6a).
func (e *embeddings) endIsolate() {
	switch {
	case e.isolateOverflow > 0:
		e.isolateOverflow--
	case e.isolates > 0:
		e.embeddingOverflow = 0
		for !e.top().isolate {
			e.pop()
		}
		e.pop()
		e.isolates--
	}
}

// endEmbedding closes an embedding (X7).
func (e *embeddings) endEmbedding() {
	switch {
	case e.isolateOverflow > 0:
	case e.embeddingOverflow > 0:
		e.embeddingOverflow--
	case !e.top().isolate && len(e.stack) > 1:
		e.pop()
	}
}

// explicit assigns levels from the formatting characters (X1 to X8).
func (p *paragraph) explicit() {
	e := embeddings{stack: []embedding{{p.base, bidi.ON, false}}}
	for i, c := range p.classes {
		p.levels[i] = e.top().level
		override := e.top().override
		switch c {
		case bidi.RLE, bidi.LRE, bidi.RLO, bidi.LRO:
			direction := map[bidi.Class]bidi.Class{bidi.RLE: bidi.ON, bidi.LRE: bidi.ON, bidi.RLO: bidi.R, bidi.LRO: bidi.L}[c]
			if !e.push(c == bidi.RLE || c == bidi.RLO, false, direction) && e.isolateOverflow == 0 {
				e.embeddingOverflow++
			}
			continue
		case bidi.RLI, bidi.LRI, bidi.FSI:
			if e.push(c == bidi.RLI || c == bidi.FSI && p.firstStrongLevel(i+1, p.match[i]) == 1, true, bidi.ON) {
				e.isolates++
			} else {
				e.isolateOverflow++
			}
		case bidi.PDI:
			e.endIsolate()
			p.levels[i], override = e.top().level, e.top().override
		case bidi.PDF:
			e.endEmbedding()
			continue
		case bidi.B:
			p.levels[i] = p.base
			e = embeddings{stack: e.stack[:1]}
			continue
		case bidi.BN:
			continue
		}
		if override != bidi.ON {
			p.types[i] = override
		}
	}
}

// sequences finds the isolating run sequences (X10, BD13) and resolves each.
func (p *paragraph) sequences() {
	var runs [][]int
	runOf := make([]int, len(p.types))
	for i, c := range p.classes {
		if isRemoved(c) {
			continue
		}
		if n := len(runs); n == 0 || p.explicitLevels[runs[n-1][0]] != p.explicitLevels[i] {
			runs = append(runs, nil)
		}
		n := len(runs) - 1
		runs[n], runOf[i] = append(runs[n], i), n
	}
	for _, run := range runs {
		if first := run[0]; p.classes[first] == bidi.PDI && p.match[first] >= 0 {
			continue // it continues a sequence
		}
		at := run
		for {
			last := at[len(at)-1]
			if !isIsolate(p.classes[last]) || p.match[last] == len(p.classes) {
				break
			}
			at = runs[runOf[p.match[last]]]
			run = append(run[:len(run):len(run)], at...)
		}
		p.resolve(run)
	}
}

// assignRemoved gives the characters that X9 removes the level of the preceding one (5.2).
func (p *paragraph) assignRemoved() {
	level := p.base
	for i, c := range p.classes {
		if isRemoved(c) {
			p.levels[i] = level
		}
		level = p.levels[i]
	}
}

// resetSeparators resets separators, and spaces before them, to the paragraph level (L1).
func (p *paragraph) resetSeparators(list []uint8, from, to int) {
	for i := from; i < to; i++ {
		if c := p.classes[i]; c == bidi.S || c == bidi.B {
			list[i] = p.base
			for k := i - 1; k >= from && isBlank(p.classes[k]); k-- {
				list[k] = p.base
			}
		}
	}
}

// isBlank reports whether rule L1 treats a class as a space.
func isBlank(c bidi.Class) bool { return c == bidi.WS || isIsolate(c) || c == bidi.PDI || isRemoved(c) }

// trailingSpaces returns the index at which the spaces at the end of a line begin.
func trailingSpaces(line []rune) int {
	n := len(line)
	for n > 0 {
		p, _ := bidi.LookupRune(line[n-1])
		if c := p.Class(); !isBlank(c) && c != bidi.S && c != bidi.B {
			break
		}
		n--
	}
	return n
}

// visualOrder returns the order from left to right of the parts of a line with these levels (L2).
func visualOrder(list []uint8) []int {
	order := make([]int, len(list))
	highest := uint8(0)
	for i := range order {
		order[i] = i
		highest = max(highest, list[i])
	}
	for level := highest; level > 0; level-- {
		for from := 0; from < len(order); from++ {
			to := from
			for to < len(order) && list[order[to]] >= level {
				to++
			}
			slices.Reverse(order[from:to])
			from = to
		}
	}
	return order
}
