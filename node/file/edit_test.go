package file

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func TestEditReplacesExactly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		name, file, from, to, want string
		all                        bool
		n                          int
	}{
		{"once", "a b c", "b", "x", "a x c", false, 1},
		{"all", "a b a", "a", "x", "x b x", true, 2},
		{"all of one", "a b", "a", "x", "x b", true, 1},
		{"delete", "a b", " b", "", "a", false, 1},
		{"dollar and backslash are literal", "name", "name", `$1 $& ${x} \1 \n`, `$1 $& ${x} \1 \n`, false, 1},
		{"a pattern is text", "a.c abc", "a.c", "x", "x abc", false, 1},
		{"no overlap", "aaaa", "aa", "b", "bb", true, 2},
		{"lines", "a\nb\nc\n", "a\nb\n", "x\n", "x\nc\n", false, 1},
		{"CRLF is kept", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n", false, 1},
		{"CRLF as it is", "a\r\nb\r\n", "a\r\nb", "x", "x\r\n", false, 1},
		{"mixed ends match as they are first", "a\nb\r\na\r\nb\r\n", "a\nb", "x", "x\r\na\r\nb\r\n", false, 1},
		{"not UTF-8", "\xff a", "a", "b", "\xff b", false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := b.File("f", c.file)
			p := tooltest.Preview(b, "Edit", tooltest.Args{"path": "f", "oldString": c.from, "newString": c.to, "replaceAll": c.all})
			if p.Problem != "" || p.FileSHA256 == "" {
				t.Errorf("%s: got preview %+v, want a checksum and no problem", c.name, p)
			}
			out := tooltest.Must[editOut](b, "Edit", tooltest.Args{"path": "f", "oldString": c.from, "newString": c.to, "replaceAll": c.all})
			if data, _ := os.ReadFile(path); string(data) != c.want || out.Replacements != c.n || out.Path != path {
				t.Errorf("%s: got %q, %+v, want %q with %d replacements", c.name, data, out, c.want, c.n)
			}
		})
	}
}

func TestEditRefusesUnclearArguments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("f", "a b a")
	for want, a := range map[string]tooltest.Args{
		"oldString not found in '" + path + "'": {"path": "f", "oldString": "x", "newString": ""},
		"oldString found 2 times in '" + path + "'. Use replaceAll: true or provide more context to make it unique.": {"path": "f", "oldString": "a", "newString": ""},
		"oldString and newString are the same": {"path": "f", "oldString": "b", "newString": "b"},
		"oldString must not be empty":          {"path": "f", "oldString": "", "newString": "x", "replaceAll": true},
		"File not found: '" + filepath.Join(b.WS.Dir(), "g") + "'. To create it, use Write.": {"path": "g", "oldString": "a", "newString": "b"},
		"Failed to read '" + b.WS.Dir() + "': it is a directory":                             {"path": ".", "oldString": "a", "newString": "b"},
	} {
		if words := tooltest.MustFail(b, "Edit", a); !strings.HasPrefix(words, want) {
			t.Errorf("got %q, want it to begin with %q", words, want)
		}
		if p := tooltest.Preview(b, "Edit", a); !strings.HasPrefix(p.Problem, want) || p.Diff != "" {
			t.Errorf("got preview %+v, want the problem %q", p, want)
		}
	}
	if data, _ := os.ReadFile(path); string(data) != "a b a" {
		t.Errorf("got file %q, want %q", data, "a b a")
	}
}

// slowReplace is what Edit should do, written another way.
func slowReplace(s, from, to string, all bool) (string, int) {
	var out strings.Builder
	n := 0
	for i := 0; i < len(s); {
		if strings.HasPrefix(s[i:], from) && (all || n == 0) {
			out.WriteString(to)
			i += len(from)
			n++
			continue
		}
		out.WriteByte(s[i])
		i++
	}
	return out.String(), n
}

func TestEditAgreesWithASlowReference(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	text := func(most int) string {
		s := make([]byte, rnd.IntN(most+1))
		for i := range s {
			s[i] = "ab\n$é"[rnd.IntN(6)]
		}
		return string(s)
	}
	for range 600 {
		file, from, to, all := text(40), text(3), text(4), rnd.IntN(2) == 0
		data, n, err := replace(workspace.Path{Abs: "f"}, []byte(file), editStep{from, to, all}, 64<<20)
		count := 0
		if from != "" {
			_, count = slowReplace(file, from, "", true)
		}
		if from == to {
			count = 0 // nothing to change
		}
		if (err == nil) != (count == 1 || all && count > 1) {
			t.Fatalf("replace(%q, %q, all=%v): got error %v with %d occurrences, want one unless the count fits", file, from, all, err, count)
		}
		if err != nil {
			continue
		}
		if want, m := slowReplace(file, from, to, all); string(data) != want || n != m {
			t.Fatalf("replace(%q, %q, %q, %v) = %q, %d; want %q, %d", file, from, to, all, data, n, want, m)
		}
	}
	if _, err := b.WS.Write(workspace.Path{Abs: filepath.Join(b.WS.Dir(), "f")}, nil, "", nil); err != nil {
		t.Fatal(err)
	}
}

func TestConcurrentEditsAreAllMade(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("line %02d.", i))
	}
	path := b.File("f", strings.Join(lines, "\n"))
	var wg sync.WaitGroup
	for i := range lines {
		wg.Go(func() {
			if _, err := tooltest.Call[editOut](b, "Edit", tooltest.Args{"path": "f", "oldString": fmt.Sprintf("line %02d.", i), "newString": "done"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if data, _ := os.ReadFile(path); strings.Count(string(data), "done") != len(lines) {
		t.Errorf("got %s, want %d lines done", data, len(lines))
	}
}
