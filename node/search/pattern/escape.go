package pattern

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"fairlead/node/search/dfa"
)

// assertion is an escape sequence that matches no character.
type assertion struct{ unicode, ascii dfa.Assertion }

// assertions are those of one character, boundaries those of a name in braces after \b.
var (
	assertions = map[rune]assertion{
		'b': {dfa.WordBoundary, dfa.ASCIIWordBoundary},
		'B': {dfa.NoWordBoundary, dfa.NoASCIIWordBoundary},
		'<': {dfa.WordStart, dfa.ASCIIWordStart},
		'>': {dfa.WordEnd, dfa.ASCIIWordEnd},
		'A': {dfa.LineBegin, dfa.LineBegin},
		'z': {dfa.LineEnd, dfa.LineEnd},
	}
	boundaries = map[string]assertion{
		"start":      {dfa.WordStart, dfa.ASCIIWordStart},
		"end":        {dfa.WordEnd, dfa.ASCIIWordEnd},
		"start-half": {dfa.NoWordBefore, dfa.NoASCIIWordBefore},
		"end-half":   {dfa.NoWordAfter, dfa.NoASCIIWordAfter},
	}
)

// assertion parses an assertion after its backslash, or returns nil.
func (p *parser) assertion(start int) *syntax.Regexp {
	a, ok := assertions[p.peek()]
	if !ok {
		return nil
	}
	ahead := *p
	if p.next() == 'b' && ahead.accept("b{") {
		if name, closed := ahead.readBraced(); closed && name != "" && (name[0] == '-' || unicode.IsLetter(rune(name[0]))) {
			p.pos = ahead.pos
			if a, ok = boundaries[name]; !ok {
				p.fail(start, "unknown word boundary", `Write \b{start}, \b{end}, \b{start-half} or \b{end-half}.`)
			}
		}
	}
	if p.flags.has(unicodeOn) {
		return a.unicode.Tree()
	}
	return a.ascii.Tree()
}

// readBraced returns the text up to the next closing brace, without blanks in verbose mode, if
// there is such a brace.
func (p *parser) readBraced() (text string, closed bool) {
	text, _, closed = strings.Cut(p.text[p.pos:], "}")
	if !closed {
		return "", false
	}
	p.pos += len(text) + 1
	if p.flags.has(verbose) {
		text = strings.Join(strings.Fields(text), "")
	}
	return text, true
}

var controls = map[rune]rune{'a': '\a', 'f': '\f', 't': '\t', 'r': '\r', 'n': '\n', 'v': '\v'}

var otherEscapes = []struct{ letters, problem, remedy string }{
	{"123456789kg", backRef, writeOut},
	{"0", "octal numbers are not supported", `Write \x00, or \x and two hexadecimal digits.`},
	{"hH", `\h and \H are not supported`, `Write [ \t] or [^ \t].`},
	{"R", `\R is not supported`, "Leave it out: a search is line by line."},
	{"ZG", `\Z and \G are not supported`, "Write $ for the end of a line, ^ for its beginning."},
	{"K", `\K is not supported`, "Leave it out: whole lines are returned."},
	{"NXC", `\N, \X and \C are not supported`, "Write . for any character."},
	{"e", `\e is not supported`, `Write \x1b.`},
	{"c", "control characters of this form are not supported", `Write \x and two hexadecimal digits.`},
	{"E", `\E without \Q`, `Write \\E for a backslash and an E.`},
	{"AzbB<>Q", "this cannot be a part of a class", "Write it outside of the brackets."},
}

// escape parses an escape sequence after its backslash, which is at start. It returns a character
// or, if class is not nil, a class.
func (p *parser) escape(start int) (r rune, class set) {
	if p.pos == len(p.text) {
		p.fail(start, `the expression ends with \`, `Write \\ for the character itself.`)
	}
	c := p.next()
	if r, ok := controls[c]; ok {
		return r, nil
	}
	switch c {
	case 'x', 'u', 'U':
		return p.hex(start, map[rune]int{'x': 2, 'u': 4, 'U': 8}[c]), nil
	case 'p', 'P':
		return 0, p.property(start, c == 'P')
	case 'd', 's', 'w', 'D', 'S', 'W':
		class = p.flags.perl(unicode.ToLower(c))
		if unicode.IsUpper(c) {
			class = class.not(p.flags.top())
		}
		return 0, class
	}
	for _, e := range otherEscapes {
		if strings.ContainsRune(e.letters, c) {
			p.fail(start, e.problem, e.remedy)
		}
	}
	if c > unicode.MaxASCII || unicode.IsLetter(c) {
		p.fail(start, "unknown escape sequence", `Leave the \ out for the character itself, or write \\ for a backslash.`)
	}
	return c, nil
}

func (f flags) perl(letter rune) set {
	switch {
	case !f.has(unicodeOn):
		return asciiClasses[map[rune]string{'d': "digit", 's': "space", 'w': "word"}[letter]]
	case letter == 'd':
		return digits()
	case letter == 's':
		return spaces()
	}
	return wordChars()
}

// hex parses a character's number: size digits, or any number of digits in braces.
func (p *parser) hex(start, size int) rune {
	var digits string
	p.skipSpace()
	if p.accept("{") {
		var closed bool
		if digits, closed = p.readBraced(); !closed {
			p.fail(start, "missing closing }", `Write \x{1F600}, for example.`)
		}
		size = len(digits)
	} else {
		for ; len(digits) < size && p.pos < len(p.text); p.skipSpace() {
			digits += string(p.next())
		}
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if len(digits) < size || err != nil {
		p.fail(start, "invalid hexadecimal number", `Write \x7F, \u007F or \x{7F}, for example.`)
	}
	if n > unicode.MaxRune || !utf8.ValidRune(rune(n)) {
		p.fail(start, "there is no character with this number", "")
	}
	return rune(n)
}

// property parses the name of a Unicode property: a letter, or a name in braces.
func (p *parser) property(start int, negated bool) set {
	p.skipSpace()
	if p.pos == len(p.text) {
		p.fail(start, "the name of a Unicode property is missing", `Write \p{Greek}, for example.`)
	}
	name := string(p.next())
	if name == "{" {
		var closed bool
		if name, closed = p.readBraced(); !closed {
			p.fail(start, "missing closing }", `Write \p{Greek}, for example.`)
		}
	}
	s, inverted, problem := findProperty(name)
	switch {
	case problem != "":
		p.fail(start, problem, `Supported are general categories and scripts, such as \p{Lu} and \p{Greek}, boolean properties such as `+
			`\p{Alphabetic}, and gc, sc, scx, age, gcb, wb and sb with a value, such as \p{scx=Greek}. `+
			`Otherwise write the characters out: [\x{3b1}-\x{3c9}].`)
	case !p.flags.has(unicodeOn):
		p.fail(start, "Unicode properties need Unicode, but (?-u) is set", "Remove (?-u) here.")
	}
	if p.flags.has(ignoreCase) {
		s = s.fold(unicode.MaxRune)
	}
	if negated != inverted {
		s = s.not(unicode.MaxRune)
	}
	return nonNil(s)
}

// nonNil distinguishes an empty class from no class.
func nonNil(s set) set {
	if s == nil {
		return set{}
	}
	return s
}
