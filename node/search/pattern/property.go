package pattern

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

//go:embed unicode.txt
var unicodeFacts string

// properties are the sets that \p{...} can name, each map by simplified names.
type properties struct {
	scripts, extensions, categories, booleans map[string]set
}

// loadProperties combines package unicode with unicode.txt.
var loadProperties = sync.OnceValue(func() properties {
	p := properties{scripts: tables(unicode.Scripts), extensions: map[string]set{}, categories: tables(unicode.Categories), booleans: tables(unicode.Properties)}
	for name, category := range unicode.CategoryAliases {
		p.categories[simplify(name)] = p.categories[simplify(category)]
	}
	p.categories["any"] = set{{0, unicode.MaxRune}}
	p.categories["ascii"] = set{{0, unicode.MaxASCII}}
	p.categories["assigned"] = p.categories["cn"].not(unicode.MaxRune)
	p.derive()
	facts := map[string][][]string{}
	for line := range strings.Lines(unicodeFacts) {
		fields := strings.Fields(line)
		facts[fields[0]] = append(facts[fields[0]], fields[1:])
	}
	for _, f := range facts["set"] {
		p.booleans[simplify(f[0])] = p.booleans[simplify(f[0])].union(parseSpans(f[1:]))
	}
	p.extend(facts["shared"])
	for _, f := range facts["alias"] {
		for _, sets := range []map[string]set{p.booleans, p.scripts, p.extensions} {
			if s, ok := sets[simplify(f[0])]; ok {
				for _, other := range f[1:] {
					sets[simplify(other)] = s
				}
			}
		}
	}
	return p
})

// extend computes the script extensions: scripts with the characters that they share.
func (p properties) extend(shared [][]string) {
	var all set
	by := map[string]set{}
	for _, f := range shared {
		chars := parseSpans(f[1:])
		all = all.union(chars)
		for script := range strings.SplitSeq(f[0], ",") {
			by[simplify(script)] = by[simplify(script)].union(chars)
		}
	}
	for name, s := range p.scripts {
		p.extensions[name] = s.minus(all).union(by[name])
	}
}

func tables(named map[string]*unicode.RangeTable) map[string]set {
	sets := make(map[string]set, len(named))
	for name, t := range named {
		sets[simplify(name)] = fromTables(t)
	}
	return sets
}

// derive computes the properties that DerivedCoreProperties.txt defines in terms of others.
func (p properties) derive() {
	b, c := p.booleans, p.categories
	b["sentenceterminal"] = b["sterm"]
	b["lowercase"] = c["ll"].union(b["otherlowercase"])
	b["uppercase"] = c["lu"].union(b["otheruppercase"])
	b["cased"] = b["lowercase"].union(b["uppercase"]).union(c["lt"])
	b["alphabetic"] = c["l"].union(c["nl"]).union(b["otheralphabetic"])
	b["math"] = c["sm"].union(b["othermath"])
	b["graphemeextend"] = c["me"].union(c["mn"]).union(b["othergraphemeextend"])
	syntax := b["patternsyntax"].union(b["patternwhitespace"])
	b["idstart"] = c["l"].union(c["nl"]).union(b["otheridstart"]).minus(syntax)
	b["idcontinue"] = b["idstart"].union(c["mn"]).union(c["mc"]).union(c["nd"]).union(c["pc"]).union(b["otheridcontinue"]).minus(syntax)
}

// Perl classes as Rust defines them.
var (
	digits    = sync.OnceValue(func() set { return fromTables(unicode.Nd) })
	spaces    = sync.OnceValue(func() set { return fromTables(unicode.White_Space) })
	wordChars = sync.OnceValue(func() set {
		return fromTables(unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.M, unicode.Nd, unicode.Pc, unicode.Join_Control)
	})
)

// WordRunes returns the characters of words, as ascending pairs of first and last.
var WordRunes = sync.OnceValue(func() []rune { return wordChars().pairs() })

func parseSpans(texts []string) (s set) {
	for _, text := range texts {
		first, last, isRange := strings.Cut(text, "..")
		if !isRange {
			last = first
		}
		a, err := strconv.ParseInt(first, 16, 32)
		b, err2 := strconv.ParseInt(last, 16, 32)
		if err != nil || err2 != nil {
			panic(fmt.Sprintf("unicode.txt: invalid characters %q", text))
		}
		s = append(s, span{rune(a), rune(b)})
	}
	return s
}

// simplify makes names equal that differ in case, blanks, hyphens, underscores or a leading "is".
func simplify(name string) string {
	return strings.TrimPrefix(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(name)), "is")
}

// findProperty returns the set that the braces of \p{...} name, such as Greek, sc=Greek or L.
func findProperty(query string) (s set, negated, ok bool) {
	all := loadProperties()
	query, negated = strings.CutPrefix(query, "^")
	at := strings.IndexAny(query, "=:")
	if at < 0 {
		for _, sets := range []map[string]set{all.booleans, all.categories, all.scripts} {
			if s, ok = sets[simplify(query)]; ok {
				return s, negated, true
			}
		}
		return nil, false, false
	}
	kind, value := query[:at], simplify(query[at+1:])
	switch simplify(kind) {
	case "gc", "generalcategory":
		s, ok = all.categories[value]
	case "sc", "script":
		s, ok = all.scripts[value]
	case "scx", "scriptextensions":
		s, ok = all.extensions[value]
	}
	return s, negated, ok
}
