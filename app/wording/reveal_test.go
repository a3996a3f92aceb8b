package wording

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHiddenCharactersAreShown(t *testing.T) {
	for in, want := range map[string]string{
		"plain äöü 漢字\n\tnext":  "plain äöü 漢字\n\tnext",
		"rm\u202e txt":          "rm⟨U+202E⟩ txt",
		"a\u200bb":              "a⟨U+200B⟩b",
		"\x1b[2Kls":             "⟨U+001B⟩[2Kls",
		"a\rb":                  "a⟨U+000D⟩b",
		"tag\U000E0041":         "tag⟨U+E0041⟩",
		"bad\xffbyte":           "bad\ufffdbyte",
		"soft\u00adhyphen":      "soft⟨U+00AD⟩hyphen",
		"line\u2028separator":   "line⟨U+2028⟩separator",
		"variation\ufe0f":       "variation⟨U+FE0F⟩",
		"wide\u3000space\u2009": "wide⟨U+3000⟩space⟨U+2009⟩",
	} {
		got, changed := Reveal(in)
		if got != want || changed != (in != want && !strings.Contains(in, "\xff")) {
			t.Errorf("Reveal(%q) = %q, %v; want %v and changed %v", in, got, changed, want, in != want && !strings.Contains(in, "\xff"))
		}
	}
}

func FuzzReveal(f *testing.F) {
	f.Add("rm -rf \u202e/ ; \x00\x1b[0m")
	f.Fuzz(func(t *testing.T, s string) {
		got, _ := Reveal(s)
		if again, changed := Reveal(got); changed || again != got {
			t.Errorf("something hidden is left in %q", got)
		}
	})
}

func TestNamesOfFilesHideNothingAndKeepTheirEmoji(t *testing.T) {
	for name, want := range map[string]string{
		"plain.txt": "plain.txt", "photo\u202egnp.exe": "photo⟨U+202E⟩gnp.exe", "a\nb\t\x1b[31m": "a⟨U+000A⟩b⟨U+0009⟩⟨U+001B⟩[31m",
		"👨\u200d👩\u200d👧 ❤\ufe0f.png": "👨\u200d👩\u200d👧 ❤\ufe0f.png", "שלום.txt": "שלום.txt",
	} {
		if got := VisibleName(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}

func TestLongNameKeepsItsExtension(t *testing.T) {
	for name, want := range map[string]string{"short.pdf": "short.pdf", "A report about the whole year.pdf": "A report abou…ar.pdf"} {
		if got := ShortenMiddle(name, 20); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestTextsLoseTheFoldersOfTheirPaths(t *testing.T) {
	for text, want := range map[string]string{
		"Failed to read file /home/ann/photos/big.bin: no such file or directory": "Failed to read file …/big.bin: no such file or directory",
		`“C:\Users\ann\big.bin” is in use`:                                        "“…/big.bin” is in use",
		"'/srv/app/a' is a folder":                                                "'…/a' is a folder",
		"/srv/app/a and /srv/app/b differ":                                        "…/a and …/b differ",
		"See https://example.com/a/b, and/or src/main.go":                         "See https://example.com/a/b, and/or src/main.go",
		"/tmp is full": "/tmp is full",
	} {
		if got := ShortenPaths(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestLongPathsLoseFoldersInTheMiddle(t *testing.T) {
	for _, c := range []struct {
		path  string
		width int
		want  string
	}{
		{"/home/ann/.local/share/fairlead/logs", 40, "/home/ann/.local/share/fairlead/logs"},
		{"/home/ann/.local/share/fairlead/logs", 30, "/home/…/share/fairlead/logs"},
		{"/home/ann/.local/share/fairlead/logs", 20, "/home/…/logs"},
		{"/home/ann/.local/share/fairlead/logs", 8, "…/logs"},
		{`C:\Users\ann\AppData\Local\Fairlead\logs`, 29, `C:\Users\…\Fairlead\logs`},
		{"/srv/data", 5, "…/data"},
		{"a-very-long-name", 5, "a-very-long-name"},
	} {
		fits := func(s string) bool { return utf8.RuneCountInString(s) <= c.width }
		if got := ShortenPath(c.path, fits); got != c.want {
			t.Errorf("%s in %d characters: got %s, want %s", c.path, c.width, got, c.want)
		}
	}
}
