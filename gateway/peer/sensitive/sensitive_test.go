package sensitive

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestTableIsWellFormed(t *testing.T) {
	t.Parallel()
	for n, line := range strings.Split(table, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		fields := slices.DeleteFunc(strings.Split(line, "  "), func(s string) bool { return strings.TrimSpace(s) == "" })
		if len(fields) != 3 {
			t.Errorf("line %d has %d columns, want 3: %s", n+1, len(fields), line)
		}
		for name := range strings.SplitSeq(strings.TrimSpace(fields[0]), ",") {
			if kinds[name] == 0 {
				t.Errorf("line %d: unknown kind %q, want one of the list", n+1, name)
			}
		}
		if strings.Count(line, "{") != strings.Count(line, "}") {
			t.Errorf("line %d: unbalanced braces: %s", n+1, line)
		}
	}
	seen := map[string]Kind{}
	for _, e := range Entries() {
		if seen[e.Path]&e.Kind != 0 {
			t.Errorf("%s is listed twice with the same kind", e.Path)
		}
		seen[e.Path] |= e.Kind
		if !strings.HasPrefix(e.Path, "~/") && !strings.HasPrefix(e.Path, "**/") && e.Path[0] != '/' {
			t.Errorf("%q does not begin with ~/, **/ or /", e.Path)
		}
		if slices.ContainsFunc(e.parts, func(p string) bool { return strings.Count(p, "*") > 1 }) {
			t.Errorf("%s has more than one * in a name", e.Path)
		}
		if strings.Contains(e.Path, "//") || strings.ContainsAny(e.Path, `\?[]`) || slices.Contains(e.parts, "") {
			t.Errorf("%q is not a path", e.Path)
		}
		if _, home := e.Home(); e.Kind&Secret != 0 && e.Kind&Open == 0 && (!home || strings.Contains(e.Path, "*")) {
			t.Errorf("%s cannot be hidden from commands: it needs the kind open", e.Path)
		}
		if e.Kind&Secret != 0 && e.Path[0] == '/' && e.Kind&Open == 0 {
			t.Errorf("%s: the system's secrets are hidden by the system; it needs the kind open", e.Path)
		}
		if e.Kind&Open != 0 && !strings.Contains(e.Source, ";") {
			t.Errorf("%s is open to commands, and its source %q does not say why", e.Path, e.Source)
		}
		if e.Kind&Secret != 0 && e.anywhere() && (len(e.parts) > 1 || e.Folder || strings.Contains(strings.TrimPrefix(e.parts[0], "*"), "*")) {
			t.Errorf("%s: a secret in any folder must be one name, or * and a suffix", e.Path)
		}
	}
	if len(seen) < 400 {
		t.Errorf("got %d paths, want at least 400", len(seen))
	}
}

