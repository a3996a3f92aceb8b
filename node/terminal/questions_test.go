package terminal

import (
	"strings"
	"testing"
)

func TestQuestionsOfAProgramAreRemoved(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"attributes":        {"a\x1b[cb\x1b[>0cd\x1b[=ce", "abde"},
		"cursor and status": {"\x1b[6nx\x1b[?6ny\x1b[5n", "xy"},
		"modes":             {"\x1b[?2026$px\x1b[4$p", "x"},
		"version and keys":  {"\x1b[>qx\x1b[?u", "x"},
		"size":              {"\x1b[18tx\x1b[14;2t", "x"},
		"colours":           {"\x1b]11;?\x07x\x1b]4;1;?\x1b\\y", "xy"},
		"clipboard":         {"\x1b]52;c;?\x07x", "x"},
		"settings":          {"\x1bP$qm\x1b\\x\x1bP+q544e\x1b\\", "x"},
		"old ones":          {"\x05x\x1bZy\x1b[0x", "xy"},
		"what is no question": {
			"\x1b[31mred\x1b[m\x1b[>4;1n\x1b]0;title\x07\x1b[2 q\x1b[22;0t\x1b[1;2;3$x\x1b7\x1b8\x1b]52;c;YQ==\x07\x1b[!p",
			"\x1b[31mred\x1b[m\x1b[>4;1n\x1b]0;title\x07\x1b[2 q\x1b[22;0t\x1b[1;2;3$x\x1b7\x1b8\x1b]52;c;YQ==\x07\x1b[!p",
		},
		"a sequence in a sequence": {"\x1b[3\x1b[6nx", "\x1b[3x"},
		"wide characters":          {"日本\x1b[c語", "日本語"},
	} {
		for size := 1; size <= len(c.in); size++ {
			var q questions
			var out strings.Builder
			for p := []byte(c.in); len(p) > 0; {
				n := min(size, len(p))
				out.Write(q.filter(p[:n]))
				p = p[n:]
			}
			if out.String() != c.want {
				t.Errorf("%s, in pieces of %d bytes: got %q, want %q", name, size, out.String(), c.want)
				break
			}
		}
	}
}

func TestLongSequenceIsNotRetained(t *testing.T) {
	var q questions
	text := "\x1b]52;c;" + strings.Repeat("A", 2*maxHeld)
	var out strings.Builder
	for i := range len(text) {
		out.Write(q.filter([]byte(text[i : i+1])))
	}
	if out.String() != text || len(q.held) > 0 {
		t.Errorf("got %d bytes and retained %d, want %d and 0", out.Len(), len(q.held), len(text))
	}
}
