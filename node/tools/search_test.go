package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"fairlead/gateway/protocol/tool"
	"fairlead/node/workspace"
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

func TestGlobFindsByPattern(t *testing.T) {
	b := newBench(t)
	for _, f := range []string{"a.go", "b.txt", ".hidden.go", "src/c.go", "src/deep/d.ts", "src/deep/e.tsx", "node_modules/m.go", ".git/g.go", "src/.git/h.go", "[x]/y.go"} {
		b.file(f, "")
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
		{filepath.ToSlash(b.ws.Dir()) + "/*.txt", "", []string{"b.txt"}},
	} {
		out := must[globOut](b, "Glob", args{"pattern": c.pattern, "path": c.path})
		got := b.rel(out.Matches...)
		slices.Sort(got)
		if !slices.Equal(got, c.want) || out.Count != len(c.want) || out.Pattern != c.pattern || out.Truncated {
			t.Errorf("%s in %q: %v, count %d", c.pattern, c.path, got, out.Count)
		}
		if want := filepath.Join(b.ws.Dir(), filepath.FromSlash(c.path)); out.BasePath != want {
			t.Errorf("%s: base %s", c.pattern, out.BasePath)
		}
	}
}

func TestGlobGivesTheNewestFirst(t *testing.T) {
	b := newBench(t)
	now := time.Now()
	for i, name := range []string{"b", "d/c", "a", "d/e"} {
		if err := os.Chtimes(b.file(name, ""), now, now.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(b.file("same", ""), now, now.Add(2*time.Second)); err != nil {
		t.Fatal(err)
	}
	out := must[globOut](b, "Glob", args{"pattern": "**/[a-s]*", "path": "."})
	got := slices.DeleteFunc(b.rel(out.Matches...), func(s string) bool { return s == "d" })
	if want := []string{"d/e", "a", "same", "d/c", "b"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestGlobRefusesWhatIsNoPatternOrFolder(t *testing.T) {
	b := newBench(t)
	b.file("f", "")
	for want, a := range map[string]args{
		"pattern must not be empty": {"pattern": ""}, "Invalid pattern: {a": {"pattern": "{a"}, "Invalid pattern: [": {"pattern": "["},
		"no such file": {"pattern": "*", "path": "none"}, "is not a folder": {"pattern": "*", "path": "f"},
	} {
		if words := fails(b, "Glob", a); !strings.Contains(words, want) {
			t.Errorf("%s: %s", want, words)
		}
	}
}

func TestGlobReturnsTheNewestOfTooMany(t *testing.T) {
	b := newBench(t)
	const limit = 100
	now := time.Now().Truncate(time.Second)
	for i := range 5 * limit {
		name := b.file(fmt.Sprintf("d%d/f%03d", i%7, i), "")
		if i >= limit {
			if err := os.Chtimes(name, now, now.Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n, truncated := range map[int]bool{limit: true, 5*limit - 1: true, 5 * limit: false} {
		out, err := runGlob(t.Context(), b.ws, globIn{Pattern: "**/f*"}, n)
		if err != nil || len(out.Matches) != n || out.Count != n || out.Truncated != truncated || truncated != (out.Total == 5*limit) {
			t.Fatalf("%d matches, count %d, total %d, %v", len(out.Matches), out.Count, out.Total, err)
		}
		for _, m := range out.Matches[:limit] {
			if filepath.Base(m) >= "f100" {
				t.Errorf("%s is old", m)
			}
		}
	}
}

func TestGlobAgreesWithASlowReference(t *testing.T) {
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
		b.file(name, "")
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
		out := must[globOut](b, "Glob", args{"pattern": pattern})
		got := slices.DeleteFunc(b.rel(out.Matches...), func(s string) bool { return !slices.Contains(files, s) })
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %v, want %v", pattern, got, want)
		}
	}
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
		"Look-around is not supported":             {"pattern": "a(?!b)"},
		"Possessive quantifiers are not":           {"pattern": "a++"},
		"Atomic groups are not supported":          {"pattern": "(?>a)"},
		`Write [ \t]`:                              {"pattern": `\h`},
		"Unknown output \"x\"":                     {"pattern": "a", "output": "x"},
		"before must be a whole number":            {"pattern": "a", "before": -1},
		"the expression is too large":              {"pattern": strings.Repeat("(abcdefghij){100}", 60)},
		"Back-references are not supported":        {"pattern": `(a)\1`},
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

func TestGrepFollowsLinksInsideOnly(t *testing.T) {
	b := newBench(t)
	out := folder(t)
	if err := os.WriteFile(filepath.Join(out, "f"), []byte("needle"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.file("real/f", "needle")
	b.file("search/own", "needle")
	for name, target := range map[string]string{
		"search/file": "../real/f", "search/dir": "../real", "search/again": "../real", "search/self": ".", "search/up": "..", "search/out": out,
		"search/outfile": filepath.Join(out, "f"), "search/dangling": "none", "real/back": "../search", "real/loop": "loop",
		"search/abs": filepath.Join(b.ws.Dir(), "real", "f"),
	} {
		if err := os.Symlink(target, filepath.Join(b.ws.Dir(), filepath.FromSlash(name))); err != nil {
			t.Skipf("this system lets nobody make symbolic links here: %v", err)
		}
	}
	got := matchLines(b, must[grepOut](b, "Grep", args{"pattern": "needle", "path": "search"}))
	if want := []string{"search/abs:1:needle", "search/again/f:1:needle", "search/file:1:needle", "search/own:1:needle"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestWithTheWholeDiskASearchStaysWhereItBegan(t *testing.T) {
	out, dir := folder(t), folder(t)
	for _, d := range []string{out, dir} {
		if err := os.WriteFile(filepath.Join(d, "f"), []byte("needle"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"link": out, "file": filepath.Join(out, "f")} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skipf("this system lets nobody make symbolic links here: %v", err)
		}
	}
	ws, err := workspace.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	b := &bench{t: t, ws: ws, tools: map[string]tool.Tool{}}
	for _, tl := range All(ws, NewJobs(JobOptions{})) {
		b.tools[tl.Spec.Name] = tl
	}
	for _, c := range []struct {
		path    string
		outside bool
		n       int
	}{{"", false, 1}, {"link", true, 1}, {out, true, 1}, {"file", true, 1}} {
		a := args{"pattern": "needle", "path": c.path}
		if p := preview(b, "Grep", a); p.Outside != c.outside || p.Problem != "" {
			t.Errorf("preview of %q: %+v", c.path, p)
		}
		if got := must[grepOut](b, "Grep", a); len(got.Matches) != c.n {
			t.Errorf("%q: %+v", c.path, got.Matches)
		}
	}
	for path, outside := range map[string]bool{"f": false, "file": true, "link/f": true, filepath.Join(out, "f"): true} {
		for tool, a := range map[string]args{"Read": {"path": path}, "Write": {"path": path, "content": "needle"}} {
			if p := preview(b, tool, a); p.Outside != outside || p.Problem != "" {
				t.Errorf("preview of %s %s: %+v", tool, path, p)
			}
		}
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
		for _, f := range s.scan(bytes.NewReader(text), int64(len(text)), "f").matches {
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