func TestFindMatchesPathsFromTheirAnchor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, home string
		kind       Kind
		want       string
	}{
		{"/home/ann/.aws/credentials", "/home/ann", Secret, "~/.aws"},
		{"/home/ann/.AWS", "/home/ann", Secret, "~/.aws"},
		{"/srv/ann/.aws/credentials", "/srv/ann", Secret, "~/.aws"},
		{"/srv/ann/.aws/credentials", "/home/bob", Secret, ""},
		{"/srv/ann/.aws/credentials", "/home/bob", Startup, "**/.aws"},
		{"/srv/ann/.codex/auth.json", "", Secret, "~/.codex"}, // may be the home folder
		{"/srv/app/bin/tool", "", Startup, ""},
		{"/home/ann/bin/tool", "/home/ann", Startup, "~/bin"},
		{"/home/ann/project/bin/tool", "/home/ann", Startup, ""},
		{"/home/bob/bin/tool", "/home/ann", Startup, "~/bin"},
		{"/root/.vault-token", "/home/ann", Secret, "~/.vault-token"},
		{"C:/Users/Ann/AppData/Roaming/Mozilla/x", "", Secret, "~/AppData/Roaming/Mozilla"},
		{"/Users/ann/Library/Keychains/login.keychain-db", "", Secret, "~/Library/Keychains"},
		{"/.codex/auth.json", "/", Secret, "~/.codex"},
		{"/srv/.codex/auth.json", "/", Secret, ""},
		{"D:/people/ann/.codex/auth.json", "D:/people/ann", Secret, "~/.codex"},
		{"~/.netrc", "", Secret, "~/.netrc"},
		{".netrc", "", Secret, "~/.netrc"},
		{"~/.netrc/x", "/home/ann", Secret, ""},
		{"/home/ann/.ssh/config", "/home/ann", Public, "~/.ssh/config"},
		{"/home/ann/.ssh/id_rsa.pub", "/home/ann", Public, "~/.ssh/*.pub"},
		{"/home/ann/.ssh/sub/id.pub", "/home/ann", Public, ""},
		{"/w/sub/.git", "", Startup, "**/.git"},
		{"/w/.git/modules/a/hooks/post-checkout", "", Startup, "**/.git"},
		{"/w/.gitignore", "", Startup, ""},
		{"/w/out/x.git/config", "", Startup, "**/*.git/config"},
		{"/w/out/x/HEAD", "/home/ann", Startup, "**/HEAD"},
		{"/w/src/head/main.go", "/home/ann", Startup, ""},
		{"/w/etc/cron.d/x", "/home/ann", Startup, "**/etc/cron*"},
		{"/etc/shadow", "/home/ann", Secret, "/etc/shadow"},
		{"/w/etc/pam.d/x", "/home/ann", Startup, ""},
		{"/", "/home/ann", Startup | Secret, ""},
		{"", "", Startup | Secret, ""},
		{"~", "", Startup | Secret, ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			if e, ok := Find(c.file, c.home, c.kind); e.Path != c.want || ok != (c.want != "") {
				t.Errorf("Find(%q, %q, %d): got %q, want %q", c.file, c.home, c.kind, e.Path, c.want)
			}
		})
	}
}

func TestFindBelowKnowsTheFoldersOfEntries(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		"/w/.vscode": true, "/w/a/.claude": true, "/home/ann/.config": true, "/home/ann/.config/Code": false, "/w/.vscode/x": false,
		"/w/hooks": false, "/w/bin": false, "/w/src": false, "/w": false, "/": false, "": false,
	} {
		t.Run(file, func(t *testing.T) {
			if e, got := FindBelow(file, "/home/ann", Startup); got != want {
				t.Errorf("FindBelow(%q): got %v (%s), want %v", file, got, e.Path, want)
			}
		})
	}
}

func TestSecretNamesAreSecretInEveryFolder(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"a.kdbx": true, "A.KDBX": true, "id_rsa": true, "id_rsa.pub": false, "kdbx": false, "x": false, "": false} {
		if got := SecretName(name); got != want {
			t.Errorf("SecretName(%q): got %v, want %v", name, got, want)
		}
	}
}

// TestExamplesAreInTheTable compares the table with a list of paths that was written independently
// of it.
func TestExamplesAreInTheTable(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/examples.txt")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[Kind]int{}
	for line := range strings.Lines(string(data)) {
		word, file, ok := strings.Cut(strings.TrimSpace(line), " ")
		if kind := kinds[strings.TrimSuffix(word, "!")]; ok && kind != 0 {
			counts[kind]++
			if _, found := Find(file, "/home/ann", kind); !found {
				t.Errorf("%s: not %s", file, word)
			}
		}
	}
	if counts[Secret] < 100 || counts[Startup] < 100 {
		t.Errorf("got %d examples of secrets and %d of startup files, want at least 100 of each", counts[Secret], counts[Startup])
	}
}

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		Find("/home/ann/project/gateway/policy/floor.go", "/home/ann", Startup|Secret)
	}
}

func BenchmarkSecretName(b *testing.B) {
	for b.Loop() {
		SecretName("floor_test.go")
	}
}
