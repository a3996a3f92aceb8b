package search

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fairlead/node/access"
	"fairlead/node/tooltest"

	"github.com/bmatcuk/doublestar/v4"
)

// randomTree makes files with names and contents that are often alike.
func randomTree(b *tooltest.Bench, rnd *rand.Rand, files int) {
	dirs := []string{"a", "b", "a.b", "ab", ".h", "a b", "é", "A"}
	ends := []string{"f.go", "f.md", "x.go", ".env", "[1].go", "f", "{g}.ts"}
	words := []string{"needle\n", "no\n", "\n", "a needle\r\n", "\xff\n", "é\n", "need", "le\n"}
	for range files {
		var path []string
		for range rnd.IntN(4) {
			path = append(path, dirs[rnd.IntN(len(dirs))])
		}
		var text strings.Builder
		for range rnd.IntN(8) {
			text.WriteString(words[rnd.IntN(len(words))])
		}
		name := b.File(strings.Join(append(path, ends[rnd.IntN(len(ends))]), "/"), text.String())
		when := time.Unix(int64(1000+rnd.IntN(5)), 0)
		if err := os.Chtimes(name, when, when); err != nil {
			b.T.Fatal(err)
		}
	}
}

func TestGrepAgreesWithTheNaiveWay(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(21, 22))
	for range 12 {
		b := newBench(t)
		randomTree(b, rnd, rnd.IntN(150))
		for _, in := range []grepIn{
			{Pattern: "needle"},
			{Pattern: "needle", Include: "*.{go,md}"},
			{Pattern: "^need$|é", Include: "[fx]*"},
			{Pattern: "no", Include: "f"},
			{Pattern: "^$"},
			{Pattern: "needle", Include: "a/*"},
			{Pattern: "e", Include: "*"},
			{Pattern: "needle", Include: "**.go"},
		} {
			re := regexp.MustCompile(in.Pattern)
			var want []string
			err := filepath.WalkDir(b.WS.Dir(), func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || in.Include != "" && !doublestar.MatchUnvalidated(in.Include, d.Name()) {
					return err
				}
				text, err := os.ReadFile(path)
				if err != nil || !utf8.Valid(text) || len(text) == 0 {
					return err
				}
				for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
					if line = strings.TrimSuffix(line, "\r"); re.MatchString(line) {
						want = append(want, fmt.Sprintf("%s:%d:%s", rel(b, path)[0], i+1, line))
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			out, err := runGrep(t.Context(), b.WS, access.Call{}, in)
			if err != nil {
				t.Fatal(err)
			}
			if got := matchLines(b, out); !slices.Equal(got, want[:min(len(want), maxMatches)]) || out.Truncated != (len(want) >= maxMatches) {
				t.Fatalf("%+v:\n%q, want\n%q", in, got, want)
			}
		}
	}
}

// slowMatch compares part by part, because doublestar alone says that a*/** does not match a.
func slowMatch(glob, path string) bool {
	if strings.Contains(glob, "{a,é/A}") || strings.Contains(glob, "{**,x}") {
		return doublestar.MatchUnvalidated(glob, path)
	}
	var match func(glob, path []string) bool
	match = func(glob, path []string) bool {
		switch {
		case len(glob) == 0:
			return len(path) == 0
		case glob[0] == "**":
			return match(glob[1:], path) || len(path) > 0 && match(glob, path[1:])
		}
		return len(path) > 0 && doublestar.MatchUnvalidated(glob[0], path[0]) && match(glob[1:], path[1:])
	}
	return match(strings.Split(glob, "/"), strings.Split(path, "/"))
}

func TestGlobAgreesWithWalkingAndComparing(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(23, 24))
	pieces := []string{"*", "**", "a*", "?", "{a,b}", "[ab]", "*.go", "a", ".*", "*.{go,ts}", "f*", "{a,é/A}", "a**", "\\[1].go", "[^a]*", "**.go", "é", "{**,x}"}
	for range 12 {
		b := newBench(t)
		randomTree(b, rnd, rnd.IntN(120))
		for range 60 {
			var parts []string
			for range 1 + rnd.IntN(4) {
				parts = append(parts, pieces[rnd.IntN(len(pieces))])
			}
			pattern := strings.Join(parts, "/")
			if runtime.GOOS == "windows" && strings.Contains(pattern, `\`) {
				continue
			}
			start, rest := globStart(globIn{Pattern: pattern})
			var want []hit
			err := filepath.WalkDir(filepath.Join(b.WS.Dir(), start), func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return nil // no such start
				}
				rel, err := filepath.Rel(filepath.Join(b.WS.Dir(), start), path)
				if err != nil || rel == "." || !slowMatch(rest, filepath.ToSlash(rel)) {
					return err
				}
				info, err := d.Info()
				want = append(want, hit{path, info.ModTime().UnixNano(), false})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			want = newestHits(want, len(want))
			var paths []string
			for _, h := range want {
				paths = append(paths, h.path)
			}
			for _, limit := range []int{maxGlob, 1 + rnd.IntN(20)} {
				out, err := runGlob(t.Context(), b.WS, "", globIn{Pattern: pattern}, limit, nil)
				if err != nil {
					t.Fatal(err)
				}
				want := paths[:min(limit, len(paths))]
				if !slices.Equal(out.Matches, want) || out.Truncated != (len(want) < len(paths)) || out.Truncated && out.Total != len(paths) {
					t.Fatalf("%s, at most %d:\n%q of %d, want\n%q of %d", pattern, limit, rel(b, out.Matches...), out.Total, rel(b, want...), len(paths))
				}
			}
		}
	}
}

func TestGrepShowsContextFilesAndCounts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.File("a", "1\n2\nx 3\n4\nx 5\n")
	b.File("b", "x\r\n"+strings.Repeat("é", 300)+"\n")
	b.File("c", "none\n")
	out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "x", "context": 1, "before": 2})
	var got []string
	for _, m := range out.Matches {
		got = append(got, fmt.Sprintf("%s %d %q %q", rel(b, m.Path)[0], m.Line, m.Before, m.After))
	}
	want := []string{`a 3 ["1" "2"] ["4"]`, `a 5 ["x 3" "4"] []`, fmt.Sprintf(`b 1 [] [%q]`, strings.Repeat("é", maxLine))}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for output, want := range map[string]string{"files": "[{a 0} {b 0}]", "count": "[{a 2} {b 1}]"} {
		t.Run(output, func(t *testing.T) {
			out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "x", "output": output})
			for i := range out.Files {
				out.Files[i].Path = rel(b, out.Files[i].Path)[0]
			}
			if got := fmt.Sprint(out.Files); got != want || *out.Count != 2 || out.Truncated {
				t.Errorf("%s: got %s, want %s", output, got, want)
			}
		})
	}
	for i := range maxFiles {
		b.File(fmt.Sprintf("many/%04d", i), "x")
	}
	many := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "x", "output": "files"})
	if len(many.Files) != maxFiles || !many.Truncated || many.Count != nil || rel(b, many.Files[maxFiles-1].Path)[0] != "many/0997" {
		t.Errorf("got %d files, truncated %v, want %d, truncated", len(many.Files), many.Truncated, maxFiles)
	}
}

// TestSearchStopsWhenCancelled: a search that ignored its context would return a result.
func TestSearchStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	line := strings.Repeat("ab", 500) + "\n"
	for i := range 40 {
		b.File(fmt.Sprintf("d%d/big", i), strings.Repeat(line, 2000))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if out, err := runGrep(ctx, b.WS, access.Call{}, grepIn{Pattern: "(a|b)*a(a|b){300}[cd]"}); err == nil {
		t.Errorf("a cancelled search returned %+v, want an error", out)
	}
}

func TestSearchesWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.File("f", "needle")
	for range cap(slots) {
		slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error, 2)
	go func() { _, err := runGrep(ctx, b.WS, access.Call{}, grepIn{Pattern: "needle"}); results <- err }()
	go func() { _, err := runGlob(ctx, b.WS, "", globIn{Pattern: "*"}, 1, nil); results <- err }()
	cancel()
	for range 2 {
		if err := <-results; err == nil || err.Error() != "cancelled" {
			t.Errorf("got error %v, want cancelled", err)
		}
	}
	for range cap(slots) {
		<-slots
	}
	if out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "needle"}); *out.Count != 1 {
		t.Errorf("got %+v, want one match", out)
	}
}
