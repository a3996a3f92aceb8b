package pattern

import (
	"regexp/syntax"
	"slices"
	"unicode"
)

func literalTree(r rune, flags syntax.Flags) *syntax.Regexp {
	return &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{r}, Flags: flags}
}

// simpleFolds returns a character with its other cases as package regexp/syntax folds literals.
func simpleFolds(r rune) set {
	list := []rune{r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		list = append(list, f)
	}
	return runes(list...)
}

// classTree prefers literals, which a search can find directly.
func classTree(s set) *syntax.Regexp {
	list := s.pairs()
	switch n := len(list); {
	case n == 0:
		return &syntax.Regexp{Op: syntax.OpNoMatch}
	case n == 2 && list[0] == list[1]:
		return literalTree(list[0], 0)
	case n == 4 && slices.Equal(s, simpleFolds(list[0])):
		return literalTree(list[2], syntax.FoldCase)
	}
	return &syntax.Regexp{Op: syntax.OpCharClass, Rune: list}
}

func repeat(item *syntax.Regexp, low, high int) *syntax.Regexp {
	op := syntax.OpRepeat
	switch {
	case low == 0 && high < 0:
		op = syntax.OpStar
	case low == 1 && high < 0:
		op = syntax.OpPlus
	case low == 0 && high == 1:
		op = syntax.OpQuest
	}
	return &syntax.Regexp{Op: op, Sub: []*syntax.Regexp{item}, Min: low, Max: high}
}

// concat joins items, which it may change; neighbouring literals become one.
func concat(items []*syntax.Regexp) *syntax.Regexp {
	var joined []*syntax.Regexp
	for _, item := range items {
		parts := []*syntax.Regexp{item}
		if item.Op == syntax.OpConcat {
			parts = item.Sub
		}
		for _, part := range parts {
			if part.Op == syntax.OpEmptyMatch {
				continue
			}
			if n := len(joined) - 1; n >= 0 && part.Op == syntax.OpLiteral && joined[n].Op == syntax.OpLiteral && part.Flags == joined[n].Flags {
				joined[n].Rune = append(joined[n].Rune, part.Rune...)
				continue
			}
			joined = append(joined, part)
		}
	}
	switch len(joined) {
	case 0:
		return &syntax.Regexp{Op: syntax.OpEmptyMatch}
	case 1:
		return joined[0]
	}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: joined}
}

func alternate(branches []*syntax.Regexp) *syntax.Regexp {
	if len(branches) == 1 {
		return branches[0]
	}
	return &syntax.Regexp{Op: syntax.OpAlternate, Sub: branches}
}
