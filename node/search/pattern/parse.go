package pattern

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fairlead/node/search/dfa"
)

const (
	// maxDepth is the maximum nesting of groups and classes, as in Rust.
	maxDepth = 250
	// maxRepeat is more than package dfa accepts for the shortest expression.
	maxRepeat = 1_000_000
)

// flags are set by (?...).
type flags uint8

const (
	ignoreCase flags = 1 << iota // i
	multiline                    // m
	dotAll                       // s: . matches a line feed
	swapGreed                    // U: has no influence on whether a line matches
	crlf                         // R
	verbose                      // x
	unicodeOn                    // u: set unless (?-u) clears it
)

const flagLetters = "imsURxu" // in the order of the constants

func (f flags) has(flag flags) bool { return f&flag != 0 }

// top returns the last character of classes: without Unicode, classes contain bytes.
func (f flags) top() rune {
	if f.has(unicodeOn) {
		return unicode.MaxRune
	}
	return 0xff
}

// fold adds the other cases of a set's characters if case is ignored.
func (f flags) fold(s set) set {
	switch {
	case !f.has(ignoreCase):
		return s
	case f.has(unicodeOn):
		return s.fold(unicode.MaxRune)
	}
	return s.fold(unicode.MaxASCII)
}

// Error explains why an expression is invalid.
type Error struct {
	Problem string
	Part    string // of the expression
	Remedy  string // a sentence, or empty
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s: `%s`", e.Problem, e.Part)
	if e.Remedy != "" {
		text += ". " + e.Remedy
	}
	return text
}

// parser reads an expression once. Its methods panic with an *Error, which Parse returns.
type parser struct {
	text  string
	pos   int
	flags flags
	depth int
	names map[string]bool // of groups
}

// Parse translates an expression into a tree for [dfa.Compile]. Its error is an *Error.
func Parse(expression string) (tree *syntax.Regexp, err error) {
	p := &parser{text: expression, flags: unicodeOn, names: map[string]bool{}}
	defer func() {
		if problem := recover(); problem != nil {
			e, ok := problem.(*Error)
			if !ok {
				panic(problem)
			}
			tree, err = nil, e
		}
	}()
	if !utf8.ValidString(expression) {
		p.fail(0, "the expression is not UTF-8", `Write bytes that are not text as \x{...}.`)
	}
	tree = p.alternatives()
	if p.pos < len(p.text) {
		p.fail(p.pos, "unexpected )", `Write \) for the character itself.`)
	}
	return tree, nil
}

// fail reports the part of the expression from start to the current position.
func (p *parser) fail(start int, problem, remedy string) {
	panic(&Error{Problem: problem, Part: p.text[start:max(p.pos, min(start+1, len(p.text)))], Remedy: remedy})
}

