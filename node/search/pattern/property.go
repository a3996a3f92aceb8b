package pattern

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// unicodeData is written by packaging/unicode, and explains its form.
//
//go:embed unicode.txt
var unicodeData string

// properties are the properties of unicode.txt that have values, by their simplified names.
var properties = map[string]string{
	"gc": "gc", "generalcategory": "gc", "sc": "sc", "script": "sc", "scx": "scx", "scriptextensions": "scx", "age": "age",
	"gcb": "gcb", "graphemeclusterbreak": "gcb", "wb": "wb", "wordbreak": "wb", "sb": "sb", "sentencebreak": "sb",
}

// findProperty returns the set that the braces of \p{...} name, such as Greek, sc=Greek, sc!=Greek
// or L. A problem is empty or says why there is no such set.
func findProperty(query string) (s set, negated bool, problem string) {
	query, negated = strings.CutPrefix(query, "^")
	at := strings.IndexAny(query, "=:")
	if at < 0 {
		name := simplify(query)
		for _, property := range []string{"bool", "gc", "sc"} {
			if s = lookUp(property, name); s != nil {
				return s, negated, ""
			}
		}
		return nil, false, "unknown or unsupported Unicode property"
	}
	name, isNot := strings.CutSuffix(query[:at], "!")
	property, ok := properties[simplify(name)]
	if !ok {
		return nil, false, "unknown or unsupported Unicode property"
	}
	if s = lookUp(property, simplify(query[at+1:])); s == nil {
		return nil, false, "this Unicode property has no such value"
	}
	return s, negated != isNot, ""
}

// simplify makes names equal that differ in case, blanks, hyphens, underscores or a leading "is".
// It follows rule UAX44-LM3 of Unicode, and keeps isc, which is not a name of the category C.
func simplify(name string) string {
	name = strings.ToLower(name)
	if rest, ok := strings.CutPrefix(name, "is"); ok && rest != "c" {
		name = rest
	}
	return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(name)
}

// lookUp returns the characters of a property's value, or nil when it has no such value. An age has
// all characters up to that version of Unicode.
func lookUp(property, value string) (s set) {
	for line := range strings.Lines(unicodeData) {
		rest, ok := strings.CutPrefix(line, property+" ")
		if !ok {
			continue
		}
		names, spans, _ := strings.Cut(rest, " ")
		found := slices.Contains(strings.Split(names, ","), value)
		if found || property == "age" {
			s = append(s, parseSpans(spans)...)
		}
		if found {
			return s.normal()
		}
	}
	return nil
}

// mustLookUp is lookUp for values that unicode.txt has.
func mustLookUp(property, value string) set {
	s := lookUp(property, value)
	if s == nil {
		panic("unicode.txt has no " + property + " " + value)
	}
	return s
}

// parseSpans reads the characters of a line of unicode.txt.
func parseSpans(line string) (s set) {
	next := rune(0)
	for field := range strings.FieldsSeq(line) {
		skipped, more, isRange := strings.Cut(field, "+")
		first := next + parseNumber(skipped)
		last := first
		if isRange {
			last += parseNumber(more)
		}
		s = append(s, span{first, last})
		next = last + 1
	}
	return s
}

func parseNumber(text string) rune {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		panic(fmt.Sprintf("unicode.txt: %v", err))
	}
	return rune(n)
}

// casedRune is a character with all its cases, itself included.
type casedRune struct {
	r     rune
	cases []rune
}

// casedRunes returns all characters that have several cases, ascending. The cases of a character
// are those that fold to the same one.
var casedRunes = sync.OnceValue(func() (list []casedRune) {
	_, pairs, _ := strings.Cut(unicodeData, "\ncase ")
	cases := map[rune][]rune{} // of a character to which others fold
	next := rune(0)
	for pair := range strings.FieldsSeq(pairs) {
		skipped, distance, _ := strings.Cut(pair, ":")
		from := next + parseNumber(skipped)
		next = from + 1
		to := from + parseNumber(distance)
		if cases[to] == nil {
			cases[to] = []rune{to}
		}
		cases[to] = append(cases[to], from)
	}
	for _, class := range cases {
		for _, r := range class {
			list = append(list, casedRune{r, class})
		}
	}
	slices.SortFunc(list, func(a, b casedRune) int { return cmp.Compare(a.r, b.r) })
	return list
})

// Perl classes as Rust defines them.
var (
	digits    = sync.OnceValue(func() set { return mustLookUp("gc", "nd") })
	spaces    = sync.OnceValue(func() set { return mustLookUp("bool", "whitespace") })
	wordChars = sync.OnceValue(func() set {
		return slices.Concat(mustLookUp("bool", "alphabetic"), digits(), mustLookUp("gc", "m"), mustLookUp("gc", "pc"), mustLookUp("bool", "joincontrol")).normal()
	})
)

// WordRunes returns the characters of words, as ascending pairs of first and last.
var WordRunes = sync.OnceValue(func() []rune { return wordChars().pairs() })
