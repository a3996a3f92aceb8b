package sandbox_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/peer/sensitive"
)

// homeSecrets returns the secrets of a home folder, relative to it: a path for each entry of the
// table, and hand-written examples. The value says whether commands may read it.
func homeSecrets(t *testing.T) map[string]bool {
	t.Helper()
	list := map[string]bool{}
	for _, e := range sensitive.Entries() {
		rel, home := strings.CutPrefix(strings.Replace(strings.Replace(e.Path, "**/", "~/any/", 1), "*", "x", 1), "~/")
		if e.Kind&sensitive.Secret == 0 || !home {
			continue
		}
		if e.Folder {
			rel += "/some/file"
		}
		list[rel] = e.Kind&sensitive.Open != 0
	}
	data, err := os.ReadFile("../../gateway/peer/sensitive/testdata/examples.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		word, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		if rel, home := strings.CutPrefix(file, "~/"); home && (word == "secret" || word == "secret!") {
			list[rel] = word == "secret!"
		}
	}
	return list
}

func TestCommandsReadNoSecretOfTheTable(t *testing.T) {
	both(t, func(t *testing.T, k *kit) {
		list := homeSecrets(t)
		if len(list) < 300 {
			t.Fatalf("got %d secrets, want at least 300", len(list))
		}
		command := "cat"
		// The content of a folder comes before the folder.
		for _, rel := range slices.Backward(slices.Sorted(maps.Keys(list))) {
			file := filepath.Join(k.home, rel)
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				file = filepath.Join(file, "another")
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(rel+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			command += " '" + file + "'"
		}
		out, _ := k.run(k.spec(command + " 2>/dev/null"))
		read := strings.Split(out, "\n")
		for rel, open := range list {
			if got := slices.Contains(read, rel); got != open {
				t.Errorf("a command reads ~/%s: got %v, want %v", rel, got, open)
			}
		}
		if out, e := k.run(k.spec("cat ~/note ~/.ssh/known_hosts")); e.Code != 0 || out != "canarycanary" {
			t.Errorf("what is no secret: got exit %d, %q, want it read", e.Code, out)
		}
	})
}
