package workspace

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNamesThatAreNotTextAreEscaped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ goos, name, text string }{
		{"linux", "plain", "plain"},
		{"linux", "dir/Grüße 日本.txt", "dir/Grüße 日本.txt"},
		{"linux", "caf\xe9.txt", `caf\xE9.txt`},
		{"linux", "a\xff/b\x80", `a\xFF/b\x80`},
		{"linux", `caf\xE9.txt`, `caf\x5CxE9.txt`},
		{"linux", `\x5C`, `\x5Cx5C`},
		{"linux", "\xc3" + `\xA9`, `\xC3\x5CxA9`},
		{"linux", `systemd\x2dunit \xe9 \xG9 \x \\x41`, `systemd\x2dunit \xe9 \xG9 \x \\x41`},
		{"linux", "half \xed\xa0\x80", `half \xED\xA0\x80`},
		{"linux", "replaced \ufffd", "replaced \ufffd"},
		{"windows", `C:\dir\xE9`, `C:\dir\xE9`},
		{"windows", "half \xed\xa0\x80.txt", "half <ED><A0><80>.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := spell(c.goos, c.name); got != c.text {
				t.Errorf("%s: %q is spelled %q, want %q", c.goos, c.name, got, c.text)
			}
			if got := unspell(c.goos, c.text); got != c.name {
				t.Errorf("%s: %q stands for %q, want %q", c.goos, c.text, got, c.name)
			}
		})
	}
}

// A rule about the text of a path must not be circumvented by other text for the same file.
func TestUnusualSpellingStandsForItself(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`/srv/\xC3\xA9`, `\x5C`, `a\x5Cb`, `\x5Cxff`, `\xE2\x82\xAC`, "x\xff" + `\xE9`} {
		if got := unspell("linux", text); got != text {
			t.Errorf("got %q, want %q itself", got, text)
		}
	}
}

func FuzzEveryNameHasOneSpelling(f *testing.F) {
	for _, s := range []string{"a", "\xff", `\xE9`, `\x5CxE9`, "\xc3" + `\xA9`, "é\xe9", "<ED>", "\xed\xa0\x80", `\\xE9`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, goos := range []string{"linux", "windows"} {
			if goos == "windows" && strings.ContainsAny(name, "<>") {
				continue // no name there
			}
			text := spell(goos, name)
			if !utf8.ValidString(text) {
				t.Errorf("%s: %q: got %q, want UTF-8", goos, name, text)
			}
			if back := unspell(goos, text); back != name {
				t.Errorf("%s: %q: got %q, and back %q, want the same", goos, name, text, back)
			}
			if strings.Count(text, "/") != strings.Count(name, "/") || strings.ContainsRune(text, 0) != strings.ContainsRune(name, 0) {
				t.Errorf("%s: %q: got %q, want the same separators", goos, name, text)
			}
			// Whatever text stands for is spelled so, unless it stands for itself.
			if got := unspell(goos, name); got != name && spell(goos, got) != name {
				t.Errorf("%s: %q: got %q, which is spelled %q, want the same", goos, name, got, spell(goos, got))
			}
		}
	})
}
