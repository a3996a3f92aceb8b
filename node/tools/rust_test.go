package tools

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func grepped(t *testing.T, pattern, text string) (lines []int) {
	t.Helper()
	m, err := newMatcher(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range newScanner(t.Context(), m, wanted{matches: 1000}).scan(bytes.NewReader([]byte(text)), int64(len(text))).matches {
		lines = append(lines, f.Line)
	}
	return lines
}

func TestClassesAndWordsAreUnicodeAsInTheOriginal(t *testing.T) {
	text := "école\nüber alles\n٣٤\nx\u00a0y\nplain_1\n日本 語\nⓐ\n!\na\u200db\n\n"
	for pattern, want := range map[string][]int{
		`\bécole\b`: {1}, `^\w+$`: {1, 3, 5, 7, 9}, `^\d+$`: {3}, `x\sy`: {4}, `^[\w]{2}\s[\w]$`: {6}, `^\W$`: {8}, `^\S+$`: {1, 3, 5, 7, 8, 9}, `\Bcole`: {1}, `^[^\W]+$`: {1, 3, 5, 7, 9},
		`^[\D]+$`: {1, 2, 4, 6, 7, 8, 9}, `[\S]\s[\S]{2}`: {2}, `\u{e9}`: {1}, `\u00e9`: {1}, `\U0001F600`: nil, `[\u{e9}]c`: {1}, `^[[:alpha:]_]+\d`: {5}, `\Q!\E`: {8}, `[]!]`: {8},
		`(?i)ÜBER`: {2}, `[^\s\S]`: nil,
	} {
		if got := grepped(t, pattern, text); !slices.Equal(got, want) {
			t.Errorf("%s: lines %v, want %v", pattern, got, want)
		}
	}
}

func TestPatternsMeanWhatTheyMeanInRust(t *testing.T) {
	ripgrep, err := exec.LookPath("rg")
	if err != nil {
		t.Skip("ripgrep is not installed: there is no Rust regex to compare with")
	}
	var text strings.Builder
	for r := rune(' '); r < 0x3100; r++ {
		if r == 0xcf3 || r == 0xece { // letters since Unicode 15, which older ripgreps do not know
			continue
		}
		fmt.Fprintf(&text, "a%cb %c1\n", r, r)
	}
	text.WriteString("one two_three\nfoo-bar\n\tx\t\nüben\n\nAb12\n")
	for _, pattern := range []string{
		`a\wb`, `a\Wb`, `a\db`, `a\Db`, `a\sb`, `a\Sb`, `\bb`, `a\Bb`, `\b1`, `a[\w-]b`, `a[^\w]b`, `a[\W\d]b`, `a[\S]b`, `a[^\S]b`, `(?i)aéb`, `(?i)aσb`,
		`a\p{Greek}b`, `a\pLb`, `a\P{L}b`, `a[^\p{L}\s]b`, `a.b .1`, `a[[:punct:]]b`, `^\s*$`, `(?i)k`, `(?i)ſ`, `\x{e9}b`, `\u00e9b`, `a(é|è|ê)b`, `a[à-ÿ]b`, `\w+_\w+`, `^.{7,}$`,
		`o+$`, `\t`, `a\.b`, `[.*+]b`, `(?P<n>é)`, `(?s)a.b`, `(?-i)É`, `b \b`,
	} {
		cmd := exec.Command(ripgrep, "--no-config", "--line-number", "--text", "-e", pattern, "-")
		cmd.Stdin = strings.NewReader(text.String())
		out, _ := cmd.Output() // fails when nothing is found
		var want []int
		for line := range strings.Lines(string(out)) {
			var n int
			if _, err := fmt.Sscanf(line, "%d:", &n); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			want = append(want, n)
		}
		got := slices.Collect(func(yield func(int) bool) {
			m, err := newMatcher(pattern)
			if err != nil {
				t.Fatal(err)
			}
			in := text.String()
			for _, f := range newScanner(t.Context(), m, wanted{matches: 100_000}).scan(bytes.NewReader([]byte(in)), int64(len(in))).matches {
				if !yield(f.Line) {
					return
				}
			}
		})
		if !slices.Equal(got, want) {
			var odd []string
			lines := strings.Split(text.String(), "\n")
			for _, n := range append(slices.Clone(got), want...) {
				if (slices.Contains(got, n) != slices.Contains(want, n)) && len(odd) < 20 {
					odd = append(odd, fmt.Sprintf("%q", lines[n-1]))
				}
			}
			t.Errorf("%s: %d lines, want %d: %v", pattern, len(got), len(want), odd)
		}
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
		rewritten, err := rustSyntax(pattern)
		if err != nil {
			t.Fatal(err)
		}
		re, err := regexp.Compile(rewritten)
		if err != nil {
			t.Fatal(err)
		}
		w := wanted{matches: 500, count: true}
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
