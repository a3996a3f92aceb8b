package pattern

import (
	"cmp"
	"slices"
	"sync"
	"unicode"
)

// span is the characters from first to last.
type span struct{ first, last rune }

// set is a set of characters: ascending spans with gaps between them.
type set []span

func runes(list ...rune) (s set) {
	for _, r := range list {
		s = append(s, span{r, r})
	}
	return s.normal()
}

// fromTables returns the characters of all tables.
func fromTables(tables ...*unicode.RangeTable) (s set) {
	add := func(first, last, stride rune) {
		if stride == 1 {
			s = append(s, span{first, last})
			return
		}
		for r := first; r <= last; r += stride {
			s = append(s, span{r, r})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return s.normal()
}

// normal sorts spans and joins those that overlap or touch. It changes s.
func (s set) normal() set {
	slices.SortFunc(s, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	joined := s[:0]
	for _, p := range s {
		if n := len(joined) - 1; n >= 0 && p.first <= joined[n].last+1 {
			joined[n].last = max(joined[n].last, p.last)
			continue
		}
		joined = append(joined, p)
	}
	return joined
}

func (s set) union(t set) set { return slices.Concat(s, t).normal() }

// not returns the characters from 0 to top that are not in s.
func (s set) not(top rune) (rest set) {
	next := rune(0)
	for _, p := range s {
		if p.first > next {
			rest = append(rest, span{next, p.first - 1})
		}
		next = p.last + 1
	}
	if next <= top {
		rest = append(rest, span{next, top})
	}
	return rest
}

func (s set) minus(t set) set {
	return s.not(unicode.MaxRune).union(t).not(unicode.MaxRune)
}

func (s set) intersect(t set) set { return s.minus(t.not(unicode.MaxRune)) }

func (s set) has(r rune) bool {
	i, _ := slices.BinarySearchFunc(s, r, func(p span, r rune) int { return cmp.Compare(p.last, r) })
	return i < len(s) && s[i].first <= r
}

// pairs lists the first and last character of every span.
func (s set) pairs() (list []rune) {
	for _, p := range s {
		list = append(list, p.first, p.last)
	}
	return list
}

// cased returns the characters that have another case.
var cased = sync.OnceValue(func() (list []rune) {
	for r := range rune(unicode.MaxRune) {
		if unicode.SimpleFold(r) != r {
			list = append(list, r)
		}
	}
	return list
})

// fold adds the other cases of all characters that are at most top.
func (s set) fold(top rune) set {
	folded := slices.Clone(s)
	for _, r := range cased() {
		if !s.has(r) {
			continue
		}
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if f <= top {
				folded = append(folded, span{f, f})
			}
		}
	}
	return folded.normal()
}
