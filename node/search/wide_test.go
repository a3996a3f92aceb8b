package search

import (
	"path/filepath"
	"strings"
	"testing"

	"fairlead/node/tooltest"
)

func TestGrepSearchesTheTextOfRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, c := range map[string]struct {
		text string
		n    int
		note string
	}{
		"UTF-16 with a mark":        {"\xff\xfeT\x00O\x00D\x00O\x00\r\x00\n\x00x\x00", 1, ""},
		"UTF-16 big-endian":         {"\xfe\xff\x00T\x00O\x00D\x00O", 1, ""},
		"UTF-16 without a mark":     {"T\x00O\x00D\x00O\x00 \x00\xe9\x00\n\x00a\x00", 1, ""},
		"zero bytes":                {"a\x00b TODO\n" + strings.Repeat("\x00", 10_000), 1, ""},
		"Latin-1":                   {"caf\xe9 TODO\n", 0, "neither UTF-8 nor UTF-16"},
		"UTF-16 with invalid pairs": {"\xff\xfeT\x00\x00\xd8O\x00", 0, "neither UTF-8 nor UTF-16"},
	} {
		t.Run(name, func(t *testing.T) {
			b.File("f", c.text)
			out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "TODO", "path": "f"})
			if len(out.Matches) != c.n || !strings.Contains(out.Note, c.note) || c.note == "" && out.Note != "" {
				t.Errorf("got %+v, want %d matches and a note with %q", out, c.n, c.note)
			}
			out = tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "TODO"})
			if len(out.Matches) != c.n || out.Note != "" {
				t.Errorf("in the folder: got %+v, want %d matches", out, c.n)
			}
		})
	}
	out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "x", "path": "f", "include": "*.go"})
	if !strings.Contains(out.Note, filepath.Join(b.WS.Dir(), "f")+" was not searched") {
		t.Errorf("a file that include leaves out: got %+v, want a note", out)
	}
}
