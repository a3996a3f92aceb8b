package file

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"fairlead/node/access"
	"fairlead/node/textfile"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

// FuzzDecoders passes arbitrary bytes to all seven decoders. Nothing may panic, errors must have a
// text, and nothing may be written outside. Bash runs nothing: only its preview decodes here.
func FuzzDecoders(f *testing.F) {
	for _, s := range []string{
		`{"path":"a","content":"b"}`, `{"path":"a","content":"b","expectedSha256":"absent"}`, `{"path":"../a","content":""}`, `{"path":"/tmp/a","content":""}`,
		`{"path":"f","oldString":"some","newString":"x","edits":[{"oldString":"text","newString":"","replaceAll":true}]}`, `{"path":"f","edits":null}`,
		`{"path":"f","offset":-0.5,"limit":1e999}`, `{"path":"f","limit":"1"}`, `{"path":"\ud800","content":"\udfff"}`, `{"PATH":"f"}`, `[]`, `{"path":"f","path":"g"}`,
		`{"command":"true","timeout":1e300,"yieldMs":null}`, `{"action":"log","sessionId":"x","offset":-1}`, `{"pattern":"{a,b","path":"f"}`, `{"pattern":"(","include":"["}`,
	} {
		f.Add(s)
	}
	b := newBench(f)
	canary := filepath.Join(filepath.Dir(b.WS.Dir()), "canary")
	if err := os.WriteFile(canary, []byte("alive"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		(&tooltest.Bench{T: t, WS: b.WS}).File("f", "some\ntext\n")
		for name, tl := range b.Tools {
			p, _, perr := tl.Preview(t.Context(), access.Call{}, json.RawMessage(raw))
			if perr != nil && perr.Error() == "" || !utf8.ValidString(p.Problem) {
				t.Fatalf("preview of %s(%s): got error %v, problem %q, want UTF-8", name, raw, perr, p.Problem)
			}
			if name == "Bash" {
				continue
			}
			out, err := tl.Call(t.Context(), access.Call{}, json.RawMessage(raw))
			if err == nil && !json.Valid(out) || err != nil && err.Error() == "" {
				t.Fatalf("%s(%s): got %s, error %v, want JSON or an error", name, raw, out, err)
			}
			if perr != nil && err == nil {
				t.Fatalf("%s(%s): got preview error %v for a call that ran, want none", name, raw, perr)
			}
		}
		if data, err := os.ReadFile(canary); err != nil || string(data) != "alive" {
			t.Fatalf("%s: got the file outside as %q, error %v, want it unchanged", raw, data, err)
		}
	})
}

// FuzzReadFile reads arbitrary bytes as a file. Every part of a text must be returned unchanged.
func FuzzReadFile(f *testing.F) {
	for _, s := range []string{"", "\n", "a\nb", "a\r\n\r\nb\n", "\xff\xfea\x00", "\xfe\xff\x00a\xd8\x00", "\xef\xbb\xbfx\n", "BM\x00\x00", "\x89PNG\r\n\x1a\n", "é\xff", "\x00"} {
		f.Add(s, uint8(0), uint8(2))
	}
	b := newBench(f)
	f.Fuzz(func(t *testing.T, content string, offset, limit uint8) {
		(&tooltest.Bench{T: t, WS: b.WS}).File("f", content)
		raw, err := b.Tools["Read"].Call(t.Context(), access.Call{}, tooltest.Encode(t, tooltest.Args{"path": "f", "offset": offset, "limit": limit}))
		if err != nil {
			if utf8.ValidString(content) || !strings.HasPrefix(err.Error(), "Binary file: f (") && !strings.HasPrefix(err.Error(), "Not UTF-8 text: f (") {
				t.Fatalf(`%q: got %v; want invalid UTF-8 and either an error that begins with "Binary file: f (" or an error that begins with "Not UTF-8 text: f ("`, content, err)
			}
			return
		}
		var out readText
		var img readImage
		if json.Unmarshal(raw, &img) == nil && len(img.Content) == 2 {
			return
		}
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatal(err)
		}
		if textfile.DetectUTF16([]byte(content)) != nil {
			return
		}
		lines := strings.Split(content, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		lines = lines[min(int(offset), len(lines)):]
		lines = lines[:min(int(limit), len(lines))]
		for i, line := range lines {
			lines[i] = strconv.Itoa(int(offset)+i+1) + "\t" + line
		}
		if want := strings.Join(lines, "\n"); out.Content != want || out.Lines != len(lines) {
			t.Fatalf("%q from %d, %d lines: %q, want %q", content, offset, limit, out.Content, want)
		}
	})
}

// FuzzUTF16 converts there and back.
func FuzzUTF16(f *testing.F) {
	f.Add([]byte("\xff\xfea\x00"))
	f.Add([]byte("\xfe\xff\xd8\x3d\xde\x00"))
	f.Add([]byte("\xff\xfe\x00\xd8"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		w := textfile.DetectUTF16(raw)
		if w == nil {
			return
		}
		text, ok := w.Decode(raw)
		if !ok {
			return
		}
		if !utf8.Valid(text) || string(w.Encode(text)) != string(raw) {
			t.Fatalf("%x: got %q, and back %x, want the same bytes", raw, text, w.Encode(text))
		}
	})
}

// FuzzEdit: an edit that is made changes the file as the slow reference does.
func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb", "a\nb", "c\n", true)
	f.Add("aaa", "aa", "", true)
	f.Add("x", "", "y", false)
	edits := files{newBench(f).WS, defaultLimits}
	f.Fuzz(func(t *testing.T, file, from, to string, all bool) {
		if textfile.DetectUTF16([]byte(file)) != nil {
			return
		}
		in := editIn{OldString: from, NewString: to, ReplaceAll: all}
		want, n, ok := slowEdit(file, in.steps())
		got, m, err := edits.applyEdits(t.Context(), workspace.Path{Abs: "f"}, []byte(file), in)
		if ok != (err == nil) || ok && (want != string(got) || n != m) {
			t.Fatalf("%q, %q, %q, %v: %q, %d, %v; want %q, %d, %v", file, from, to, all, got, m, err, want, n, ok)
		}
	})
}
