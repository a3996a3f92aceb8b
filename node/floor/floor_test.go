package floor

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func write(t testing.TB, paths ...string) {
	t.Helper()
	for _, p := range paths {
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func newTree(t testing.TB) (dir string, at func(string) string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(dir, "home"))
	return dir, func(rel string) string { return filepath.Join(dir, filepath.FromSlash(rel)) }
}

func TestSettingsThatMercurialIncludesAreListed(t *testing.T) {
	dir, at := newTree(t)
	write(t, at(".hg/hgrc"), at("team.rc"), at("other.rc"))
	if err := os.WriteFile(at(".hg/hgrc"), []byte("%include ../team.rc\n%include /etc/x\n# ../other.rc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var list List
	if got, want := list.Files(dir), []string{at(".hg/hgrc"), at("team.rc")}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFilesThatStartProgramsAreListed(t *testing.T) {
	dir, at := newTree(t)
	want := []string{
		".envrc", ".git/config", ".git/hooks", ".git/info/attributes", ".git/modules/libs/a/config", ".git/modules/libs/a/hooks",
		".git/worktrees/w/commondir", ".hg/hgrc", ".husky", ".jj/repo/config.toml", ".jj/repo/store/git/config", ".npmrc", ".vscode/settings.json", "a.code-workspace",
		"bare.git/config", "home/.bashrc", "home/.config/autostart", "home/bin", "nested/deep/.envrc", "nested/deep/.git/hooks", "plain/config", "w/.git", "w2/.jj/repo",
	}
	for _, p := range want {
		switch filepath.Base(p) {
		case "hooks", ".husky", "autostart", "bin":
			p += "/program"
		}
		write(t, at(p))
	}
	write(
		t, at(".git/HEAD"), at(".git/index"), at(".git/modules/libs/a/HEAD"), at(".git/worktrees/w/HEAD"), at("bare.git/HEAD"), at("plain/HEAD"), at("plain/objects/x"),
		at("plain/refs/x"), at("node_modules/x/.npmrc"), at("src/main.go"), at(".vscode/extensions.json"), at("config"), at("bin/x"), at("x.git/notes"), at(".hg/store/data"), at(".svn/wc.db"), at(".svn/hooks/pre-commit"),
	)
	var list List
	var got []string
	for _, f := range list.Files(dir) {
		rel, err := filepath.Rel(dir, f)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestListFollowsChanges(t *testing.T) {
	dir, at := newTree(t)
	list := New()
	defer list.Close()
	check := func(want ...string) {
		t.Helper()
		for i, w := range want {
			want[i] = at(w)
		}
		if got := list.Files(dir); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check()
	write(t, at("a/b/.envrc"), at(".git/config"))
	check(".git/config", "a/b/.envrc")
	write(t, at(".git/hooks/x"))
	if err := os.Rename(at("a"), at("c")); err != nil {
		t.Fatal(err)
	}
	check(".git/config", ".git/hooks", "c/b/.envrc")
	if err := os.RemoveAll(at("c")); err != nil {
		t.Fatal(err)
	}
	check(".git/config", ".git/hooks")
}

func TestCachesAreLeftOut(t *testing.T) {
	_, at := newTree(t)
	write(t, at("home/.cache/go-build/ab/.envrc"), at("work/.cache/.envrc"), at("work/.envrc"))
	var list List
	if got := list.Files(at("home/.cache/go-build")); len(got) != 0 {
		t.Errorf("got %q, want nothing of a granted cache", got)
	}
	if got := list.Files(at("work")); !slices.Equal(got, []string{at("work/.envrc")}) {
		t.Errorf("got %q, want the file outside of the cache", got)
	}
}

func TestFoldersOfHooksAreFoundByTheConfiguration(t *testing.T) {
	for text, want := range map[string][]string{
		"[core]\n\thooksPath = tools/git\n": {"tools/git"}, "[core] hookspath=\"tools/git\"\n": {"tools/git"}, "[include]\n\tpath = ../team.gitconf\n": {"team.gitconf"},
		"[core]\n\thooksPath = .\n": nil, "[core]\n\thooksPath = ..\n": nil, "[core]\n\thooksPath = /usr/share\n": nil, "[core]\n\thooksPath = none\n": nil,
		"[submodule \"x\"]\n\tpath = tools\n": nil, "[core]\n\thooksPath = .git/other\n": {".git/other"},
	} {
		dir, at := newTree(t)
		write(t, at(".git/HEAD"), at(".git/other/x"), at("tools/git/pre-commit"), at("tools/other"), at("team.gitconf"))
		if err := os.WriteFile(at(".git/config"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want = append([]string{".git/config"}, want...)
		for i := range want {
			want[i] = at(want[i])
		}
		if got := new(List).Files(dir); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestFilesThatStartProgramsByTheirFolder(t *testing.T) {
	_, at := newTree(t)
	write(t, at("my env/pyvenv.cfg"), at("bare/HEAD"), at("bare/refs/x"), at("bare/objects/x"), at("src/bin/x"))
	for path, want := range map[string]bool{
		"my env/bin/python": true, "my env/Scripts/pip.exe": true, "my env/lib/x.py": false, "bare/config": true, "src/bin/x": false, "config": false, "bare/description": false,
	} {
		if got := StartsPrograms(at(path)); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

func TestTrackedFilesAreCompared(t *testing.T) {
	dir, _ := newTree(t)
	for rel, want := range map[string]bool{
		".envrc": true, "a/.vscode/tasks.json": true, "hooks/pre-commit": true, "a.go": false, "vendor/a/.envrc": false, "a/HEAD": false, ".github/workflows/a.yml": false,
	} {
		if got := Lists(dir, rel); got != want {
			t.Errorf("%s: got %v, want %v", rel, got, want)
		}
	}
}

func TestWithoutLiftsOnePath(t *testing.T) {
	_, at := newTree(t)
	write(t, at(".husky/a"), at(".husky/b"), at(".husky/_/c"), at(".husky/_/d"))
	list := []string{at(".envrc"), at(".husky")}
	for path, want := range map[string][]string{
		".envrc": {".husky"}, ".husky": {".envrc"}, ".": nil, "other": {".envrc", ".husky"},
		".husky/_/c": {".envrc", ".husky/_/d", ".husky/a", ".husky/b"}, ".husky/new": {".envrc", ".husky/_", ".husky/a", ".husky/b"},
	} {
		for i := range want {
			want[i] = at(want[i])
		}
		got := Without(list, at(path))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// BenchmarkFiles lists a tree of 50,000 files in 5,000 folders again: by the reports of the system,
// and by asking for each folder.
func BenchmarkFiles(b *testing.B) {
	dir, at := newTree(b)
	for i := range 5000 {
		for k := range 10 {
			write(b, at(strconv.Itoa(i%50)+"/"+strconv.Itoa(i)+"/"+strconv.Itoa(k)+".go"))
		}
	}
	write(b, at(".git/config"), at("7/57/.envrc"))
	time.Sleep(settled) // or all folders may have changed
	for name, list := range map[string]*List{"reports": New(), "walk": {}} {
		b.Run(name, func(b *testing.B) {
			defer list.Close()
			list.Files(dir)
			for b.Loop() {
				if n := len(list.Files(dir)); n != 2 {
					b.Fatalf("got %d files, want 2", n)
				}
			}
		})
	}
}

// TestCrowdedFoldersHaveFloorFiles: a look after a command finds them, and nothing protects them
// while a package manager replaces them.
func TestCrowdedFoldersHaveFloorFiles(t *testing.T) {
	dir, at := newTree(t)
	inner := []string{
		"vendor/github.com/ann/x/.git/hooks", "_deps/x-src/.git/config", "node_modules/p/.git/hooks", "node_modules/@s/p/.git/config", "vendor/x/y/.git", "target/x/.hg/hgrc", "build/x.git/config",
	}
	filled := []string{".tox/py/bin", ".tox/py/pyvenv.cfg", "node_modules/.bin", "node_modules/p/node_modules/.bin", "build/env/bin", "build/env/pyvenv.cfg", ".venv/lib/python3/site-packages/a.pth"}
	for _, rel := range slices.Concat(inner, filled) {
		switch {
		case strings.HasSuffix(rel, "hooks"), strings.HasSuffix(rel, "bin"):
			write(t, at(rel+"/x"))
		default:
			write(t, at(rel))
		}
	}
	write(t, at("build/x.git/HEAD"), at("node_modules/p/lib/.git/config"), at("node_modules/p/.envrc"), at("vendor/a/b/c/d/.git/config"), at("src/.envrc"))
	want := []string{at("src/.envrc")}
	list := New()
	defer list.Close()
	if got := list.Files(dir); !slices.Equal(got, want) {
		t.Errorf("protected files: got %q, want %q", got, want)
	}
	for name, list := range map[string]*List{"reports": list, "walk": {}} {
		files, more, _ := list.All(dir)
		got := slices.Concat(files, more)
		for i, rel := range slices.Concat(inner, filled) {
			if !slices.Contains(got, at(rel)) {
				t.Errorf("%s: %s is missing (%d)", name, rel, i)
			}
		}
		if len(files) != len(want)+len(inner) {
			t.Errorf("%s: got %d files, want %d: %q", name, len(files), len(want)+len(inner), files)
		}
		write(t, at("dist/"+name+"/.git/config")) // also one that is new
		if files, _, _ := list.All(dir); !slices.Contains(files, at("dist/"+name+"/.git/config")) {
			t.Errorf("%s: got %q without the new repository, want %v in it", name, files, at("dist/"+name+"/.git/config"))
		}
		if err := os.RemoveAll(at("dist")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPatternsOfRulesAreExpanded(t *testing.T) {
	dir, at := newTree(t)
	write(t, at("secrets/a"), at("a.pem"), at("sub/b.pem"), at("sub/c.txt"), at("out/x"), at("we*ird"), at("node_modules/p/c.key"), at("target/d.key"))
	var list List
	for pattern, want := range map[string][]string{
		"secrets": {"secrets"}, "none": nil, "**/*.pem": {"a.pem", "sub/b.pem"}, "*.pem": {"a.pem"}, "s*/?.txt": {"sub/c.txt"}, `we\*ird`: {"we*ird"}, "s*": {"secrets", "sub"},
		"**/*.key": {"node_modules/p/c.key", "target/d.key"}, "target/**": {"target"},
	} {
		for i := range want {
			want[i] = at(want[i])
		}
		if got := list.Expand([]string{filepath.ToSlash(dir) + "/" + pattern}, []string{dir}); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
}

// Outside of the searched folders, patterns without ** are looked up.
func TestPatternsOfRulesAreExpandedOutside(t *testing.T) {
	dir, at := newTree(t)
	write(t, at("ws/x"), at("clients/a/private/k"), at("clients/B/Private/k"), at("clients/c/public/k"), at("clients/a/deep/private/k"))
	if err := os.Symlink(at("clients/c/public"), at("clients/c/private")); err != nil {
		t.Skip("this system makes no links: ", err)
	}
	var list List
	for pattern, want := range map[string][]string{
		"clients/*/private": {"clients/B/Private", "clients/a/private", "clients/c/public"}, "clients/*/none": nil, "clients/**/private": nil, "none/*/x": nil,
		"clients/[ab]/p*": {"clients/B/Private", "clients/a/private"}, "ws/*": {"ws/x"},
	} {
		for i := range want {
			want[i] = at(want[i])
		}
		got := list.Expand([]string{filepath.ToSlash(dir) + "/" + pattern}, []string{at("ws")})
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
	for i := range maxOutside + 1 {
		if err := os.Mkdir(at("clients/n"+strconv.Itoa(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := list.Expand([]string{filepath.ToSlash(dir) + "/clients/*/private"}, nil), []string{at("clients")}; !slices.Equal(got, want) {
		t.Errorf("with too many names: got %q, want %q", got, want)
	}
}

func TestManyNewFoldersPushOutNone(t *testing.T) {
	dir, at := newTree(t)
	write(t, at("sub/deep/.envrc"))
	list := List{limit: 10}
	list.Files(dir)
	for i := range 20 {
		if err := os.Mkdir(at(strconv.Itoa(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, at("sub/.npmrc"))
	if got, want := list.Files(dir), []string{at("sub/.npmrc"), at("sub/deep/.envrc")}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLinkTargetsAreListed(t *testing.T) {
	dir, at := newTree(t)
	write(t, at("conf/b/pre-push"), at("conf/profile"), at("other"))
	for link, target := range map[string]string{
		".profile": "conf/profile", ".lefthook": "conf/a", "conf/a": "x/b", "conf/x": at("conf"), ".zshenv": "/etc/hostname", ".idea": "..", ".vimrc": "none", ".npmrc": ".npmrc",
	} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Skipf("this system lets nobody make symbolic links here: %v", err)
		}
	}
	want := []string{".idea", ".lefthook", ".npmrc", ".profile", ".vimrc", ".zshenv", "conf/a", "conf/b", "conf/profile", "conf/x"}
	for i := range want {
		want[i] = at(want[i])
	}
	var list List
	for range 2 { // the second walk reads nothing again
		if got := list.Files(dir); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
