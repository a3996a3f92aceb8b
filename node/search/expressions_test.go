package search

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode"

	patterns "fairlead/node/search/pattern"
	"fairlead/node/tooltest"
)

// hasAssertion reports whether a tree has an assertion that package regexp lacks.
func hasAssertion(tree *syntax.Regexp) bool {
	return tree.Op == syntax.OpCapture || slices.ContainsFunc(tree.Sub, hasAssertion)
}

func matchingLines(t *testing.T, pattern, text string) (lines []int) {
	t.Helper()
	m, err := newMatcher(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range newScanner(t.Context(), m, lineOptions{matches: 1_000_000}).scan(bytes.NewReader([]byte(text)), int64(len(text))).matches {
		lines = append(lines, f.Line)
	}
	return lines
}

func TestClassesAndWordsAreUnicodeAsInTheOriginal(t *testing.T) {
	t.Parallel()
	text := "école\nüber alles\n٣٤\nx\u00a0y\nplain_1\n日本 語\nⓐ\n!\na\u200db\n\n"
	for pattern, want := range map[string][]int{
		`\bécole\b`: {1}, `^\w+$`: {1, 3, 5, 7, 9}, `^\d+$`: {3}, `x\sy`: {4}, `^[\w]{2}\s[\w]$`: {6}, `^\W$`: {8}, `^\S+$`: {1, 3, 5, 7, 8, 9}, `\Bcole`: {1}, `^[^\W]+$`: {1, 3, 5, 7, 9},
		`^[\D]+$`: {1, 2, 4, 6, 7, 8, 9}, `[\S]\s[\S]{2}`: {2}, `\u{e9}`: {1}, `\u00e9`: {1}, `\U0001F600`: nil, `[\u{e9}]c`: {1}, `^[[:alpha:]_]+\d`: {5}, `\Q!\E`: {8}, `[]!]`: {8},
		`(?i)ÜBER`: {2}, `[^\s\S]`: nil,
	} {
		t.Run(pattern, func(t *testing.T) {
			if got := matchingLines(t, pattern, text); !slices.Equal(got, want) {
				t.Errorf("%s: lines %v, want %v", pattern, got, want)
			}
		})
	}
}

// expressionLines are the lines of a file of expressions, divided at the tab.
func expressionLines(t *testing.T, name string) (list [][2]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "//") {
			expression, rest, _ := strings.Cut(line, "\t")
			list = append(list, [2]string{expression, rest})
		}
	}
	return list
}

// sampleText has every character up to Katakana in two places, and lines of many forms.
func sampleText() string {
	var text strings.Builder
	for r := ' '; r < 0x3100; r++ {
		if unicode.Is(unicode.Categories["Cn"], r) || strings.ContainsRune("\u019b\u0264\u0c04\u0cf3\u0ece\u0f82\u0f83\u10fc", r) {
			// Other versions of Unicode differ.
			continue
		}
		fmt.Fprintf(&text, "a%cb %c1\n", r, r)
	}
	text.WriteString("one two_three\nfoo-bar\n\tx\t\nüben\n\nAb12\none two\none\ntwo\nfoo\nfood bar foobaz\n foo.bar() \nx-foo--foo-\n--foo--\nfoofoo\n" +
		"crlf one\r\n\r\ntwo\r\n \r\na.b\r\nfoo bar\r\none two\rthree four\na\rb\nx\r\ry\n\rz\n\rthree\r\ntwo\rb\n" +
		"aa ab abb abbc abbbc a++b aab1\n[x] (x) {x} a{x} x{ interface{} ] } | ^ $ # & ~ .. ...\na  b\n  \n\t\n\a\f\v\x7f\n\x00\n" +
		"École straSSe STRASSE straße ẞ\nFOO fOO foO xY\n日本語 テキスト かな 한국어 中\n😀\n👍🏽 👩\u200d💻 ☀️ #️⃣ 🇩🇪\n𝐀1 𝟙1 \U0001f130b\nabc]1 -1 a-1\n" +
		"func main() {\nimport (\n// TODO: x = 1\nuser.name+tag@example.org https://example.org/a?b=c 'it\\'s' \"quoted\" ${var} 0xFF 10.0.0.1 v1.2.3-rc1\n" +
		"pub fn new() -> Self\nkey = value # comment\nERROR Warning\nzz7\nzq7\n7\n_\n-\n...\n1500\nabcabc abd afood fools\n")
	for _, n := range []int{999, 1000, 1001, 1500, 1600, 1998, 1999, 2000, 2001, 2002} {
		text.WriteString(strings.Repeat("a", n) + "\n" + strings.Repeat("ab", n) + "\n")
	}
	text.WriteString("the last line has no end: foo")
	return text.String()
}

// ripgrep returns the numbers of the lines in which it finds an expression.
func ripgrep(t *testing.T, program, expression, text string) (lines []int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "--no-config", "--no-mmap", "--line-number", "--only-matching", "--replace", "", "--text", "--regex-size-limit", "1G", "-e", expression, "-")
	// A carriage return before a line feed belongs to the end of the line here.
	cmd.Stdin = strings.NewReader(strings.ReplaceAll(text, "\r\n", "\n"))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 1 {
		t.Fatalf("ripgrep: got error %s for %q, want none", exit.Stderr, expression)
	}
	for line := range strings.Lines(string(out)) {
		var n int
		if _, err := fmt.Sscanf(line, "%d:", &n); err != nil {
			t.Fatalf("got the line %q from ripgrep: %v", line, err)
		}
		lines = append(lines, n)
	}
	return slices.Compact(lines)
}

