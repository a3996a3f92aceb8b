package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// rel gives paths relative to the workspace, with slashes.
func (b *bench) rel(paths ...string) []string {
	list := []string{}
	for _, p := range paths {
		r, err := filepath.Rel(b.ws.Dir(), p)
		if err != nil {
			b.t.Fatal(err)
		}
		list = append(list, filepath.ToSlash(r))
	}
	return list
}

func matchLines(b *bench, out grepOut) []string {
	var list []string
	for _, m := range out.Matches {
		list = append(list, fmt.Sprintf("%s:%d:%s", b.rel(m.Path)[0], m.Line, m.Content))
	}
	return list
}

func TestGrepFindsLinesInOrder(t *testing.T) {
	b := newBench(t)
	b.file("b.go", "one\nfunc two\n\nfunc three\r\n")
	b.file("a/z.md", "func in md")
	b.file("a.txt", "no\nFunc upper\n")
	b.file("a/.hidden", "func hidden\n")
	b.file(".git/config", "func git\n")
	b.file("bin", "func \xff\n")
	b.file("end", "x\nfunc")
	for _, c := range []struct {
		a    args
		want []string
	}{
		{args{"pattern": "func"}, []string{".git/config:1:func git", "a/.hidden:1:func hidden", "a/z.md:1:func in md", "b.go:2:func two", "b.go:4:func three", "end:2:func"}},
		{args{"pattern": "(?i)^func u"}, []string{"a.txt:2:Func upper"}},
		{args{"pattern": "^func t.*e$"}, []string{"b.go:4:func three"}},
		{args{"pattern": "^$", "include": "*.go"}, []string{"b.go:3:"}},
		{args{"pattern": "func", "include": "*.{md,go}"}, []string{"a/z.md:1:func in md", "b.go:2:func two", "b.go:4:func three"}},
		{args{"pattern": "func", "path": "a"}, []string{"a/.hidden:1:func hidden", "a/z.md:1:func in md"}},
		{args{"pattern": "func", "path": "b.go"}, []string{"b.go:2:func two", "b.go:4:func three"}},
		{args{"pattern": "func", "path": "b.go", "include": "*.md"}, nil},
		{args{"pattern": `one\nfunc`}, nil},
		{args{"pattern": `\Aone\z`}, []string{"b.go:1:one"}},
		{args{"pattern": "nothing at all"}, nil},
		{args{"pattern": `t[wh]\w+`, "include": "b.*"}, []string{"b.go:2:func two", "b.go:4:func three"}},
		{args{"pattern": "func", "path": ".git"}, []string{".git/config:1:func git"}},
	} {
		out := must[grepOut](b, "Grep", c.a)
		if got := matchLines(b, out); !slices.Equal(got, c.want) || out.Count == nil || *out.Count != len(c.want) || out.Truncated || out.Matches == nil {
			t.Errorf("%v: %q, count %v", c.a, got, out.Count)
		}
	}
}

func TestGrepSaysWhatItDoesNotUnderstand(t *testing.T) {
	b := newBench(t)
	for want, a := range map[string]args{
		"Invalid regex pattern: missing closing )": {"pattern": "(a"},
		"look-around is not supported: `(?!`":      {"pattern": "a(?!b)"},
		"look-around is not supported: `(?<!`":     {"pattern": "(?<!a)b"},
		"look-around is not supported: `(?<=`":     {"pattern": "(?<=a)b"},
		"atomic groups are not supported":          {"pattern": "(?>a)"},
		`Write [ \t]`:                              {"pattern": `\h`},
		"Unknown output \"x\"":                     {"pattern": "a", "output": "x"},
		"before must be a whole number":            {"pattern": "a", "before": -1},
		"the expression is too large":              {"pattern": strings.Repeat("(abcdefghij){100}", 60)},
		"back-references are not supported":        {"pattern": `(a)\1`},
		"Invalid include pattern: [":               {"pattern": "a", "include": "["},
		"no such file":                             {"pattern": "a", "path": "none"},
	} {
		if words := fails(b, "Grep", a); !strings.Contains(words, want) {
			t.Errorf("%s: %s", want, words)
		}
	}
}

