package pattern

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"

	"fairlead/node/search/dfa"
)

// matches reports whether an expression matches a line.
func matches(t *testing.T, expression, line string) bool {
	t.Helper()
	tree, err := Parse(expression)
	if err != nil {
		t.Fatal(err)
	}
	p, err := dfa.Compile(tree, WordRunes())
	if err != nil {
		t.Fatal(err)
	}
	m := p.NewMachine()
	at, state := m.Find(t.Context(), m.Start(), []byte(line))
	return at >= 0 || m.End(state)
}

// Comparisons with ripgrep over many expressions are in package tools; these are what versions of
// it disagree about.
func TestExpressionsMatchTheirLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		expression string
		lines, not []string
	}{
		{`\<new\>`, []string{"a new b", "new"}, []string{"renew", "news"}},
		{`\b{start}é`, []string{"é", "x é"}, []string{"aé"}},
		{`\b{start-half}--\b{end-half}`, []string{"--", "a --"}, []string{"a--", "--a"}},
		{`\b{2}a`, []string{"a"}, []string{"ba"}},
		{`(?Rm)^b$`, []string{"b", "a\rb", "b\ra"}, []string{"ab", "ba"}},
		{`(?R)a.b`, []string{"axb"}, []string{"a\rb"}},
		{`^a{,2}$`, []string{"", "a", "aa"}, []string{"aaa"}},
		{`(?<n>a)`, []string{"a"}, []string{"b"}},
		{`(?x) o + ?k`, []string{"ook", "k"}, []string{"oo"}},
		{`^[a-z&&[^aeiou]--x]+$`, []string{"bcd"}, []string{"abc", "bx"}},
		{`^[^[ab]]$`, []string{"c"}, []string{"a", "b"}},
		{`^[a-c~~b-d]$`, []string{"a", "d"}, []string{"b", "c"}},
		{`(?i)^[a-z--k]$`, []string{"a", "Z"}, []string{"k", "K", "\u212a"}},
		{`(?-u)日+`, []string{"日日"}, []string{"\xe6"}},
		{`(?i-u)^é$`, []string{"é"}, []string{"É"}},
		{`(?-u)^\x{e9}\u00e9\u{e9}$`, []string{"ééé"}, []string{"ÉÉÉ"}},
		{`(?x)^ \x{ 6 1 } \x 6 2 \u0 0 6 3 $`, []string{"abc"}, nil},
		{`(?x) \b{ start } b`, []string{"a b"}, []string{"ab"}},
		{`(?x)^a{ 1 , 1 1 }$`, []string{"a", "aaaaaaaaaaa"}, []string{"", "aaaaaaaaaaaa"}},
		{`(?x)^\u00a0a  b$`, []string{"\u00a0ab"}, []string{"ab"}},
		{`(?<ªⅠ>a)`, []string{"a"}, nil},
		{`(?-u)\Q日.\E`, []string{"日."}, []string{"日x"}},
		{`(?i-u)^k$`, []string{"k", "K"}, []string{"\u212a"}},
		{`(?i)^k$`, []string{"k", "K", "\u212a"}, []string{"l"}},
		{`[a&&b]`, nil, []string{"a", "b"}},
		{`^\p{^L}$`, []string{"1"}, []string{"a"}},
		{`\Qa.b\E+c`, []string{"a.bbc"}, []string{"axbc"}},
		{`interface{}`, []string{"interface{}"}, []string{"interface"}},
		{`^\p{Emoji}$`, []string{"😀", "#"}, []string{"a"}},
		{`^\p{scx=Deva}$`, []string{"\u0964"}, []string{"a"}},
		{`^\p{sc=Deva}$`, []string{"\u0905"}, []string{"\u0964"}},
	} {
		t.Run(c.expression, func(t *testing.T) {
			for _, line := range c.lines {
				if !matches(t, c.expression, line) {
					t.Errorf("got no match in %q, want one", line)
				}
			}
			for _, line := range c.not {
				if matches(t, c.expression, line) {
					t.Errorf("got a match in %q, want none", line)
				}
			}
		})
	}
}

func TestNestingIsLimited(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{
		strings.Repeat("(", 100_000) + strings.Repeat(")", 100_000), strings.Repeat("[", 100_000), "a" + strings.Repeat("+*", 100_000),
	} {
		if _, err := Parse(expression); err == nil {
			t.Errorf("got no error for %.10s..., want one", expression)
		}
	}
}

func TestSetsAreCombined(t *testing.T) {
	t.Parallel()
	a, b := set{{'a', 'f'}, {'m', 'z'}}, set{{'d', 'p'}}
	for name, c := range map[string]struct{ got, want set }{
		"union":     {a.union(b), set{{'a', 'z'}}},
		"intersect": {a.intersect(b), set{{'d', 'f'}, {'m', 'p'}}},
		"minus":     {a.minus(b), set{{'a', 'c'}, {'q', 'z'}}},
		"not":       {set{{0, 'a'}, {'c', 'c'}}.not('d'), set{{'b', 'b'}, {'d', 'd'}}},
		"fold":      {runes('k').fold(unicode.MaxRune), runes('K', 'k', '\u212a')},
		"normal":    {set{{'c', 'd'}, {'a', 'b'}, {'b', 'c'}}.normal(), set{{'a', 'd'}}},
	} {
		t.Run(name, func(t *testing.T) {
			if !slices.Equal(c.got, c.want) {
				t.Errorf("%s: got %q, want %q", name, c.got, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, e := range []string{
		`\b{start}a`, `[a[b&&c]--d~~e]`, `(?x) a # b`, `(?Rm-u)^a$`, `a{2,3}?`, `\p{scx=Greek}`, `(?P<n>a)|(?i:b)`, `\Qa\E*`, `[[:^alpha:]-z]`, `\u{1F600}`, `[^]`, `(?`, `\`, `a{,`,
	} {
		f.Add(e)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		tree, err := Parse(expression)
		var refused *Error
		switch {
		case errors.As(err, &refused):
			if refused.Problem == "" || !strings.Contains(expression, refused.Part) {
				t.Fatalf("%q: got error %v, want one that names a part of it", expression, err)
			}
			return
		case err != nil:
			t.Fatal(err)
		}
		p, err := dfa.Compile(tree, WordRunes())
		if errors.Is(err, dfa.ErrTooLarge) {
			return
		}
		if err != nil {
			t.Fatalf("%q is translated but does not compile: %v", expression, err)
		}
		m := p.NewMachine()
		m.Find(t.Context(), m.Start(), []byte("ab é\r😀\nfoo K_1"))
	})
}
