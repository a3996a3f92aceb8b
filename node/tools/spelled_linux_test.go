package tools

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

// strangeName returns a possible file name on this system, with more troublesome bytes than a
// random one.
func strangeName(r *rand.Rand) string {
	pieces := []string{`\x`, `\xE9`, `\x5C`, "\xe9", "\xc3", "\xa9", "é", "\ufffd", "\xed\xa0\x80", `\`, "*", "[", "{a,b}", "?", " ", "\n", "-", "x", "~", "\U000F00E9"}
	for {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			if r.IntN(2) == 0 {
				b.WriteString(pieces[r.IntN(len(pieces))])
			} else {
				b.WriteByte(byte(1 + r.IntN(255)))
			}
		}
		name := b.String()
		if !strings.ContainsRune(name, '/') && name != "." && name != ".." {
			return name
		}
	}
}

// quotedGlob returns a glob that matches a name only: quoting is added to the spelling.
func quotedGlob(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(text)
}

func TestEveryNameThatASearchShowsCanBeOpened(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	r := rand.New(rand.NewPCG(3, 14))
	b := newBench(t)
	for range 60 {
		folder, name := strangeName(r), strangeName(r)
		dir := filepath.Join(b.WS.Dir(), "d", folder)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		real := filepath.Join(dir, name)
		if err := os.WriteFile(real, []byte("needle\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		found := tooltest.Must[globOut](b, "Glob", tooltest.Args{"pattern": "d/*/*"}).Matches
		if len(found) != 1 || !utf8.ValidString(found[0]) {
			t.Fatalf("%q: got %q, want one match in UTF-8", real, found)
		}
		text := found[0]
		if m := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "needle", "path": "d"}).Matches; len(m) != 1 || m[0].Path != text {
			t.Fatalf("%q: got %+v from Grep, want %q as from Glob", real, m, text)
		}
		if out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": text}); out.Content != "1\tneedle" && out.Content != "1\tneedle\n" || out.Path != text {
			t.Fatalf("%q: got %+v from Read, want needle", text, out)
		}
		if p := tooltest.Preview(b, "Read", tooltest.Args{"path": text}); p.Path != text || p.Problem != "" {
			t.Fatalf("%q: got preview %+v, want its path", text, p)
		}
		tooltest.Must[editOut](b, "Edit", tooltest.Args{"path": text, "oldString": "needle", "newString": "pin"})
		tooltest.Must[writeOut](b, "Write", tooltest.Args{"path": text + ".new", "content": "thread"})
		for path, want := range map[string]string{real: "pin\n", real + ".new": "thread"} {
			if data, err := os.ReadFile(path); err != nil || string(data) != want {
				t.Fatalf("%q: got %q, error %v, want %q", path, data, err, want)
			}
		}
		shown := filepath.Dir(text)
		if out := tooltest.Must[bashOut](b, "Bash", tooltest.Args{"command": "ls -Ab | wc -l", "workdir": shown}); strings.TrimSpace(out.Output) != "2" || out.Workdir != shown {
			t.Fatalf("%q: got %+v from a command, want 2 files there", shown, out)
		}
		// Where a search begins, and what a pattern names.
		for _, a := range []tooltest.Args{
			{"pattern": "*", "path": shown}, {"pattern": "d/" + quotedGlob(filepath.Base(shown)) + "/*"}, {"pattern": "d/*/" + quotedGlob(filepath.Base(text)) + "*"},
		} {
			if got := tooltest.Must[globOut](b, "Glob", a); got.Count != 2 {
				t.Fatalf("%q: got %q for %v, want 2 matches", real, got.Matches, a)
			}
		}
		if got := tooltest.Must[globOut](b, "Glob", tooltest.Args{"pattern": "d/*/" + quotedGlob(filepath.Base(text))}).Matches; len(got) != 1 || got[0] != text {
			t.Fatalf("%q by its own name: got %q, want it alone", text, got)
		}
		if err := os.RemoveAll(filepath.Join(b.WS.Dir(), "d")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOneNameIsNotTakenForAnother(t *testing.T) {
	b := newBench(t)
	for name, text := range map[string]string{"\xe9": "byte", `\xE9`: "letters", `\x5CxE9`: "more letters", "é": "character", "\xff": "other byte", "\ufffd": "replacement"} {
		if err := os.WriteFile(filepath.Join(b.WS.Dir(), name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		`\xE9`: "byte", `\x5CxE9`: "letters", `\x5Cx5CxE9`: "more letters", "é": "character", `\xFF`: "other byte", "\ufffd": "replacement",
	} {
		if out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": path}); strings.TrimSuffix(out.Content, "\n") != "1\t"+want {
			t.Errorf("%q: got %q, want %q", path, out.Content, want)
		}
	}
	// What would be é, if it could be spelled so, is a name of its own that nothing has.
	if said := tooltest.MustFail(b, "Read", tooltest.Args{"path": `\xC3\xA9`}); !strings.Contains(said, "no such file") {
		t.Errorf("got %q, want that it does not exist", said)
	}
	if got := tooltest.Must[globOut](b, "Glob", tooltest.Args{"pattern": `[\xE9]`}); len(got.Matches) != 1 || !strings.HasSuffix(got.Matches[0], workspace.Spell("/\xe9")) {
		t.Errorf("a class: got %q, want one match", got.Matches)
	}
	if got := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": ".", "include": `*\xFF`}); len(got.Matches) != 1 || got.Matches[0].Content != "other byte" {
		t.Errorf("include: got %+v, want other byte", got.Matches)
	}
}