func TestGrepStopsAtTheHundredthMatch(t *testing.T) {
	b := newBench(t)
	for _, n := range []int{99, 100, 101} {
		b.file("f", strings.Repeat("x\n", n))
		raw := must[map[string]any](b, "Grep", args{"pattern": "x"})
		_, counted := raw["count"]
		if got := len(raw["matches"].([]any)); got != min(n, 100) || counted != (n < 100) || (raw["truncated"] == true) == counted {
			t.Errorf("%d lines: %d matches, count %v, truncated %v", n, got, raw["count"], raw["truncated"])
		}
	}
	for i := range 300 {
		b.file(fmt.Sprintf("d/%03d", i), "x\n")
	}
	out := must[grepOut](b, "Grep", args{"pattern": "x", "path": "d"})
	if first, last := out.Matches[0], out.Matches[99]; filepath.Base(first.Path) != "000" || filepath.Base(last.Path) != "099" {
		t.Errorf("from %s to %s: not the first in order", first.Path, last.Path)
	}
}

func TestGrepCutsLinesOnACharacter(t *testing.T) {
	b := newBench(t)
	b.file("f", strings.Repeat("é", 300)+"\n")
	out := must[grepOut](b, "Grep", args{"pattern": "é$"})
	if c := out.Matches[0].Content; utf8.RuneCountInString(c) != maxLine || !utf8.ValidString(c) {
		t.Errorf("%d characters", utf8.RuneCountInString(c))
	}
}

func TestPreviewOfASearchSaysWhatTheCallWouldSay(t *testing.T) {
	b := newBench(t)
	b.file("d/f", "")
	for _, c := range []struct {
		tool    string
		a       args
		problem bool
	}{
		{"Glob", args{"pattern": "**/*"}, false},
		{"Glob", args{"pattern": "none/*"}, false},
		{"Glob", args{"pattern": "d/*"}, false},
		{"Glob", args{"pattern": "*", "path": "none"}, true},
		{"Grep", args{"pattern": "x", "path": "none"}, true},
		{"Grep", args{"pattern": "x"}, false},
	} {
		p := preview(b, c.tool, c.a)
		_, err := call[map[string]any](b, c.tool, c.a)
		if (p.Problem != "") != c.problem || (err != nil) != c.problem || p.Outside {
			t.Errorf("%s %v: %+v, %v", c.tool, c.a, p, err)
		}
	}
}

func TestGrepReadsFilesInPieces(t *testing.T) {
	b := newBench(t)
	var text strings.Builder
	want := []int{}
	line := 1
	for text.Len() < 3*chunk {
		if line%997 == 0 {
			text.WriteString("needle\n")
			want = append(want, line)
		} else {
			text.WriteString(strings.Repeat("é", line%200) + "\n")
		}
		line++
	}
	text.WriteString(strings.Repeat("long ", chunk) + "needle")
	want = append(want, line)
	b.file("f", text.String())
	got := []int{}
	for _, m := range must[grepOut](b, "Grep", args{"pattern": "needle"}).Matches {
		got = append(got, m.Line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	b.file("f", text.String()+"\n\xff")
	if out := must[grepOut](b, "Grep", args{"pattern": "needle"}); len(out.Matches) != 0 {
		t.Error("a file that is not UTF-8 has matches")
	}
}

func TestSearchAgreesWithLineByLine(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	patterns := []string{"a", "ab", "a+b", "^a", "b$", "^$", "", "a|b", "(ab)+", "a.b", `\bab\b`, "(?i)AB", "a*", `\s`, "(?s)a.b", `[^a]`, "x{2}", `\Aab`, `(?m)^b`, "(a|ab)(b|)c?"}
	for range 3000 {
		text := make([]byte, rnd.IntN(30))
		for i := range text {
			text[i] = "aabb \n\r\nx"[rnd.IntN(9)]
		}
		pattern := patterns[rnd.IntN(len(patterns))]
		m, err := newMatcher(pattern)
		if err != nil {
			t.Fatal(err)
		}
		var want []int
		re := regexp.MustCompile(pattern)
		for i, l := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
			if len(text) > 0 && re.Match(bytes.TrimSuffix(l, []byte("\r"))) {
				want = append(want, i+1)
			}
		}
		var got []int
		s := newScanner(t.Context(), m, wanted{matches: maxMatches})
		for _, f := range s.scan(bytes.NewReader(text), int64(len(text))).matches {
			got = append(got, f.Line)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q in %q: lines %v, want %v", pattern, text, got, want)
		}
	}
}

func TestSearchesEndWithTheirContext(t *testing.T) {
	b := newBench(t)
	b.file("d/f", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for tool, a := range map[string]args{"Glob": {"pattern": "**"}, "Grep": {"pattern": "x"}} {
		if out, err := callCtx[map[string]any](b, ctx, tool, a); err == nil {
			t.Errorf("%s gave %v", tool, out)
		}
	}
	if _, err := callCtx[readText](b, ctx, "Read", args{"path": "d/f"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Read: %v", err)
	}
}
