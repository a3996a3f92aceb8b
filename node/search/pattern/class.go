package pattern

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// asciiClasses are the classes of [:name:].
var asciiClasses = map[string]set{
	"alnum":  {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}},
	"alpha":  {{'A', 'Z'}, {'a', 'z'}},
	"ascii":  {{0, 0x7f}},
	"blank":  {{'\t', '\t'}, {' ', ' '}},
	"cntrl":  {{0, 0x1f}, {0x7f, 0x7f}},
	"digit":  {{'0', '9'}},
	"graph":  {{'!', '~'}},
	"lower":  {{'a', 'z'}},
	"print":  {{' ', '~'}},
	"punct":  {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}},
	"space":  {{'\t', '\r'}, {' ', ' '}},
	"upper":  {{'A', 'Z'}},
	"word":   {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
	"xdigit": {{'0', '9'}, {'A', 'F'}, {'a', 'f'}},
}

// class parses a class behind its bracket, which is at start. Operators have the same precedence,
// below that of a union.
func (p *parser) class(start int) set {
	p.nest(start)
	defer func() { p.depth-- }()
	p.skipSpace()
	negated := p.accept("^")
	p.skipSpace()
	var left, members set
	var operator byte
	first := true // hyphens are literal at the beginning, and ] is when no hyphen precedes it
	for ; p.accept("-"); p.skipSpace() {
		members, first = append(members, span{'-', '-'}), false
	}
	if first && p.accept("]") {
		members = runes(']')
	}
	for {
		p.skipSpace()
		if p.pos == len(p.text) {
			p.fail(start, "missing closing ]", `Write \[ for the character itself.`)
		}
		switch {
		case p.accept("]"):
			s := p.flags.fold(p.flags.operate(operator, left, members))
			if negated {
				s = s.not(p.flags.top())
			}
			return nonNil(s)
		case p.accept("&&"), p.accept("--"), p.accept("~~"):
			left, members, operator = p.flags.operate(operator, left, members), nil, p.text[p.pos-1]
		case p.accept("["):
			members = append(members, p.bracket(p.pos-1)...)
		default:
			members = append(members, p.member()...)
		}
	}
}

// operate applies a set operator to left and the members after it, which need not be in order;
// without one, left is empty.
func (f flags) operate(operator byte, left, right set) set {
	left, right = f.fold(left), f.fold(right.normal())
	switch operator {
	case '&':
		return left.intersect(right)
	case '-':
		return left.minus(right)
	case '~':
		return left.minus(right).union(right.minus(left))
	}
	return right
}

func (p *parser) bracket(start int) set {
	if name, _, ok := strings.Cut(p.text[p.pos:], ":]"); ok && strings.HasPrefix(name, ":") {
		plain, negated := strings.CutPrefix(name[1:], "^")
		if s, ok := asciiClasses[plain]; ok {
			p.pos += len(name) + len(":]")
			s = p.flags.fold(s)
			if negated {
				s = s.not(p.flags.top())
			}
			return s
		}
	}
	return p.class(start)
}

func (p *parser) member() set {
	start := p.pos
	low, class := p.single()
	p.skipSpace()
	ahead := *p
	isRange := ahead.accept("-")
	ahead.skipSpace()
	if c := ahead.peek(); !isRange || c == ']' || c == '-' { // the hyphen is literal or belongs to --
		if class != nil {
			return class
		}
		return runes(low)
	}
	p.pos = ahead.pos
	if p.pos == len(p.text) {
		p.fail(start, "missing end of a range", `Write \- for the character itself.`)
	}
	high, class2 := p.single()
	switch {
	case class != nil || class2 != nil:
		p.fail(start, "a range needs characters at both ends", `Write \- for the character itself.`)
	case low > high:
		p.fail(start, "a range ends below its beginning", `Write \- for the character itself.`)
	}
	return set{{low, high}}
}

func (p *parser) single() (rune, set) {
	start := p.pos
	r, class := p.next(), set(nil)
	if r == '\\' {
		if r, class = p.escape(start); class != nil || r <= p.flags.top() {
			return r, class
		}
	} else if p.flags.has(unicodeOn) || r <= unicode.MaxASCII {
		return r, nil
	}
	p.partOfCharacter(start)
	return 0, nil
}

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

func (s set) pairs() (list []rune) {
	for _, p := range s {
		list = append(list, p.first, p.last)
	}
	return list
}

// fold adds the other cases of all characters that are at most top.
func (s set) fold(top rune) set {
	folded := slices.Clone(s)
	cased := casedRunes()
	for _, p := range s {
		i, _ := slices.BinarySearchFunc(cased, p.first, func(c casedRune, r rune) int { return cmp.Compare(c.r, r) })
		for ; i < len(cased) && cased[i].r <= p.last; i++ {
			for _, r := range cased[i].cases {
				if r <= top {
					folded = append(folded, span{r, r})
				}
			}
		}
	}
	return folded.normal()
}
