package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/node/tooltest"

	"github.com/bmatcuk/doublestar/v4"
)

func TestGlobFindsByPattern(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, f := range []string{"a.go", "b.txt", ".hidden.go", "src/c.go", "src/deep/d.ts", "src/deep/e.tsx", "node_modules/m.go", ".git/g.go", "src/.git/h.go", "[x]/y.go"} {
		b.File(f, "")
	}
	for _, c := range []struct {
		pattern, path string
		want          []string
	}{
		{"*.go", "", []string{".hidden.go", "a.go"}},
		{"**/*.go", "", []string{".git/g.go", ".hidden.go", "[x]/y.go", "a.go", "node_modules/m.go", "src/.git/h.go", "src/c.go"}},
		{"**/*.{ts,tsx}", "", []string{"src/deep/d.ts", "src/deep/e.tsx"}},
		{"src/*", "", []string{"src/.git", "src/c.go", "src/deep"}},
		{"*", "src/deep", []string{"src/deep/d.ts", "src/deep/e.tsx"}},
		{"?.go", "", []string{"a.go"}},
		{"[ab].*", "", []string{"a.go", "b.txt"}},
		{"src/**/d.ts", "", []string{"src/deep/d.ts"}},
		{"a.go", "", []string{"a.go"}},
		{"src/c.go", "", []string{"src/c.go"}},
		{".git/*", "", []string{".git/g.go"}},
		{"**/.git/*.go", "", []string{".git/g.go", "src/.git/h.go"}},
		{"A.GO", "", []string{}},
		{"nothing/**", "", []string{}},
		{"a.go/*", "", []string{}},
		{filepath.ToSlash(b.WS.Dir()) + "/*.txt", "", []string{"b.txt"}},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			out := tooltest.Must[globOut](b, "Glob", tooltest.Args{"pattern": c.pattern, "path": c.path})
			got := rel(b, out.Matches...)
			slices.Sort(got)
			if !slices.Equal(got, c.want) || out.Count != len(c.want) || out.Pattern != c.pattern || out.Truncated {
				t.Errorf("%s in %q: got %v, count %d, want %v", c.pattern, c.path, got, out.Count, c.want)
			}
			if want := filepath.Join(b.WS.Dir(), filepath.FromSlash(c.path)); out.BasePath != want {
				t.Errorf("%s: got base %s, want %s", c.pattern, out.BasePath, want)
			}
		})
	}
}

func TestGlobGivesTheNewestFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	now := time.Now()
	for i, name := range []string{"b", "d/c", "a", "d/e"} {
		if err := os.Chtimes(b.File(name, ""), now, now.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(b.File("same", ""), now, now.Add(2*time.Second)); err != nil {
		t.Fatal(err)
	}
	out := tooltest.Must[globOut](b, "Glob", tooltest.Args{"pattern": "**/[a-s]*", "path": "."})
	got := slices.DeleteFunc(rel(b, out.Matches...), func(s string) bool { return s == "d" })
	if want := []string{"d/e", "a", "same", "d/c", "b"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestGlobRefusesInvalidPatternsAndFolders(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.File("f", "")
	for want, a := range map[string]tooltest.Args{
		"pattern must not be empty": {"pattern": ""}, "Invalid pattern: {a": {"pattern": "{a"}, "Invalid pattern: [": {"pattern": "["},
		"no such file": {"pattern": "*", "path": "none"}, "is not a folder": {"pattern": "*", "path": "f"},
	} {
		if words := tooltest.MustFail(b, "Glob", a); !strings.Contains(words, want) {
			t.Errorf("got %q, want %q in it", words, want)
		}
	}
}

func TestGlobReturnsTheNewestOfTooMany(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const limit = 100
	now := time.Now().Truncate(time.Second)
	for i := range 5 * limit {
		name := b.File(fmt.Sprintf("d%d/f%03d", i%7, i), "")
		if i >= limit {
			if err := os.Chtimes(name, now, now.Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n, truncated := range map[int]bool{limit: true, 5*limit - 1: true, 5 * limit: false} {
		out, err := runGlob(t.Context(), b.WS, "", globIn{Pattern: "**/f*"}, n, nil)
		if err != nil || len(out.Matches) != n || out.Count != n || out.Truncated != truncated || truncated != (out.Total == 5*limit) {
			t.Fatalf("got %d matches, count %d, total %d, error %v, want %d, truncated %v", len(out.Matches), out.Count, out.Total, err, n, truncated)
		}
		for _, m := range out.Matches[:limit] {
			if filepath.Base(m) >= "f100" {
				t.Errorf("got %s, want the newest 100", m)
			}
		}
	}
}

func TestGlobAgreesWithASlowReference(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	names := []string{"a", "b", "ab", "a.b", ".a"}
	var files []string
	for range 60 {
		var parts []string
		for range 1 + rnd.IntN(4) {
			parts = append(parts, names[rnd.IntN(len(names))])
		}
		name := strings.Join(parts, "/") + ".f"
		if rnd.IntN(3) == 0 {
			parts[len(parts)-1] += "x"
		}
		b.File(name, "")
		files = append(files, name)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	pieces := []string{"*", "**", "a*", "?", "{a,b}", "[a-b]", "*.f", "a", ".*"}
	for range 300 {
		var parts []string
		for range 1 + rnd.IntN(4) {
			parts = append(parts, pieces[rnd.IntN(len(pieces))])
		}
		pattern := strings.Join(parts, "/")
		var want []string
		for _, f := range files {
			if ok, err := doublestar.Match(pattern, f); err != nil {
				t.Fatal(err)
			} else if ok {
				want = append(want, f)
			}
		}
		out := tooltest.Must[globOut](b, "Glob", tooltest.Args{"pattern": pattern})
		got := slices.DeleteFunc(rel(b, out.Matches...), func(s string) bool { return !slices.Contains(files, s) })
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %v, want %v", pattern, got, want)
		}
	}
}

func TestBracesThatStandForCountlessPatternsAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.File(strings.Repeat("a", 40), "a\n")
	bomb := strings.Repeat("{a,a}", 20) + "b"
	for name, a := range map[string]tooltest.Args{"Glob": {"pattern": bomb}, "Grep": {"pattern": "a", "include": bomb}} {
		t.Run(name, func(t *testing.T) {
			if words := tooltest.MustFail(b, name, a); !strings.Contains(words, "its braces expand to more than 1000 patterns") {
				t.Errorf("got %q, want too many patterns", words)
			}
		})
	}
	for glob, want := range map[string]int{
		"": 1, "*.go": 1, "{a,b}": 2, "{a}": 1, "{,a}": 2, "x{a,b{c,d,e}}y{f,g}": 8, `\{a,b\}`: 1, "[{,]{a,b}": 2, `[\],]`: 1, "a,b": 1,
		strings.Repeat("{a,b}", 9): 512, strings.Repeat("{a,b}", 10): maxExpansions + 1, strings.Repeat("{a,b}", 1000): maxExpansions + 1,
		strings.Repeat("{", 20) + "a" + strings.Repeat("}", 20): 1, strings.Repeat("{", 21) + "a" + strings.Repeat("}", 21): maxExpansions + 1, "{" + strings.Repeat("a,", 2000) + "}": maxExpansions + 1,
	} {
		if n := expansionCount(glob); n != want || !doublestar.ValidatePattern(glob) {
			t.Errorf("%.40s: %d, want %d", glob, n, want)
		}
	}
	tooltest.Must[globOut](b, "Glob", tooltest.Args{"pattern": "{" + strings.Repeat("a,", 999) + "b}"})
}
