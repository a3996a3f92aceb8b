package search

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"fairlead/node/access"
	"fairlead/node/tooltest"
)

// rel gives paths relative to the workspace, with slashes.
func rel(b *tooltest.Bench, paths ...string) []string {
	list := []string{}
	for _, p := range paths {
		r, err := filepath.Rel(b.WS.Dir(), p)
		if err != nil {
			b.T.Fatal(err)
		}
		list = append(list, filepath.ToSlash(r))
	}
	return list
}

func matchLines(b *tooltest.Bench, out grepOut) []string {
	var list []string
	for _, m := range out.Matches {
		list = append(list, fmt.Sprintf("%s:%d:%s", rel(b, m.Path)[0], m.Line, m.Content))
	}
	return list
}

func TestGrepFindsLinesInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.File("b.go", "one\nfunc two\n\nfunc three\r\n")
	b.File("a/z.md", "func in md")
	b.File("a.txt", "no\nFunc upper\n")
	b.File("a/.hidden", "func hidden\n")
	b.File(".git/config", "func git\n")
	b.File("bin", "func \xff\n")
	b.File("end", "x\nfunc")
	for _, c := range []struct {
		a    tooltest.Args
		want []string
	}{
		{tooltest.Args{"pattern": "func"}, []string{".git/config:1:func git", "a/.hidden:1:func hidden", "a/z.md:1:func in md", "b.go:2:func two", "b.go:4:func three", "end:2:func"}},
		{tooltest.Args{"pattern": "(?i)^func u"}, []string{"a.txt:2:Func upper"}},
		{tooltest.Args{"pattern": "^func t.*e$"}, []string{"b.go:4:func three"}},
		{tooltest.Args{"pattern": "^$", "include": "*.go"}, []string{"b.go:3:"}},
		{tooltest.Args{"pattern": "func", "include": "*.{md,go}"}, []string{"a/z.md:1:func in md", "b.go:2:func two", "b.go:4:func three"}},
		{tooltest.Args{"pattern": "func", "path": "a"}, []string{"a/.hidden:1:func hidden", "a/z.md:1:func in md"}},
		{tooltest.Args{"pattern": "func", "path": "b.go"}, []string{"b.go:2:func two", "b.go:4:func three"}},
		{tooltest.Args{"pattern": "func", "path": "b.go", "include": "*.md"}, nil},
		{tooltest.Args{"pattern": `one\nfunc`}, nil},
		{tooltest.Args{"pattern": `\Aone\z`}, []string{"b.go:1:one"}},
		{tooltest.Args{"pattern": "nothing at all"}, nil},
		{tooltest.Args{"pattern": `t[wh]\w+`, "include": "b.*"}, []string{"b.go:2:func two", "b.go:4:func three"}},
		{tooltest.Args{"pattern": "func", "path": ".git"}, []string{".git/config:1:func git"}},
	} {
		out := tooltest.Must[grepOut](b, "Grep", c.a)
		if got := matchLines(b, out); !slices.Equal(got, c.want) || out.Count == nil || *out.Count != len(c.want) || out.Truncated || out.Matches == nil {
			t.Errorf("%v: got %q, count %v, want %q", c.a, got, out.Count, c.want)
		}
	}
}

func TestGrepExplainsInvalidExpressions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for want, a := range map[string]tooltest.Args{
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
		if words := tooltest.MustFail(b, "Grep", a); !strings.Contains(words, want) {
			t.Errorf("got %q, want %q in it", words, want)
		}
	}
}

func TestGrepStopsAtTheHundredthMatch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, n := range []int{99, 100, 101} {
		b.File("f", strings.Repeat("x\n", n))
		raw := tooltest.Must[map[string]any](b, "Grep", tooltest.Args{"pattern": "x"})
		_, counted := raw["count"]
		if got := len(raw["matches"].([]any)); got != min(n, 100) || counted != (n < 100) || (raw["truncated"] == true) == counted {
			t.Errorf("%d lines: got %d matches, count %v, truncated %v, want at most 100", n, got, raw["count"], raw["truncated"])
		}
	}
	for i := range 300 {
		b.File(fmt.Sprintf("d/%03d", i), "x\n")
	}
	out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "x", "path": "d"})
	if first, last := out.Matches[0], out.Matches[99]; filepath.Base(first.Path) != "000" || filepath.Base(last.Path) != "099" {
		t.Errorf("got %s to %s, want 000 to 099", first.Path, last.Path)
	}
}

func TestGrepCutsLinesOnACharacter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.File("f", strings.Repeat("é", 300)+"\n")
	out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "é$"})
	if c := out.Matches[0].Content; utf8.RuneCountInString(c) != maxLine || !utf8.ValidString(c) {
		t.Errorf("got %d characters, want %d", utf8.RuneCountInString(c), maxLine)
	}
}

func TestPreviewOfASearchMatchesTheCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.File("d/f", "")
	for _, c := range []struct {
		tool    string
		a       tooltest.Args
		problem bool
	}{
		{"Glob", tooltest.Args{"pattern": "**/*"}, false},
		{"Glob", tooltest.Args{"pattern": "none/*"}, false},
		{"Glob", tooltest.Args{"pattern": "d/*"}, false},
		{"Glob", tooltest.Args{"pattern": "*", "path": "none"}, true},
		{"Grep", tooltest.Args{"pattern": "x", "path": "none"}, true},
		{"Grep", tooltest.Args{"pattern": "x"}, false},
	} {
		p := tooltest.Preview(b, c.tool, c.a)
		_, err := tooltest.Call[map[string]any](b, c.tool, c.a)
		if (p.Problem != "") != c.problem || (err != nil) != c.problem || p.Outside {
			t.Errorf("%s %v: got preview %+v, error %v, want a problem: %v", c.tool, c.a, p, err, c.problem)
		}
	}
}

func TestGrepReadsFilesInPieces(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var text strings.Builder
	want := []int{}
	line := 1
	for text.Len() < 3*chunkSize {
		if line%997 == 0 {
			text.WriteString("needle\n")
			want = append(want, line)
		} else {
			text.WriteString(strings.Repeat("é", line%200) + "\n")
		}
		line++
	}
	text.WriteString(strings.Repeat("long ", chunkSize) + "needle")
	want = append(want, line)
	b.File("f", text.String())
	got := []int{}
	for _, m := range tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "needle"}).Matches {
		got = append(got, m.Line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	b.File("f", text.String()+"\n\xff")
	if out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "needle"}); len(out.Matches) != 0 {
		t.Error("a file that is not UTF-8 has matches")
	}
}

func TestSearchAgreesWithLineByLine(t *testing.T) {
	t.Parallel()
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
		s := newScanner(t.Context(), m, lineOptions{matches: maxMatches})
		for _, f := range s.scan(bytes.NewReader(text), int64(len(text))).matches {
			got = append(got, f.Line)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q in %q: lines %v, want %v", pattern, text, got, want)
		}
	}
}

func TestSearchesEndWithTheirContext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.File("d/f", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for tool, a := range map[string]tooltest.Args{"Glob": {"pattern": "**"}, "Grep": {"pattern": "x"}} {
		t.Run(tool, func(t *testing.T) {
			if out, err := tooltest.CallContext[map[string]any](ctx, access.Call{}, b, tool, a); err == nil {
				t.Errorf("got %v, want an error", out)
			}
		})
	}
}