// peek returns the next character, or -1 at the end.
func (p *parser) peek() rune {
	if p.pos == len(p.text) {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return r
}

func (p *parser) next() rune {
	r, size := utf8.DecodeRuneInString(p.text[p.pos:])
	p.pos += size
	return r
}

func (p *parser) accept(text string) bool {
	if !strings.HasPrefix(p.text[p.pos:], text) {
		return false
	}
	p.pos += len(text)
	return true
}

func (p *parser) skipSpace() {
	for p.flags.has(verbose) {
		switch c := p.peek(); {
		case unicode.IsSpace(c):
			p.next()
		case c == '#':
			_, rest, _ := strings.Cut(p.text[p.pos:], "\n")
			p.pos = len(p.text) - len(rest)
		default:
			return
		}
	}
}

// nest enters a level of nesting, which the caller leaves by p.depth--.
func (p *parser) nest(start int) {
	if p.depth++; p.depth > maxDepth {
		p.fail(start, fmt.Sprintf("groups and classes are nested more than %d deep", maxDepth), "")
	}
}

// alternatives parses up to the end of the group or of the expression.
func (p *parser) alternatives() *syntax.Regexp {
	var branches, items []*syntax.Regexp
	repeatable, repeated := false, 0 // whether the last item can be repeated, and how many operators it has
	for {
		p.skipSpace()
		start := p.pos
		switch c := p.peek(); {
		case c < 0, c == ')':
			return alternate(append(branches, concat(items)))
		case c == '|':
			p.next()
			branches, items, repeatable = append(branches, concat(items)), nil, false
		case c == '*', c == '+', c == '?', c == '{' && isCounted(p.text[p.pos+1:]):
			low, high := p.repetition()
			if !repeatable {
				p.fail(start, "nothing to repeat before", `Write \ before a character that is meant literally.`)
			}
			if repeated++; repeated > maxDepth {
				p.fail(start, fmt.Sprintf("more than %d repetitions of one item", maxDepth), "")
			}
			items[len(items)-1] = repeat(items[len(items)-1], low, high)
		default:
			parsed := p.item()
			items, repeatable, repeated = append(items, parsed...), len(parsed) > 0, 0
		}
	}
}

// item parses one item that can be repeated; a quoted text may be several items, and a change of
// flags is none.
func (p *parser) item() []*syntax.Regexp {
	start := p.pos
	switch c := p.next(); c {
	case '(':
		return p.group(start)
	case '[':
		return []*syntax.Regexp{p.characters(start, p.class(start))}
	case '.':
		if !p.flags.has(unicodeOn) {
			p.partOfCharacter(start)
		}
		return []*syntax.Regexp{p.flags.dot()}
	case '^':
		return []*syntax.Regexp{p.flags.lineEdge(syntax.OpBeginText, syntax.OpBeginLine, dfa.LineBeginCRLF)}
	case '$':
		return []*syntax.Regexp{p.flags.lineEdge(syntax.OpEndText, syntax.OpEndLine, dfa.LineEndCRLF)}
	case '\\':
		if p.accept("Q") {
			var items []*syntax.Regexp
			for p.pos < len(p.text) && !p.accept(`\E`) {
				start = p.pos
				items = append(items, p.literal(start, p.next()))
			}
			return items
		}
		if a := p.assertion(start); a != nil {
			return []*syntax.Regexp{a}
		}
		r, class := p.escape(start)
		if class != nil {
			return []*syntax.Regexp{p.characters(start, class)}
		}
		return []*syntax.Regexp{p.literal(start, r)}
	default:
		return []*syntax.Regexp{p.literal(start, c)}
	}
}

func (f flags) dot() *syntax.Regexp {
	switch {
	case f.has(dotAll):
		return &syntax.Regexp{Op: syntax.OpAnyChar}
	case f.has(crlf):
		return classTree(runes('\r', '\n').not(unicode.MaxRune))
	}
	return &syntax.Regexp{Op: syntax.OpAnyCharNotNL}
}

func (f flags) lineEdge(ofText, ofLine syntax.Op, ofLineCRLF dfa.Assertion) *syntax.Regexp {
	switch {
	case !f.has(multiline):
		return &syntax.Regexp{Op: ofText}
	case f.has(crlf):
		return ofLineCRLF.Tree()
	}
	return &syntax.Regexp{Op: ofLine}
}

// partOfCharacter refuses expressions that would match single bytes of multi-byte characters.
func (p *parser) partOfCharacter(start int) {
	p.fail(start, "without Unicode, (?-u), this part matches single bytes of characters", "Remove (?-u) here, or use ASCII characters only.")
}

func (p *parser) literal(start int, r rune) *syntax.Regexp {
	if !p.flags.has(unicodeOn) && r > unicode.MaxASCII {
		if written := p.text[start:p.pos]; strings.HasPrefix(written, `\x`) && strings.TrimSpace(written[2:])[0] != '{' {
			p.partOfCharacter(start) // a byte, such as \xFF
		}
		return literalTree(r, 0) // its case is Unicode's
	}
	cases := p.flags.fold(runes(r))
	if p.flags.has(ignoreCase) && slices.Equal(cases, simpleFolds(r)) {
		return literalTree(r, syntax.FoldCase)
	}
	return classTree(cases)
}

func (p *parser) characters(start int, class set) *syntax.Regexp {
	if n := len(class); !p.flags.has(unicodeOn) && n > 0 && class[n-1].last > unicode.MaxASCII {
		p.partOfCharacter(start)
	}
	return classTree(class)
}