func TestExpressionsFindTheLinesThatRipgrepFinds(t *testing.T) {
	program, err := exec.LookPath("rg")
	if err != nil {
		t.Skip("ripgrep is not installed: there is no other implementation to compare with")
	}
	text := sampleText()
	lines := strings.Split(text, "\n")
	for _, e := range expressionLines(t, "expressions.txt") {
		t.Run(e[0], func(t *testing.T) {
			t.Parallel()
			got, want := matchingLines(t, e[0], text), ripgrep(t, program, cmp.Or(e[1], e[0]), text)
			if slices.Equal(got, want) {
				return
			}
			var different []string
			for n, line := range lines {
				if slices.Contains(got, n+1) != slices.Contains(want, n+1) && len(different) < 20 {
					different = append(different, fmt.Sprintf("%.40q", line))
				}
			}
			t.Errorf("got %d lines, want %d; different: %s", len(got), len(want), strings.Join(different, ", "))
		})
	}
}

func TestUnsupportedExpressionsAreRefusedWithARemedy(t *testing.T) {
	t.Parallel()
	for _, e := range expressionLines(t, "refused.txt") {
		t.Run(e[0], func(t *testing.T) {
			_, err := newMatcher(e[0])
			if err == nil || !strings.HasPrefix(err.Error(), "Invalid regex pattern: ") || !strings.Contains(err.Error(), e[1]) {
				t.Errorf("got the error %v, want %q", err, e[1])
			}
		})
	}
}

func FuzzPatternFindsWhatRegexpFinds(f *testing.F) {
	for _, p := range []string{`a\d+`, `[\W\d]x|[^\S]`, `(?i)ab|ba`, `\Qa.b\E`, `[]a]`, `[[:alpha:]&]`, `a\`, `[\`, `x{2,3}y`, `\u{61}`, `^\s*$`, `(?i)needle.*x|foo`} {
		f.Add(p, "ab 12\nx\ty\r\nneedle x\n\nfoo.bar\na.b")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 60 || len(text) > 400 || strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }) {
			return
		}
		m, err := newMatcher(pattern)
		if err != nil {
			return
		}
		tree, err := patterns.Parse(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if hasAssertion(tree) {
			return // package regexp has no such assertions
		}
		re, err := regexp.Compile(tree.String())
		if err != nil {
			return // more than 1,000 repetitions
		}
		w := lineOptions{matches: 500, count: true}
		s := newScanner(t.Context(), m, w)
		s.buf = s.buf[:16+len(text)/2]
		got, want := s.scan(bytes.NewReader([]byte(text)), int64(len(text))), naive([]byte(text), re, w)
		if got.count != want.count || len(got.matches) != len(want.matches) {
			t.Fatalf("%q in %q: %+v, want %+v", pattern, text, got, want)
		}
		for i := range got.matches {
			if got.matches[i].Line != want.matches[i].Line {
				t.Fatalf("%q in %q: %+v, want %+v", pattern, text, got, want)
			}
		}
	})
}

func TestGrepCountsAndShowsContextForAssertionsAndSetOperations(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.File("f", "one\r\ntwos\r\ntwo\r\nthree\r\n")
	b.File("invalid", "two\n\xff\n")
	for _, pattern := range []string{`\<two\>`, `(?x) ^ t [ a-z -- h ] o $ # a comment`, `(?R)^t[\w&&[^h]]o$`} {
		t.Run(pattern, func(t *testing.T) {
			out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": pattern, "context": 1})
			if len(out.Matches) != 1 || out.Matches[0].Line != 3 || !slices.Equal(out.Matches[0].Before, []string{"twos"}) || !slices.Equal(out.Matches[0].After, []string{"three"}) {
				t.Errorf("got %+v, want line 3 between twos and three; a file that is not UTF-8 is skipped", out.Matches)
			}
			counted := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": pattern, "output": "count"})
			if len(counted.Files) != 1 || counted.Files[0].Count != 1 {
				t.Errorf("got %+v, want one line in one file", counted.Files)
			}
		})
	}
}

func TestGrepFindsUnicodeProperties(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.File("f", "1\ne\u0301\n日\n")
	for pattern, want := range map[string]int{
		`\p{scx=Greek}`: 2, `\p{XID_Start}\p{XID_Continue}`: 2, `\p{Case_Ignorable}`: 2, `\p{Changes_When_Uppercased}`: 2,
		`\p{gcb=Extend}`: 2, `\p{wb=ALetter}`: 2, `\p{sb=Lower}`: 2, `\P{Age=1.1}|\p{wb!=Numeric}\p{Age=6.0}`: 2,
		`(?-u)日`: 3, `\p{Ideographic}`: 3, `\p{ gc = DecimalNumber }`: 1,
	} {
		out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": pattern})
		if len(out.Matches) != 1 || out.Matches[0].Line != want {
			t.Errorf("%s: got %+v, want line %d", pattern, out.Matches, want)
		}
	}
}
