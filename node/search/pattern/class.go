package pattern

import (
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
			s := p.fold(p.operate(operator, left, members))
			if negated {
				s = s.not(p.top())
			}
			return nonNil(s)
		case p.accept("&&"), p.accept("--"), p.accept("~~"):
			left, members, operator = p.operate(operator, left, members), nil, p.text[p.pos-1]
		case p.accept("["):
			members = append(members, p.bracket(p.pos-1)...)
		default:
			members = append(members, p.member()...)
		}
	}
}

func (p *parser) fold(s set) set {
	if p.has(ignoreCase) {
		return s.fold(p.topOfFold())
	}
	return s
}

// topOfFold is the last character that letter case leads to.
func (p *parser) topOfFold() rune {
	if p.has(unicodeOn) {
		return unicode.MaxRune
	}
	return unicode.MaxASCII
}

// operate applies a set operator to left and the members after it, which need not be in order;
// without one, left is empty.
func (p *parser) operate(operator byte, left, right set) set {
	left, right = p.fold(left), p.fold(right.normal())
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

// bracket parses a nested class, or an ASCII class such as [:alpha:], behind its bracket.
func (p *parser) bracket(start int) set {
	if name, _, ok := strings.Cut(p.text[p.pos:], ":]"); ok && strings.HasPrefix(name, ":") {
		plain, negated := strings.CutPrefix(name[1:], "^")
		if s, ok := asciiClasses[plain]; ok {
			p.pos += len(name) + len(":]")
			if s = p.fold(s); negated {
				s = s.not(p.top())
			}
			return s
		}
	}
	return p.class(start)
}

// member parses a character, a range, or a class such as \d.
func (p *parser) member() set {
	start := p.pos
	low, class := p.single()
	p.skipSpace()
	rest := p.text[p.pos:]
	if !strings.HasPrefix(rest, "-") || p.endsUnion() {
		if class != nil {
			return class
		}
		return runes(low)
	}
	p.next()
	p.skipSpace()
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

// endsUnion reports whether the hyphen at the current position is literal or belongs to --.
func (p *parser) endsUnion() bool {
	here := p.pos
	defer func() { p.pos = here }()
	p.next()
	p.skipSpace()
	return p.peek() == ']' || p.peek() == '-'
}

// single parses one character or one class such as \d.
func (p *parser) single() (rune, set) {
	start := p.pos
	r, class := p.next(), set(nil)
	if r == '\\' {
		if r, class = p.escape(start); class != nil || r <= p.top() {
			return r, class
		}
	} else if p.has(unicodeOn) || r <= unicode.MaxASCII {
		return r, nil
	}
	p.partOfCharacter(start)
	return 0, nil
}
