package catalog

import "testing"

func TestEscapeSequencesAreThoseOfC(t *testing.T) {
	for in, want := range map[string]string{
		`a\nb\tc\r`: "a\nb\tc\r", `\x41\x4`: "A\x04", `\101\0\33[A`: "A\x00\x1b[A", `é\U0001F600`: "é😀", `\\n\"\'\?`: `\n"'?`, `\a\b\e\f\v`: "\a\b\x1b\f\v", "no": "no",
	} {
		if got, err := unescape(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
}

func FuzzUnescape(f *testing.F) {
	f.Add(`\x41\n\\`)
	f.Fuzz(func(t *testing.T, in string) {
		if out, err := unescape(in); err == nil && len(out) > len(in) {
			t.Errorf("unescape(%q): got %q, want nothing longer", in, out)
		}
	})
}

func TestWrongEscapeSequencesSayWhatToDo(t *testing.T) {
	for _, in := range []string{`\q`, `\`, `\u12`, `\x`, `\777`} {
		if out, err := unescape(in); err == nil {
			t.Errorf("%q: got %q, want an error", in, out)
		}
	}
}
