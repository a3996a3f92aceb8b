package typeset

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

func direction(level uint8) bidi.Class {
	if level&1 == 1 {
		return bidi.R
	}
	return bidi.L
}

// resolve assigns the levels of an isolating run sequence (W1 to I2).
func (p *paragraph) resolve(seq []int) {
	level, last := p.explicitLevels[seq[0]], seq[len(seq)-1]
	before, after := p.levelBeside(seq[0], -1), p.base
	if !isIsolate(p.classes[last]) || p.match[last] != len(p.classes) {
		after = p.levelBeside(last, 1)
	}
	sos, eos := direction(max(level, before)), direction(max(level, after))
	types := make([]bidi.Class, len(seq))
	for k, i := range seq {
		types[k] = p.types[i]
	}
	resolveWeak(types, sos)
	p.resolveBrackets(seq, types, sos, direction(level))
	resolveNeutral(types, sos, eos, direction(level))
	for k, i := range seq {
		switch c := types[k]; {
		case level&1 == 0 && c == bidi.R, level&1 == 1 && c != bidi.R:
			p.levels[i] = level + 1
		case level&1 == 0 && c != bidi.L:
			p.levels[i] = level + 2
		}
	}
}

// levelBeside returns the level of the next character that X9 does not remove, or the paragraph's.
func (p *paragraph) levelBeside(at, step int) uint8 {
	for i := at + step; i >= 0 && i < len(p.classes); i += step {
		if !isRemoved(p.classes[i]) {
			return p.explicitLevels[i]
		}
	}
	return p.base
}

// resolveWeak resolves numbers and the characters around them (W1 to W7).
func resolveWeak(types []bidi.Class, sos bidi.Class) {
	prev := sos
	for k, c := range types { // W1
		if c == bidi.NSM {
			types[k] = prev
			if isIsolate(prev) || prev == bidi.PDI {
				types[k] = bidi.ON
			}
		}
		prev = types[k]
	}
	strong := sos
	for k, c := range types { // W2, followed by W3
		switch c {
		case bidi.L, bidi.R:
			strong = c
		case bidi.AL:
			strong, types[k] = bidi.AL, bidi.R
		case bidi.EN:
			if strong == bidi.AL {
				types[k] = bidi.AN
			}
		}
	}
	for k := 1; k+1 < len(types); k++ { // W4
		a, c, b := types[k-1], types[k], types[k+1]
		if a == b && (a == bidi.EN && (c == bidi.ES || c == bidi.CS) || a == bidi.AN && c == bidi.CS) {
			types[k] = a
		}
	}
	for k := 0; k < len(types); k++ { // W5
		if types[k] != bidi.ET {
			continue
		}
		to := k
		for to < len(types) && types[to] == bidi.ET {
			to++
		}
		if k > 0 && types[k-1] == bidi.EN || to < len(types) && types[to] == bidi.EN {
			for ; k < to; k++ {
				types[k] = bidi.EN
			}
		}
		k = to - 1
	}
	strong = sos
	for k, c := range types { // W6 and W7
		switch c {
		case bidi.ES, bidi.ET, bidi.CS:
			types[k] = bidi.ON
		case bidi.L, bidi.R:
			strong = c
		case bidi.EN:
			if strong == bidi.L {
				types[k] = bidi.L
			}
		}
	}
}

// strongClass returns the direction of a class for N0 to N2: numbers are R. ON means none.
func strongClass(c bidi.Class) bidi.Class {
	switch c {
	case bidi.L:
		return bidi.L
	case bidi.R, bidi.AL, bidi.EN, bidi.AN:
		return bidi.R
	}
	return bidi.ON
}

// resolveNeutral resolves neutral characters (N1 and N2).
func resolveNeutral(types []bidi.Class, sos, eos, along bidi.Class) {
	for k := 0; k < len(types); k++ {
		if strongClass(types[k]) != bidi.ON {
			continue
		}
		to := k
		for to < len(types) && strongClass(types[to]) == bidi.ON {
			to++
		}
		a, b := sos, eos
		if k > 0 {
			a = strongClass(types[k-1])
		}
		if to < len(types) {
			b = strongClass(types[to])
		}
		if a != b {
			a = along
		}
		for ; k < to; k++ {
			types[k] = a
		}
	}
}

// maxBrackets is the maximum number of open brackets (BD16).
const maxBrackets = 63

// bracketPairs returns the positions of matching brackets in the order of the opening ones (BD16).
func (p *paragraph) bracketPairs(seq []int, types []bidi.Class) (pairs [][2]int) {
	type bracket struct {
		closing  rune
		position int
	}
	var open []bracket
	for k, i := range seq {
		if types[k] != bidi.ON {
			continue
		}
		r := cmp.Or(canonical[p.text[i]], p.text[i])
		props, _ := bidi.LookupRune(r)
		if !props.IsBracket() {
			continue
		}
		if props.IsOpeningBracket() {
			if len(open) == maxBrackets {
				return nil
			}
			other, _ := utf8.DecodeRuneInString(bidi.ReverseString(string(r)))
			open = append(open, bracket{cmp.Or(canonical[other], other), k})
			continue
		}
		for n := len(open) - 1; n >= 0; n-- {
			if open[n].closing == r {
				pairs = append(pairs, [2]int{open[n].position, k})
				open = open[:n]
				break
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return a[0] - b[0] })
	return pairs
}

// resolveBrackets gives both brackets of a pair the same direction (N0).
func (p *paragraph) resolveBrackets(seq []int, types []bidi.Class, sos, along bidi.Class) {
	for _, pair := range p.bracketPairs(seq, types) {
		inside := bidi.Class(bidi.ON)
		for k := pair[0] + 1; k < pair[1] && inside != along; k++ {
			if c := strongClass(types[k]); c != bidi.ON {
				inside = c
			}
		}
		if inside == bidi.ON {
			continue
		}
		if inside != along { // the opposite direction counts if it also precedes the bracket
			context := sos
			for k := pair[0] - 1; k >= 0; k-- {
				if c := strongClass(types[k]); c != bidi.ON {
					context = c
					break
				}
			}
			if context != inside {
				inside = along
			}
		}
		for _, at := range pair {
			types[at] = inside
			for k := at + 1; k < len(seq) && p.classes[seq[k]] == bidi.NSM; k++ {
				types[k] = inside
			}
		}
	}
}

// canonical has the brackets with another one as their canonical equivalent.
var canonical = map[rune]rune{0x2329: 0x3008, 0x232a: 0x3009}
