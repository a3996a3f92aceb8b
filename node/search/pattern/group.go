package pattern

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
)

const (
	lookAround = "look-around is not supported"
	useBash    = "Search for the text itself and filter the matches, or use Bash with grep -P."
	backRef    = "back-references are not supported"
	writeOut   = "Write the repeated part out, or use Bash with grep -P."
)

// otherGroups are groups of other languages, by the text after the parenthesis.
var otherGroups = []struct{ prefix, problem, remedy string }{
	{"?=", lookAround, useBash},
	{"?!", lookAround, useBash},
	{"?<=", lookAround, useBash},
	{"?<!", lookAround, useBash},
	{"?>", "atomic groups are not supported", "They are not needed, because a search never backtracks: write (?:...)."},
	{"?|", "groups that reset numbers are not supported", "Write (?:...)."},
	{"?#", "comments of this form are not supported", "Write (?x) and # before a comment that ends with its line."},
	{"?'", "names in quotation marks are not supported", "Write (?<name>...)."},
	{"?P=", backRef, writeOut},
	{"?P>", "recursion is not supported", "Write the repeated part out."},
	{"?&", "recursion is not supported", "Write the repeated part out."},
	{"?(", "conditions are not supported", "Write the alternatives out."},
	{"*", "verbs are not supported", `Write \( and \* for the characters themselves.`},
}

// group parses a group after its parenthesis, which is at start. A change of flags returns no item.
func (p *parser) group(start int) []*syntax.Regexp {
	p.nest(start)
	defer func() { p.depth-- }()
	outer := p.flags
	p.skipSpace()
	for _, g := range otherGroups {
		if p.accept(g.prefix) {
			p.fail(start, g.problem, g.remedy)
		}
	}
	switch {
	case p.accept("?P<"), p.accept("?<"):
		p.name(start)
	case p.accept("?"):
		if !p.changeFlags(start) {
			return nil
		}
	}
	tree := p.alternatives()
	if !p.accept(")") {
		p.fail(start, "missing closing )", `Write \( for the character itself.`)
	}
	p.flags = outer
	return []*syntax.Regexp{tree}
}

func (p *parser) name(start int) {
	name, _, ok := strings.Cut(p.text[p.pos:], ">")
	if !ok {
		p.pos = len(p.text)
		p.fail(start, "the name of a group has no end", "Write (?<name>...).")
	}
	p.pos += len(name) + 1
	for i, r := range name {
		if r != '_' && !unicode.In(r, unicode.L, unicode.Nl, unicode.Other_Alphabetic) && (i == 0 || !unicode.IsNumber(r) && !strings.ContainsRune(".[]", r)) {
			p.fail(start, "invalid name of a group", "Begin with a letter or _, and continue with letters and digits.")
		}
	}
	switch {
	case name == "":
		p.fail(start, "a group has an empty name", "Write (?<name>...).")
	case p.names[name]:
		p.fail(start, "two groups have the same name", "Use another name, or (?:...).")
	}
	p.names[name] = true
}

// changeFlags parses flags up to : or ). It reports whether a group with content follows.
func (p *parser) changeFlags(start int) (content bool) {
	changed, seen, minus := p.flags, flags(0), false
	from := p.pos
	for {
		end := p.pos
		c := p.next()
		switch at := strings.IndexRune(flagLetters, c); {
		case c == '-' && !minus:
			minus = true
		case at >= 0 && seen&(1<<at) == 0:
			seen |= 1 << at
			changed |= 1 << at
			if minus {
				changed &^= 1 << at
			}
		case at >= 0:
			p.fail(start, "a flag is given twice", "")
		case c == ':' || c == ')':
			if minus && p.text[end-1] == '-' || c == ')' && end == from {
				p.fail(start, "flags are missing", "")
			}
			p.flags = changed
			return c == ':'
		default:
			p.fail(start, "unknown flag", "The flags are i, m, s, R, U, u and x.")
		}
	}
}

// isCounted reports whether a brace begins a repetition such as {2,3}.
func isCounted(rest string) bool {
	rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	if after, ok := strings.CutPrefix(rest, ","); ok {
		rest = strings.TrimLeftFunc(after, unicode.IsSpace)
	}
	return rest != "" && '0' <= rest[0] && rest[0] <= '9'
}

// repetition parses an operator. high is -1 when there is no limit.
func (p *parser) repetition() (low, high int) {
	start := p.pos
	switch p.next() {
	case '*':
		low, high = 0, -1
	case '+':
		low, high = 1, -1
	case '?':
		low, high = 0, 1
	default:
		body, closed := p.readBraced()
		if !closed {
			p.fail(start, "a repetition has no closing }", `Write \{ for the character itself.`)
		}
		first, last, isRange := strings.Cut(body, ",")
		low = p.count(start, first, 0)
		high = low
		if isRange {
			high = p.count(start, last, -1)
		}
		if high >= 0 && low > high {
			p.fail(start, "a repetition ends below its beginning", "")
		}
	}
	p.accept("?") // lazy: finds the same lines
	return low, high
}

// count parses a number of repetitions; an empty text returns otherwise.
func (p *parser) count(start int, text string, otherwise int) int {
	text = strings.TrimSpace(text)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	switch {
	case err != nil && strings.Trim(text, "0123456789") != "":
		p.fail(start, "invalid repetition", `Write {n}, {n,} or {n,m}, or \{ for the character itself.`)
	case err != nil || n > maxRepeat:
		p.fail(start, "the expression is too large", "Repeat less, or write {n,} for an open end.")
	}
	return int(n)
}
