package code

import (
	"strings"
	"testing"
)

func FuzzOutput(f *testing.F) {
	f.Add("a\x1b[31mred\x1b[0m\rb\tc\x1b]0;title\x07\x00\xff")
	f.Fuzz(func(t *testing.T, s string) {
		out := CleanOutput(s)
		if strings.ContainsFunc(out, func(r rune) bool { return r < ' ' && r != '\n' }) {
			t.Fatalf("%q became %q", s, out)
		}
		if got := JoinLines(PlainLines(s)); got != strings.TrimSuffix(out, "\n") {
			t.Fatalf("%q became lines %q", out, got)
		}
	})
}

func TestOutputShowsWhatATerminalWouldShow(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                    "plain",
		"\x1b[1;31mred\x1b[0m":     "red",
		"10%\r50%\r100%\ndone":     "100%\ndone",
		"a\r\nb":                   "a\nb",
		"a\tb":                     "a   b",
		"\x1b]8;;http://x\x07link": "link",
		"bell\a":                   "bell�",
	} {
		if got := CleanOutput(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestHighlightKeepsEveryLetter(t *testing.T) {
	code := "package x\n\n// C is a comment\nfunc F() string { return \"a\\tb\" }\n"
	lines := Highlight(code, "go")
	if got := JoinLines(lines); got != strings.TrimSuffix(code, "\n") {
		t.Fatalf("%q", got)
	}
	colored := 0
	for _, l := range lines {
		for _, s := range l.Spans {
			if s.Color != "" {
				colored++
			}
		}
	}
	if colored < 4 {
		t.Errorf("only %d spans have a colour", colored)
	}
	long := strings.Repeat("x = 1\n", 10_000)
	if got := HighlightLong(long, "a.py"); !IsLong(long) || len(got) != 10_000 || len(got[9_999].Spans) < 2 {
		t.Errorf("long code has %d lines, the last %+v", len(got), got[len(got)-1])
	}
	if got := Highlight(long, "python"); len(got) != 10_000 || got[0].Spans[0].Color != "" {
		t.Error("very long code should stay plain")
	}
}
