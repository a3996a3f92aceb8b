package file

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"fairlead/node/access"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func mustResolve(t testing.TB, b *tooltest.Bench, path string) workspace.Path {
	t.Helper()
	p, err := b.WS.Resolve(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEditPreservesLineEndsAndEncoding(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	wideText := func(s string) string {
		raw := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(s)) {
			raw = append(raw, byte(u), byte(u>>8))
		}
		return string(raw)
	}
	swap := func(s string) string {
		raw := []byte(s)
		for i := 0; i+1 < len(raw); i += 2 {
			raw[i], raw[i+1] = raw[i+1], raw[i]
		}
		return string(raw)
	}
	for _, c := range []struct{ name, file, from, to, want string }{
		{"a line is added to CRLF", "a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"},
		{"the line feed of CRLF is not taken alone", "a\r\nb\r\n", "\nb", "\nx", "a\r\nx\r\n"},
		{"lines are joined", "a\r\nb\r\n", "a\n", "a ", "a b\r\n"},
		{"named carriage returns are literal", "a\r\nb", "a\r\nb", "a\nb", "a\nb"},
		{"a lone carriage return is literal", "a\rb", "a\rb", "c", "c"},
		{"no CRLF, no change", "a\nb\n", "b", "b\nc", "a\nb\nc\n"},
		{"mixed ends: as it is", "a\r\nb\nc\n", "b\nc", "x\ny", "a\r\nx\ny\n"},
		{"mixed ends: else as CRLF", "a\r\nb\nc\n", "a\nb", "x\ny", "x\r\ny\nc\n"},
		{"byte order mark", "\ufeffa b", "a", "x", "\ufeffx b"},
		{"UTF-16 LE", wideText("hé 😀\r\nb"), "😀\nb", "x\ny😀", wideText("hé x\r\ny😀")},
		{"UTF-16 BE", swap(wideText("añb")), "ñ", "😀", swap(wideText("a😀b"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := b.File("f", c.file)
			a := tooltest.Args{"path": "f", "oldString": c.from, "newString": c.to}
			if p := tooltest.Preview(b, "Edit", a); p.Problem != "" || p.Diff == "" || p.Truncated || p.Added == 0 {
				t.Errorf("%s: got preview %+v, want the diff", c.name, p)
			}
			tooltest.Must[editOut](b, "Edit", a)
			if data, _ := os.ReadFile(path); string(data) != c.want {
				t.Errorf("%s: %q, want %q", c.name, data, c.want)
			}
		})
	}
}

func TestEditsAreAllMadeOrNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("f", "one two three two")
	step := func(from, to string) tooltest.Args { return tooltest.Args{"oldString": from, "newString": to} }
	all := func(from, to string) tooltest.Args {
		return tooltest.Args{"oldString": from, "newString": to, "replaceAll": true}
	}
	a := tooltest.Args{"path": "f", "oldString": "one", "newString": "1", "edits": []tooltest.Args{step("1 two", "1 2"), all("t", "T")}}
	p := tooltest.Preview(b, "Edit", a)
	if p.Problem != "" || p.Added != 1 || p.Removed != 1 || !strings.Contains(p.Diff, "+1 2 Three Two") {
		t.Errorf("got %+v, want a diff to 1 2 Three Two", p)
	}
	if out := tooltest.Must[editOut](b, "Edit", a); out.Replacements != 4 {
		t.Errorf("got %+v, want 4 replacements", out)
	}
	if data, _ := os.ReadFile(path); string(data) != "1 2 Three Two" {
		t.Fatalf("got %q, want %q", data, "1 2 Three Two")
	}
	if out := tooltest.Must[editOut](b, "Edit", tooltest.Args{"path": "f", "oldString": "", "newString": "", "edits": []tooltest.Args{step("1", "one"), step("one", "1")}}); out.Replacements != 2 {
		t.Errorf("got %+v, want 2 replacements", out)
	}
	for want, a := range map[string]tooltest.Args{
		"Replacement 2 of 2: oldString not found in '" + path + "'. Nothing was written.": {"path": "f", "oldString": "1", "newString": "x", "edits": []tooltest.Args{step("y", "z")}},
		"Replacement 1 of 2: oldString not found in '" + path + "'. Nothing was written.": {"path": "f", "oldString": "y", "newString": "x", "edits": []tooltest.Args{step("1", "z")}},
		"Replacement 2 of 2: oldString must not be empty":                                 {"path": "f", "oldString": "1", "newString": "x", "edits": []tooltest.Args{step("", "z")}},
		"Replacement 1 of 2: oldString must not be empty":                                 {"path": "f", "oldString": "", "newString": "x", "edits": []tooltest.Args{step("1", "z")}},
		"Replacement 2 of 2: oldString found 2 times in":                                  {"path": "f", "oldString": "1", "newString": "x", "edits": []tooltest.Args{step("T", "z")}},
		"edits has 1001 replacements":                                                     {"path": "f", "oldString": "", "newString": "", "edits": make([]editStep, 1001)},
	} {
		if words := tooltest.MustFail(b, "Edit", a); !strings.HasPrefix(words, want) {
			t.Errorf("got %q, want it to begin with %q", words, want)
		}
		if p := tooltest.Preview(b, "Edit", a); !strings.HasPrefix(p.Problem, want) {
			t.Errorf("got preview %+v, want the problem %q", p, want)
		}
	}
	if data, _ := os.ReadFile(path); string(data) != "1 2 Three Two" {
		t.Errorf("got file %q, want %q as before", data, "1 2 Three Two")
	}
}

func TestExpectedHashIsChecked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("f", "one")
	sum, err := b.WS.Hash(mustResolve(t, b, path))
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Repeat("0", 64)
	for name, a := range map[string]tooltest.Args{"Write": {"path": "f", "content": "two"}, "Edit": {"path": "f", "oldString": "one", "newString": "two"}} {
		t.Run(name, func(t *testing.T) {
			for _, want := range []string{other, "absent", "x"} {
				a["expectedSha256"] = want
				_, err := b.Tools[name].Call(t.Context(), access.Call{}, tooltest.Encode(t, a))
				if !errors.Is(err, workspace.ErrChanged) || !strings.Contains(err.Error(), sum) {
					t.Errorf("%s, %s: got error %v, want that it changed, with the checksum", name, want, err)
				}
				if p := tooltest.Preview(b, name, a); !strings.Contains(p.Problem, sum) || p.Diff != "" {
					t.Errorf("preview of %s: got %+v, want the checksum in a problem", name, p)
				}
			}
			a["expectedSha256"] = strings.ToUpper(sum)
			if p := tooltest.Preview(b, name, a); p.Problem != "" {
				t.Errorf("preview of %s: got %+v, want no problem", name, p)
			}
			if _, err := b.Tools[name].Call(t.Context(), access.Call{ExpectedSHA256: other}, tooltest.Encode(t, a)); !errors.Is(err, workspace.ErrChanged) {
				t.Errorf("%s: what the person saw does not count: %v", name, err)
			}
			if _, err := b.Tools[name].Call(t.Context(), access.Call{ExpectedSHA256: sum}, tooltest.Encode(t, a)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			b.File("f", "one")
		})
	}
	tooltest.Must[writeOut](b, "Write", tooltest.Args{"path": "new", "content": "", "expectedSha256": "absent"})
	tooltest.MustFail(b, "Write", tooltest.Args{"path": "new", "content": "", "expectedSha256": "absent"})
	tooltest.MustFail(b, "Write", tooltest.Args{"path": "none", "content": "", "expectedSha256": sum})
}

func TestEditWithoutChangeLeavesFileAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("f", "a b")
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	os.Chtimes(path, old, old)
	out := tooltest.Must[editOut](b, "Edit", tooltest.Args{"path": "f", "oldString": "a", "newString": "c", "edits": []tooltest.Args{{"oldString": "c", "newString": "a"}}})
	if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(old) || out.Replacements != 2 || out.SHA256 != out.OldSHA256 {
		t.Errorf("got time %v, error %v, %+v, want the file of before", info.ModTime(), err, out)
	}
}

