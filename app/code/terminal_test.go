package code

import (
	"slices"
	"strings"
	"testing"

	"fairlead/app/style"
)

func FuzzOutput(f *testing.F) {
	for _, s := range []string{
		"a\x1b[31mred\x1b[0m\rb\tc\x1b]0;title\x07\x00\xff", "\x1b[38:2::1:2:3mx\x1b[2K\x1b[3Ay\x1b[9999Cz", "\x1b[38;5m\x1b[;;m\x1bP", "\xc2\x9b1mx\b\b\x7f",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := CleanOutput(s)
		if strings.ContainsFunc(out, func(r rune) bool { return r < ' ' && r != '\n' }) {
			t.Fatalf("%q became %q", s, out)
		}
		if got := JoinLines(OutputLines(s)); got != strings.TrimSuffix(out, "\n") {
			t.Fatalf("%q became lines %q, want %q", s, got, out)
		}
		plain := PlainText(s)
		if strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' && r != '\n' }) {
			t.Fatalf("%q became %q", s, plain)
		}
		if got := JoinLines(PlainLines(s)); got != strings.TrimSuffix(plain, "\n") {
			t.Fatalf("%q became plain lines %q, want %q", s, got, plain)
		}
	})
}

func TestOutputLooksAsInATerminal(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                           "plain",
		"\x1b[1;31mred\x1b[0m":            "red",
		"10%\r50%\r100%\ndone":            "100%\ndone",
		"downloading\rdone\x1b[K\n":       "done\n",
		"100%\r5":                         "500%",
		"a\r\nb":                          "a\nb",
		"a\tb":                            "a   b",
		"ab\bc":                           "ac",
		"\x1b]8;;http://x\x07link":        "link",
		"bell\a":                          "bell",
		"one\ntwo\n\x1b[2A\x1b[2Kone 2\n": "one 2\ntwo\n",
		"\x1b(B\x1b[m\x0fplain":           "plain",
		"a\x00\xffb":                      "a��b",
	} {
		if got := CleanOutput(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestControlCharactersHideNothingInPlainText(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb":                "a\nb",
		"rm -r /\recho ok":      "rm -r /�echo ok",
		"one\n\x1b[A\x1b[2Ktwo": "one\ntwo",
		"ab\b\bc":               "abc",
		"\x1b[31mred":           "red",
	} {
		if got := PlainText(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestOutputHasTheColoursOfATerminal(t *testing.T) {
	for in, want := range map[string]Span{
		"\x1b[31mx":              {Text: "x", Color: style.ColorBad},
		"\x1b[1;4;92mx":          {Text: "x", Color: style.ColorGood, Bold: true, Underline: true},
		"\x1b[1m\x1b[0mx":        {Text: "x"},
		"\x1b[1;9m\x1b[22mx":     {Text: "x", Strike: true},
		"\x1b[38;5;1mx":          {Text: "x", Color: style.ColorBad},
		"\x1b[38;5;208mx":        {Text: "x", Color: style.RGB("ff8700")},
		"\x1b[38;2;1;2;3;1mx":    {Text: "x", Color: style.RGB("010203"), Bold: true},
		"\x1b[38:2::1:2:3mx":     {Text: "x", Color: style.RGB("010203")},
		"\x1b[48;5;2;31mx":       {Text: "x", Color: style.ColorBad, Background: style.ColorGood},
		"\x1b[31;7mx":            {Text: "x", Background: style.ColorBad},
		"\x1b[31;7m\x1b[27;39mx": {Text: "x"},
		"\x1b[2;3mx":             {Text: "x", Color: style.ColorMuted, Italic: true},
		"\x1b[3m\x1b[23mx":       {Text: "x"},
		"\x1b[38;9;1mx":          {Text: "x"},
	} {
		lines := OutputLines(in)
		if len(lines) != 1 || !slices.Equal(lines[0].Spans, []Span{want}) {
			t.Errorf("%q: %+v, want %+v", in, lines, want)
		}
	}
	lines := OutputLines("a\x1b[32mok\x1b[0m.\nplain")
	if got := lines[0].Spans; len(got) != 3 || got[1] != (Span{Text: "ok", Color: style.ColorGood}) || lines[1].Text() != "plain" {
		t.Errorf(`got %+v; want length 3, got[1] %v and lines[1].Text "plain"`, lines, Span{Text: "ok", Color: style.ColorGood})
	}
}

func BenchmarkColouredOutput(b *testing.B) {
	output := strings.Repeat("\x1b[32mok\x1b[0m  fairlead/app/code  \x1b[2m0.42s\x1b[0m  with some more text to read\n", 4000)
	b.SetBytes(int64(len(output)))
	for b.Loop() {
		OutputLines(output)
	}
}
