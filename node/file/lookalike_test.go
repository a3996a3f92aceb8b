package file

import (
	"strconv"
	"strings"
	"testing"

	"fairlead/node/tooltest"
)

func TestReadNamesTheFileThatLooksTheSame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct{ name, asked string }{
		{"Screenshot at 9.22\u202fPM.png", "Screenshot at 9.22 PM.png"},
		{"cafe\u0301.txt", "café.txt"},
		{"it’s.txt", "it's.txt"},
		{"a–b.txt", "a-b.txt"},
	} {
		path := b.File(c.name, "text")
		if got := tooltest.MustFail(b, "Read", tooltest.Args{"path": c.asked}); !strings.Contains(got, strconv.QuoteToASCII(path)) {
			t.Errorf("%q: got %q, want it to name %q", c.asked, got, path)
		}
		if got := tooltest.MustFail(b, "Edit", tooltest.Args{"path": c.asked, "oldString": "text", "newString": "x"}); !strings.Contains(got, "not found") {
			t.Errorf("Edit of %q: got %q, want not found", c.asked, got)
		}
	}
	b.File("one\u00a0x", "")
	b.File("one\u2009x", "")
	if got := tooltest.MustFail(b, "Read", tooltest.Args{"path": "one x"}); strings.Contains(got, "looks the same") {
		t.Errorf("with two of them: got %q, want none named", got)
	}
}
