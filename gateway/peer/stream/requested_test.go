package stream

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestRequestedNames(t *testing.T) {
	for path, want := range map[string][]string{
		"docs": {"docs"}, "docs/": {"docs"}, "/srv/a/docs": {"docs"}, "./docs/.": {"docs"}, `C:\work\docs`: {`C:\work\docs`, "docs"}, `/a/b\c`: {`b\c`},
		`e\f`: {`e\f`, "f"}, ".": {""}, "": {""}, "a/..": {""}, "~": {""}, "/": {""}, "C:": {""}, "p:q.txt": {"p:q.txt"}, "~/.ssh": {".ssh"},
	} {
		if got := RequestedNames([]string{path}); !slices.Equal(got, want) {
			t.Errorf("names of %q: got %q, want %q", path, got, want)
		}
	}
}

// hostileNames are names that a source sends instead of "docs".
var hostileNames = []string{
	".ssh", ".ssh/authorized_keys", ".bash_profile", "docs2", "Docs", "DOCS", "docs ", "docs.", "docs:stream", "docs::$DATA", `docs\..\x`, "docs/../.ssh", "docs/..",
	"../docs", "/etc", "/docs", "./docs", "docs//x", "docs\x00", "docs\x00/x", "", ".", "..", "CON", "NUL.txt", "do\u0301cs", "ｄｏｃｓ", "docs\u200b",
}

func TestOnlyRequestedNamesAreReceived(t *testing.T) {
	for _, name := range hostileNames {
		for _, rename := range []string{"", "mine"} {
			t.Run(name+" as "+rename, func(t *testing.T) {
				from, to := t.TempDir(), t.TempDir()
				if err := os.WriteFile(filepath.Join(from, "x"), []byte("hostile"), 0o755); err != nil {
					t.Fatal(err)
				}
				_, _, err := connectBoth(t, []Item{{Root: open(t, from), At: "x", Name: name}}, open(t, to), func(_ *Sender, r *Receiver) {
					r.Requested, r.Rename = Requested{Machine: "mallory", Names: []string{"docs"}}, rename
				}, nil)
				if err == nil || !strings.Contains(err.Error(), "mallory sent") || !strings.Contains(err.Error(), "not requested") {
					t.Errorf("got error %v, want one that names the machine and the name", err)
				}
				if list, _ := os.ReadDir(to); len(list) != 0 {
					t.Errorf("arrived: got %v, want none", list)
				}
			})
		}
	}
}

// A folder such as "." has a name that the source chooses: one, and not a hidden one.
func TestUnnamedFolderGetsOneVisibleName(t *testing.T) {
	q := Requested{Machine: "m", Names: []string{""}}
	for _, c := range []struct {
		name string
		ok   bool
	}{{".ssh", false}, {"ws/a", true}, {"ws/b", true}, {"other", false}, {".bashrc", false}} {
		if err := q.check(c.name); (err == nil) != c.ok {
			t.Errorf("%s: got %v, want accepted %v", c.name, err, c.ok)
		}
	}
}

func TestStartupFilesAreReported(t *testing.T) {
	from := t.TempDir()
	for _, name := range []string{".git/hooks/pre-commit", ".git/config", "sub/.envrc", "readme.txt"} {
		p := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	item := Item{Root: open(t, from), At: ".", Name: "docs"}
	load, err := Count(t.Context(), []Item{item}, protocol.LinksKeep)
	if want := []string{"docs/.git", "docs/sub/.envrc"}; err != nil || !slices.Equal(load.Startup, want) {
		t.Errorf("reported by the source: got %q, %v, want %q", load.Startup, err, want)
	}
	for _, c := range []struct {
		allowed  []string
		failed   int
		problems []string
	}{
		{nil, 0, []string{"docs/.git", "docs/sub/.envrc"}},
		{[]string{"docs/.git", "docs/sub/.envrc"}, 0, []string{"docs/.git", "docs/sub/.envrc"}},
		{[]string{"docs/sub/.envrc"}, 4, nil}, // .git, config, hooks, pre-commit
	} {
		to := t.TempDir()
		res, _, err := connectBoth(t, []Item{item}, open(t, to), func(_ *Sender, r *Receiver) { r.Startup.Allowed = c.allowed }, nil)
		if err != nil || res.Failed != c.failed {
			t.Errorf("allowed %q: got %d failures, %v, want %d: %v", c.allowed, res.Failed, err, c.failed, res.Problems)
		}
		var got []string
		for _, p := range res.Problems {
			got = append(got, p.Path)
		}
		if c.problems != nil && !slices.Equal(got, c.problems) {
			t.Errorf("allowed %q: got problems %q, want %q", c.allowed, got, c.problems)
		}
		if _, err := os.Stat(filepath.Join(to, "docs/.git/config")); (err == nil) != (c.failed == 0) {
			t.Errorf("allowed %q: .git/config: %v", c.allowed, err)
		}
	}
}
