// Unicode writes node/search/pattern/unicode.txt: the characters of the Unicode properties that
// regular expressions can name, and the other cases of letters.
//
//	go run ./packaging/unicode DIR
//
// DIR is a copy of a version of the Unicode Character Database, such as
// https://www.unicode.org/Public/16.0.0/ucd. Take the version that the current release of Rust's
// regex crate has.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	target  = "node/search/pattern/unicode.txt"
	maxRune = 0x10FFFF
)

const head = `# The characters of Unicode properties, from the Unicode Character Database %s.
# Copyright 1991-2024 Unicode, Inc., used under the Unicode License V3, see LICENSE-UNICODE.
# Written by packaging/unicode. Do not edit.
#
# A line has a property, the names of one of its values (or of a boolean property), and the value's
# characters: 65 skips 65 characters and takes the next one; 65+25 takes 25 more after it. The line
# case has all characters that fold to another one: after 65:32, U+0041 folds to the character 32 on.
`

// span is the characters from first to last.
type span struct{ first, last int }

type set []span

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./packaging/unicode DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "unicode:", err)
		os.Exit(1)
	}
}

// run panics with an error when a file does not have the documented form.
func run(dir string) (err error) {
	defer func() {
		if problem, ok := recover().(error); ok {
			err = problem
		}
	}()
	d := database(dir)
	var out bytes.Buffer
	fmt.Fprintf(&out, head, d.version())
	d.booleans(&out)
	d.categories(&out)
	for _, p := range []struct {
		property, values string
		sets             map[string]set
	}{
		{"sc", "sc", d.sets("Scripts.txt")},
		{"scx", "sc", d.extend(d.sets("ScriptExtensions.txt"))},
		{"age", "age", d.sets("DerivedAge.txt")},
		{"gcb", "GCB", d.sets("auxiliary/GraphemeBreakProperty.txt")},
		{"wb", "WB", d.sets("auxiliary/WordBreakProperty.txt")},
		{"sb", "SB", d.sets("auxiliary/SentenceBreakProperty.txt")},
	} {
		for _, names := range d.values(p.values) {
			write(&out, p.property, names, p.sets)
		}
	}
	d.cases(&out)
	return os.WriteFile(target, out.Bytes(), 0o644)
}

// database is the folder of a Unicode Character Database.
type database string

// lines returns the fields of a file's lines without comments.
func (d database) lines(name string) (list [][]string) {
	data, err := os.ReadFile(filepath.Join(string(d), filepath.FromSlash(name)))
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		if fields := split(line, ";"); len(fields) > 1 {
			list = append(list, fields)
		}
	}
	return list
}

func split(text, separator string) []string {
	fields := strings.Split(text, separator)
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields
}

func (d database) version() string {
	data, err := os.ReadFile(filepath.Join(string(d), "DerivedAge.txt"))
	if err != nil {
		panic(err)
	}
	_, rest, _ := strings.Cut(string(data), "DerivedAge-")
	version, _, _ := strings.Cut(rest, ".txt")
	return version
}

// sets returns the characters of a file by the names in its second field.
func (d database) sets(name string) map[string]set {
	sets := map[string]set{}
	for _, fields := range d.lines(name) {
		if len(fields) > 2 { // a property with values, in a file of boolean properties
			continue
		}
		for _, value := range strings.Fields(fields[1]) {
			sets[value] = append(sets[value], parseSpan(fields[0]))
		}
	}
	return sets
}

// values returns the names of each value of a property, in the order of the file.
func (d database) values(property string) (list [][]string) {
	for _, fields := range d.lines("PropertyValueAliases.txt") {
		if fields[0] == property {
			list = append(list, fields[1:])
		}
	}
	return list
}

func (d database) booleans(out *bytes.Buffer) {
	sets := map[string]set{}
	for _, file := range []string{"PropList.txt", "DerivedCoreProperties.txt", "extracted/DerivedBinaryProperties.txt", "emoji/emoji-data.txt"} {
		for name, s := range d.sets(file) {
			sets[name] = append(sets[name], s...)
		}
	}
	for _, names := range d.lines("PropertyAliases.txt") {
		write(out, "bool", names, sets)
	}
}

// categories writes the general categories, their groups, and what Unicode Technical Standard #18
// adds to them.
func (d database) categories(out *bytes.Buffer) {
	sets := d.sets("extracted/DerivedGeneralCategory.txt")
	delete(sets, "Cs") // no text has surrogates
	var assigned set
	for name, s := range sets {
		if name != "Cn" {
			assigned = append(assigned, s...)
		}
	}
	for name, s := range maps.Clone(sets) {
		sets[name[:1]] = append(sets[name[:1]], s...)
	}
	sets["LC"] = slices.Concat(sets["Lu"], sets["Ll"], sets["Lt"])
	sets["Any"], sets["ASCII"], sets["Assigned"] = set{{0, maxRune}}, set{{0, 0x7F}}, assigned
	for _, names := range append(d.values("gc"), []string{"Any"}, []string{"ASCII"}, []string{"Assigned"}) {
		write(out, "gc", names, sets)
	}
}

// extend adds to the script extensions the characters that have none: theirs is their script.
func (d database) extend(extensions map[string]set) map[string]set {
	extended := make([]bool, maxRune+1)
	for _, s := range extensions {
		for _, p := range s {
			for r := p.first; r <= p.last; r++ {
				extended[r] = true
			}
		}
	}
	for script, s := range d.sets("Scripts.txt") {
		for _, p := range s {
			for r := p.first; r <= p.last; r++ {
				if !extended[r] {
					extensions[script] = append(extensions[script], span{r, r})
				}
			}
		}
	}
	return extensions
}

// cases writes the simple case foldings.
func (d database) cases(out *bytes.Buffer) {
	out.WriteString("case")
	next := 0
	for _, fields := range d.lines("CaseFolding.txt") {
		if fields[1] == "C" || fields[1] == "S" {
			from, to := parseSpan(fields[0]).first, parseSpan(fields[2]).first
			fmt.Fprintf(out, " %d:%d", from-next, to-from)
			next = from + 1
		}
	}
	out.WriteString("\n")
}

// write writes the line of the value that has these names, unless it has no characters.
func write(out *bytes.Buffer, property string, names []string, sets map[string]set) {
	var s set
	var simple []string
	for _, name := range names {
		s = append(s, sets[name]...)
		simple = append(simple, strings.ToLower(strings.ReplaceAll(name, "_", "")))
	}
	if len(s) == 0 {
		return
	}
	slices.Sort(simple)
	fmt.Fprintf(out, "%s %s", property, strings.Join(slices.Compact(simple), ","))
	slices.SortFunc(s, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	next := 0
	for i := 0; i < len(s); i++ {
		p := s[i]
		for ; i+1 < len(s) && s[i+1].first <= p.last+1; i++ {
			p.last = max(p.last, s[i+1].last)
		}
		fmt.Fprintf(out, " %d", p.first-next)
		if p.last > p.first {
			fmt.Fprintf(out, "+%d", p.last-p.first)
		}
		next = p.last + 1
	}
	out.WriteString("\n")
}

func parseSpan(text string) span {
	first, last, isRange := strings.Cut(text, "..")
	if !isRange {
		last = first
	}
	return span{parseHex(first), parseHex(last)}
}

func parseHex(text string) int {
	n, err := strconv.ParseUint(text, 16, 32)
	if err != nil {
		panic(err)
	}
	return int(n)
}
