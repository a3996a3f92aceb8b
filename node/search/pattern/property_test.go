package pattern

import (
	_ "embed"
	"fmt"
	"hash/crc32"
	"regexp/syntax"
	"strings"
	"testing"
)

//go:embed testdata/properties.txt
var rustProperties string

// characters returns the characters that an expression of one item matches.
func characters(t *testing.T, expression string) set {
	t.Helper()
	tree, err := Parse(expression)
	if err != nil {
		t.Fatal(err)
	}
	switch tree.Op {
	case syntax.OpLiteral:
		if tree.Flags&syntax.FoldCase != 0 {
			return simpleFolds(tree.Rune[0])
		}
		return runes(tree.Rune...)
	case syntax.OpNoMatch:
		return nil
	case syntax.OpCharClass:
		var s set
		for i := 0; i < len(tree.Rune); i += 2 {
			s = append(s, span{tree.Rune[i], tree.Rune[i+1]})
		}
		return s
	}
	t.Fatalf("%s: got the tree %v, want one class", expression, tree)
	return nil
}

func TestPropertiesHaveTheCharactersOfRust(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(rustProperties) {
		if strings.HasPrefix(line, "//") {
			continue
		}
		expression, want, _ := strings.Cut(strings.TrimSpace(line), "\t")
		var intervals []string
		count := 0
		for _, p := range characters(t, expression).minus(surrogates) {
			intervals = append(intervals, fmt.Sprintf("%X-%X", p.first, p.last))
			count += int(p.last-p.first) + 1
		}
		if got := fmt.Sprintf("%d\t%08x", count, crc32.ChecksumIEEE([]byte(strings.Join(intervals, " ")))); got != want {
			t.Errorf("%s: got the count and checksum %s, want %s", expression, got, want)
		}
	}
}

func TestNamesOfPropertiesAreLoose(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{`\p{Lu}`, `\p{lu}`, `\p{ L_u }`, `\p{isLu}`, `\p{Uppercase_Letter}`, `\p{gc=uppercase letter}`, `\p{General-Category:LU}`, `\P{^Lu}`, `\P{gc!=Lu}`},
		{`\p{L}`, `\pL`, `(?x)\p L`, `\p{Letter}`, `\P{^L}`, `[^\PL]`, `[\p{L}]`, `\p{^gc!=L}`},
		{`\p{Greek}`, `\p{Grek}`, `\p{sc=Grek}`, `\p{Script=IsGreek}`, `(?x)\p { Gr ee k }`},
		{`\p{Sc}`, `\p{gc=Currency_Symbol}`},
		{`\p{Cf}`, `\p{Format}`},
		{`\p{LC}`, `[\p{Lu}\p{Ll}\p{Lt}]`, `\p{Cased_Letter}`},
		{`\p{cntrl}`, `\p{Cc}`},
		{`\p{Age=6.0}`, `\p{age:V6_0}`, `\p{Age=v60}`},
		{`\p{gcb=EX}`, `\p{Grapheme_Cluster_Break=Extend}`},
		{`\p{wb=LE}`, `\p{Word_Break=ALetter}`},
		{`\p{sb=LO}`, `\p{Sentence_Break=Lower}`},
		{`\p{CWU}`, `\p{Changes_When_Uppercased}`},
		{`\p{space}`, `\p{WSpace}`, `\p{White_Space}`, `\s`},
		{`\p{Any}`, `[\p{Assigned}\p{Cn}]`, `[\p{ASCII}\P{ASCII}]`},
	} {
		want := characters(t, same[0])
		for _, expression := range same[1:] {
			got := characters(t, expression)
			if fmt.Sprint(got.minus(surrogates)) != fmt.Sprint(want.minus(surrogates)) {
				t.Errorf("%s: got %d intervals, want those of %s, %d", expression, len(got), same[0], len(want))
			}
		}
	}
}

// surrogates are no characters of any text.
var surrogates = set{{0xD800, 0xDFFF}}

// Package regexp/syntax knows the cases of another version of Unicode.
func TestCasesAreOfTheVersionOfTheProperties(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expression, want string }{
		{`(?i)a`, "aA"},
		{`(?i)k`, "kK\u212a"},
		{`(?i)ſ`, "sSſ"},
		{`(?i)\x{10D50}`, "\U00010D50\U00010D70"}, // Garay, new in 16.0
		{`(?i)[\x{A7DA}]`, "\uA7DA\uA7DB"},
		{`(?i)ƛ`, "\u019b\ua7dc"},
	} {
		if got := characters(t, c.expression); fmt.Sprint(got) != fmt.Sprint(runes([]rune(c.want)...)) {
			t.Errorf("%s: got %v, want the characters %q", c.expression, got, c.want)
		}
	}
}

func BenchmarkProperty(b *testing.B) {
	for _, expression := range []string{`\p{XID_Start}`, `(?i)\p{XID_Start}+`, `\w`, `\p{scx=Greek}`} {
		b.Run(expression, func(b *testing.B) {
			for b.Loop() {
				if _, err := Parse(expression); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
