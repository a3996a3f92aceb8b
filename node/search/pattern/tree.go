package pattern

import (
	"regexp/syntax"
	"unicode"
)

func empty() *syntax.Regexp { return &syntax.Regexp{Op: syntax.OpEmptyMatch} }

func literalTree(text []rune, flags syntax.Flags) *syntax.Regexp {
	if len(text) == 0 {
		return empty()
	}
	return &syntax.Regexp{Op: syntax.OpLiteral, Rune: text, Flags: flags}
}

// classTree prefers literals, which a search can find directly.
func classTree(s set) *syntax.Regexp {
	list := s.pairs()
	switch {
	case len(list) == 0:
		return &syntax.Regexp{Op: syntax.OpNoMatch}
	case len(list) == 2 && list[0] == list[1]:
		return literalTree(list[:1], 0)
	case len(list) == 4 && list[0] == list[1] && list[2] == list[3] && unicode.SimpleFold(list[0]) == list[2] && unicode.SimpleFold(list[2]) == list[0]:
		return literalTree(list[2:3], syntax.FoldCase)
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
		return empty()
	case 1:
		return joined[0]
	}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: joined}
}

// alternate joins branches, which makes searches faster: neighbours that begin with the same text
// share it, and neighbours of one character become a class.
func alternate(branches []*syntax.Regexp) *syntax.Regexp {
	var joined []*syntax.Regexp
	for i := 0; i < len(branches); {
		prefix, flags := leading(branches[i])
		end := i + 1
		for ; end < len(branches); end++ {
			other, otherFlags := leading(branches[end])
			n := common(prefix, other)
			if n == 0 || flags != otherFlags {
				break
			}
			prefix = prefix[:n:n]
		}
		if end == i+1 {
			joined = append(joined, branches[i])
		} else {
			var rests []*syntax.Regexp
			for _, b := range branches[i:end] {
				rests = append(rests, behind(b, len(prefix)))
			}
			joined = append(joined, concat([]*syntax.Regexp{literalTree(prefix, flags), alternate(rests)}))
		}
		i = end
	}
	joined = joinCharacters(joined)
	if len(joined) == 1 {
		return joined[0]
	}
	return &syntax.Regexp{Op: syntax.OpAlternate, Sub: joined}
}

// leading returns the literal that a branch begins with.
func leading(branch *syntax.Regexp) ([]rune, syntax.Flags) {
	if branch.Op == syntax.OpConcat {
		branch = branch.Sub[0]
	}
	if branch.Op != syntax.OpLiteral {
		return nil, 0
	}
	return branch.Rune, branch.Flags
}

func common(a, b []rune) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// behind returns a branch without the first n characters of its leading literal.
func behind(branch *syntax.Regexp, n int) *syntax.Regexp {
	text, flags := leading(branch)
	rest := literalTree(text[n:], flags)
	if branch.Op != syntax.OpConcat {
		return rest
	}
	return concat(append([]*syntax.Regexp{rest}, branch.Sub[1:]...))
}

// joinCharacters merges neighbouring branches that match one character.
func joinCharacters(branches []*syntax.Regexp) (joined []*syntax.Regexp) {
	var last set // of the last branch in joined, if it matches one character
	for _, b := range branches {
		s := oneCharacter(b)
		if s != nil && last != nil {
			last = last.union(s)
			joined[len(joined)-1] = classTree(last)
			continue
		}
		joined, last = append(joined, b), s
	}
	return joined
}

func oneCharacter(tree *syntax.Regexp) (s set) {
	switch {
	case tree.Op == syntax.OpLiteral && len(tree.Rune) == 1 && tree.Flags&syntax.FoldCase != 0:
		return runes(tree.Rune...).fold(unicode.MaxRune)
	case tree.Op == syntax.OpLiteral && len(tree.Rune) == 1:
		return runes(tree.Rune...)
	case tree.Op == syntax.OpCharClass:
		for i := 0; i < len(tree.Rune); i += 2 {
			s = append(s, span{tree.Rune[i], tree.Rune[i+1]})
		}
	}
	return s
}
