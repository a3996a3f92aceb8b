package search

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/node/access"
)

func TestHiddenAndIgnoredFilesAreLeftOutOnDemand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, text := range map[string]string{
		".git/HEAD": "x", ".git/info/exclude": "secret\n", ".gitignore": "*.log\n!keep.log\n/build/\n# x\n\\#odd\ndoc/**/*.tmp\nsp\\ \ntrail  \n",
		"a.log": "x", "keep.log": "x", "build/out": "x", "sub/build/out": "x", "#odd": "x", "doc/a/b/c.tmp": "x", "c.tmp": "x", "secret": "x", "sub/secret": "x",
		"sub/.gitignore": "!a.log\ninner/\n*.{x,y}\n", "sub/a.log": "x", "sub/b.log": "x", "sub/inner/f": "x", "inner/f": "x", "sub/f.x": "x", "sub/f.{x,y}": "x",
		".hidden": "x", "sub/.dir/f": "x", "sp ": "x", "trail": "x", "sub/.ignore": "z\n", "sub/z": "x",
	} {
		b.File(name, text)
	}
	var all []string
	if err := filepath.WalkDir(b.WS.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, rel(b, path)[0])
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	no := false
	for _, c := range []struct {
		hidden, ignored *bool
		path            string
		left            []string
	}{
		{nil, nil, "", nil},
		{&no, nil, "", []string{".git/HEAD", ".git/info/exclude", ".gitignore", ".hidden", "sub/.dir/f", "sub/.gitignore", "sub/.ignore"}},
		{nil, &no, "", []string{
			"#odd", ".git/HEAD", ".git/info/exclude", "a.log", "build/out", "doc/a/b/c.tmp", "secret", "sp ", "sub/b.log", "sub/f.{x,y}", "sub/inner/f",
			"sub/secret", "sub/z", "trail",
		}},
		{nil, &no, "sub", []string{"sub/b.log", "sub/f.{x,y}", "sub/inner/f", "sub/secret", "sub/z"}},
	} {
		var want []string
		for _, f := range all {
			if !slices.Contains(c.left, f) && strings.HasPrefix(f, c.path) {
				want = append(want, f)
			}
		}
		out, err := runGlob(t.Context(), b.WS, "", globIn{Pattern: "**", Path: c.path, Hidden: c.hidden, Ignored: c.ignored}, maxGlob, nil)
		if err != nil {
			t.Fatal(err)
		}
		globbed := slices.DeleteFunc(rel(b, out.Matches...), func(f string) bool { return !slices.Contains(all, f) })
		slices.Sort(globbed)
		if !slices.Equal(globbed, want) {
			t.Errorf("Glob %+v: %q, want %q", c, globbed, want)
		}
		found, err := runGrep(t.Context(), b.WS, access.Call{}, grepIn{Pattern: "^", Path: c.path, Hidden: c.hidden, Ignored: c.ignored, Output: "files"})
		if err != nil {
			t.Fatal(err)
		}
		var files []string
		for _, f := range found.Files {
			files = append(files, rel(b, f.Path)[0])
		}
		slices.Sort(files)
		if !slices.Equal(files, want) || *found.Count != len(want) || len(found.Matches) != 0 {
			t.Errorf("Grep %+v: %q, want %q", c, files, want)
		}
	}
}

func TestIgnoresAreThoseOfGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	rnd := rand.New(rand.NewPCG(25, 26))
	lines := []string{"*.go", "!f.md", "/a", "a/", "a/b", "**/x.go", "b/**", "!/a/f.go", "?.go", "[ab]", "[!a]*.md", ".env", "a/**/f", "#", "f ", "!*.go", "*", "a b/", "é", "\\[1].go", "{g}.ts"}
	for range 15 {
		b := newBench(t)
		randomTree(b, rnd, 60)
		for _, dir := range []string{"", "a/", "a/b/"} {
			var text string
			for range rnd.IntN(4) {
				text += lines[rnd.IntN(len(lines))] + "\n"
			}
			b.File(dir+".gitignore", text)
		}
		cmd := exec.Command(git, "init", "-q")
		cmd.Dir = b.WS.Dir()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("got error %v, want none: %s", err, out)
		}
		cmd = exec.Command(git, "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard")
		cmd.Dir = b.WS.Dir()
		list, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
		if len(list) == 0 {
			want = nil
		}
		no := false
		out, err := runGlob(t.Context(), b.WS, "", globIn{Pattern: "**", Ignored: &no}, maxGlob, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, path := range out.Matches {
			if info, err := os.Lstat(path); err == nil && !info.IsDir() {
				got = append(got, rel(b, path)[0])
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			rules, _ := exec.Command("grep", "-r", "", "--include=.gitignore", b.WS.Dir()).Output()
			t.Fatalf("got %q, want what git says\n%q\n%s", got, want, rules)
		}
	}
}