// slowEdit is a reference for several replacements, one character at a time: text with CRLF is
// converted to line feeds where the tool does so.
func slowEdit(s string, steps []editStep) (string, int, bool) {
	total := 0
	for _, st := range steps {
		from, to := st.OldString, st.NewString
		if from == "" || from == to {
			return "", 0, false
		}
		wider := func(s string) string {
			var out strings.Builder
			for i := range len(s) {
				if s[i] == '\n' && (i == 0 || s[i-1] != '\r') {
					out.WriteByte('\r')
				}
				out.WriteByte(s[i])
			}
			return out.String()
		}
		lone, pairs := 0, 0
		for i := range len(s) {
			if s[i] == '\n' {
				if i > 0 && s[i-1] == '\r' {
					pairs++
				} else {
					lone++
				}
			}
		}
		_, found := slowReplace(s, from, "", true)
		if !strings.Contains(from, "\r") && pairs > 0 && (lone == 0 || found == 0 && strings.Contains(from, "\n")) {
			from, to = wider(from), wider(to)
		}
		_, found = slowReplace(s, from, "", true)
		if found == 0 || found > 1 && !st.ReplaceAll {
			return "", 0, false
		}
		var n int
		s, n = slowReplace(s, from, to, st.ReplaceAll)
		total += n
	}
	return s, total, true
}

func TestEditsAgreeWithASlowReference(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := files{b.WS, defaultLimits}
	p := workspace.Path{Abs: "f"}
	rnd := rand.New(rand.NewPCG(11, 12))
	text := func(most int, alphabet []string) string {
		var s strings.Builder
		for range rnd.IntN(most + 1) {
			s.WriteString(alphabet[rnd.IntN(len(alphabet))])
		}
		return s.String()
	}
	alphabets := [][]string{{"a", "b", "\r\n"}, {"a", "b", "\n"}, {"a", "\r\n", "\n", "\r"}, {"a", "é", "$", "\\"}}
	good := 0
	for range 20_000 {
		alphabet := alphabets[rnd.IntN(len(alphabets))]
		file := text(30, alphabet)
		loose := append([]string{"\n"}, alphabet...)
		var in editIn
		for range rnd.IntN(3) + 1 {
			in.Edits = append(in.Edits, editStep{text(3, loose), text(4, loose), rnd.IntN(2) == 0})
		}
		if rnd.IntN(2) == 0 {
			first := in.Edits[0]
			in.OldString, in.NewString, in.ReplaceAll, in.Edits = first.OldString, first.NewString, first.ReplaceAll, in.Edits[1:]
		}
		want, n, ok := slowEdit(file, in.steps())
		got, m, err := f.applyEdits(t.Context(), p, []byte(file), in)
		if ok != (err == nil) || ok && (want != string(got) || n != m) {
			t.Fatalf("%q, %+v: %q, %d, %v; want %q, %d, %v", file, in, got, m, err, want, n, ok)
		}
		if ok {
			good++
		}
	}
	if good < 2000 {
		t.Errorf("got %d edits that could be made, want at least 2000", good)
	}
}
