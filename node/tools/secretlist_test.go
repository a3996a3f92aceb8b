package tools

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/peer/sensitive"
	"fairlead/node/access"
	"fairlead/node/tooltest"
)

// secretFiles returns a file for each secret of the table that a home folder can contain, and
// hand-written examples, relative to the home.
func secretFiles(t *testing.T) (list []string) {
	t.Helper()
	for _, e := range sensitive.Entries() {
		rel, home := strings.CutPrefix(strings.Replace(strings.Replace(e.Path, "**/", "~/any/", 1), "*", "x", 1), "~/")
		if e.Kind&sensitive.Secret == 0 || !home {
			continue
		}
		if e.Folder {
			rel += "/some/file"
		}
		list = append(list, rel)
	}
	data, err := os.ReadFile("../../gateway/peer/sensitive/testdata/examples.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		word, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		if rel, home := strings.CutPrefix(file, "~/"); home && strings.HasPrefix(word, "secret") && !slices.Contains(list, rel) {
			list = append(list, rel)
		}
	}
	return list
}

func TestEverySecretAsksAndIsLeftOutOfSearches(t *testing.T) {
	b := newHomeBench(t)
	list := secretFiles(t)
	if len(list) < 300 {
		t.Fatalf("got %d files, want at least 300", len(list))
	}
	for _, rel := range list {
		file := filepath.Join(b.WS.Dir(), filepath.FromSlash(rel))
		if info, err := os.Stat(file); err != nil || !info.IsDir() { // in a folder lies another one
			b.File(rel, "needle\n")
		}
		for tool, in := range map[string]tooltest.Args{
			"Read":  {"path": rel},
			"Write": {"path": rel, "content": "x"},
			"Grep":  {"pattern": "needle", "path": rel},
		} {
			if p := tooltest.Preview(b, tool, in); p.Secret == "" {
				t.Errorf("%s of %s: got no secret, want the call to ask", tool, rel)
			}
		}
	}
	out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "needle"})
	want := []string{filepath.Join(b.WS.Dir(), ".config", "app", "settings"), filepath.Join(b.WS.Dir(), "notes.txt")}
	var found []string
	for _, m := range out.Matches {
		found = append(found, m.Path)
	}
	if !slices.Equal(found, want) {
		t.Errorf("a search found %q, want %q", found, want)
	}
	for _, path := range []string{"any/id_rsa", "any/x.kdbx"} {
		if !slices.Contains(out.LeftOut, filepath.Join(b.WS.Dir(), filepath.FromSlash(path))) {
			t.Errorf("a search left out %q, want %s among it", out.LeftOut, path)
		}
	}
}

func TestSystemsPasswordsAreSecretToFileTools(t *testing.T) {
	ws := newHomeBench(t).WS
	for _, path := range []string{"/etc/shadow", "/etc/wireguard/wg0.conf"} {
		if got := access.SecretOf(ws, filepath.FromSlash(path)); got == "" && filepath.IsAbs(path) {
			t.Errorf("%s: got no secret, want one", path)
		}
	}
}
