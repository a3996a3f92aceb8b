package file

import (
	"os"
	"strings"
	"testing"

	"fairlead/node/tooltest"
)

func TestNotFoundShowsTheNearestLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct{ name, file, from, want string }{
		{"quotes", "one\nHe said “hello”\n", `He said "hello"`, "differs in quotes:\nline 2: |He said “hello”|"},
		{"trailing blanks", "a\n\treturn 1   \nb\n", "\treturn 1\n", "differs in trailing blanks:\nline 2: |\\treturn 1   |"},
		{"tabs", "if x {\n\treturn 1\n}\n", "if x {\n    return 1\n}\n", "differs in blanks or tabs:\nline 1: |if x {|\nline 2: |\\treturn 1|\nline 3: |}|"},
		{"dashes", "a – b", "a - b", "differs in dashes:\nline 1: |a <U+2013> b|"},
		{"no-break space", "10\u202fPM", "10 PM", "differs in blanks or tabs:\nline 1: |10<U+202F>PM|"},
		{"composed characters", "cafe\u0301", "café", "differs in composed characters:"},
		{"invisible", "a\u200bb", "ab", "differs in invisible characters:\nline 1: |a<U+200B>b|"},
		{"line ends", "a\rb", "a\nb", "differs in line ends"},
		{"two kinds", "say “hi”  \nend", "say \"hi\"\nend", "differs in quotes, trailing blanks:\nline 1"},
		{"other words", "func first() {}\nfunc secondOne(a int) {}\n", "func secondTwo(a int) {}", "most similar line is:\nline 2: |func secondOne(a int) {}|"},
		{"UTF-16", "\xff\xfeh\x00\x1d\x20", `h"`, "differs in quotes:\nline 1: |h”|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.File("f", c.file)
			if got := tooltest.MustFail(b, "Edit", tooltest.Args{"path": "f", "oldString": c.from, "newString": "x"}); !strings.Contains(got, c.want) {
				t.Errorf("got %q, want it to contain %q", got, c.want)
			}
		})
	}
	b.File("f", "nothing like it")
	if got := tooltest.MustFail(b, "Edit", tooltest.Args{"path": "f", "oldString": "xyz(42)", "newString": "x"}); !strings.HasSuffix(got, "f'") {
		t.Errorf("got %q, want no similar line", got)
	}
}

func TestEditDoesNotMixEncodings(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, file := range map[string]string{"GBK": "\xd6\xd0\xce\xc4 abc\nname=old\n", "Latin-1": "caf\xe9 old", "UTF-32": "\xff\xfe\x00\x00o\x00\x00\x00 old"} {
		t.Run(name, func(t *testing.T) {
			path := b.File("f", file)
			if got := tooltest.MustFail(b, "Edit", tooltest.Args{"path": "f", "oldString": "old", "newString": "新值"}); !strings.Contains(got, "iconv") {
				t.Errorf("got %q, want the advice of Read", got)
			}
			if data, err := os.ReadFile(path); err != nil || string(data) != file {
				t.Errorf("got file %q, error %v, want it unchanged", data, err)
			}
			tooltest.Must[editOut](b, "Edit", tooltest.Args{"path": "f", "oldString": "old", "newString": "new"})
		})
	}
}
