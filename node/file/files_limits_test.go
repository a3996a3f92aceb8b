package file

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/access"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

// newLimitedBench makes a bench whose tools have other limits.
func newLimitedBench(t *testing.T, change func(*limits)) *tooltest.Bench {
	t.Helper()
	l := defaultLimits
	change(&l)
	return tooltest.New(t, func(ws *workspace.Root) []toolkit.Tool[access.Call] {
		return limitedTools(access.Scope{Root: ws}, l)
	})
}

func TestReadIsTruncatedAtItsLimit(t *testing.T) {
	t.Parallel()
	b := newLimitedBench(t, func(l *limits) { l.readText = 100 })
	b.File("f", strings.Repeat("123456789\n", 50))
	for _, a := range []tooltest.Args{{"path": "f"}, {"path": "f", "offset": 2}} {
		out := tooltest.Must[readText](b, "Read", a)
		if out.Lines != 8 || !out.Truncated || out.SHA256 != "" || len(out.Content) > 100 {
			t.Errorf("%v: got %d lines, truncated %v, sha256 %q; want 8 of them, and no hash", a, out.Lines, out.Truncated, out.SHA256)
		}
	}
	for _, c := range []struct {
		offset, limit, lines int
		truncated            bool
	}{{0, 3, 3, false}, {0, 8, 8, false}, {0, 50, 8, true}, {9, 50, 7, true}, {45, 50, 5, false}, {40, 7, 7, false}, {40, 8, 7, true}} {
		out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "f", "offset": c.offset, "limit": c.limit})
		if out.Lines != c.lines || out.Truncated != c.truncated || len(out.Content) > 100 || strings.Count(out.Content, "\n") != c.lines-1 {
			t.Errorf("got %d lines, truncated %v, %q, want %+v", out.Lines, out.Truncated, out.Content, c)
		}
	}
	b.File("f", strings.Repeat("é", 300)+"\nb\n")
	out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "f", "limit": 1})
	if !out.Truncated || out.Lines != 1 || out.Content != "1\t"+strings.Repeat("é", 49) {
		t.Errorf("a long line: got %+v, want its beginning", out)
	}
	if out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "f", "offset": 1, "limit": 1}); out.Content != "2\tb" || out.Truncated {
		t.Errorf("the line after it: got %+v, want b", out)
	}
	b.File("f", strings.Repeat("x", 98))
	if out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "f"}); out.Truncated || len(out.Content) != 100 {
		t.Errorf("exactly the limit: got %+v, want all of it", out)
	}
	b.File("f", strings.Repeat("x", 99))
	if out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "f"}); !out.Truncated || len(out.Content) != 100 {
		t.Errorf("one byte more: got %+v, want 100 bytes, truncated", out)
	}
}

func TestReadFitsIntoAFrame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.File("f", strings.Repeat(strings.Repeat("\x01", 99)+"\n", 40_000))
	for _, a := range []tooltest.Args{{"path": "f"}, {"path": "f", "limit": 40_000}} {
		raw, err := b.Tools["Read"].Call(t.Context(), access.Call{}, tooltest.Encode(t, a))
		if err != nil || len(raw) > 13<<20 || !bytes.Contains(raw, []byte(`"truncated":true`)) {
			t.Errorf("%v: got %d bytes, %v; want at most 13 MiB, truncated", a, len(raw), err)
		}
	}
	b.File("f", strings.Repeat("\"\\\t", 1<<20))
	if raw, err := b.Tools["Read"].Call(t.Context(), access.Call{}, tooltest.Encode(t, tooltest.Args{"path": "f"})); err != nil || len(raw) < 6<<20 {
		t.Errorf("got %d bytes, error %v, want at least %d", len(raw), err, 6<<20)
	}
}

func TestReadOfTooLargeUTF16SaysSo(t *testing.T) {
	t.Parallel()
	b := newLimitedBench(t, func(l *limits) { l.readWide = 10 })
	path := b.File("f", "\xff\xfea\x00b\x00c\x00d\x00")
	if out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "f"}); out.Content != "1\tabcd" {
		t.Errorf("got %+v, want abcd", out)
	}
	b.File("f", "\xff\xfea\x00b\x00c\x00d\x00e\x00")
	if words := tooltest.MustFail(b, "Read", tooltest.Args{"path": "f"}); words != "File too large: '"+path+"' is UTF-16 and has 12 bytes, and at most 10 are possible" {
		t.Errorf("got %q, want that the UTF-16 file has 12 bytes", words)
	}
}

func TestWriteOfMoreThanFitsLeavesTheFile(t *testing.T) {
	t.Parallel()
	b := newLimitedBench(t, func(l *limits) { l.write = 10 })
	path := b.File("f", "old")
	want := "Content too large: '" + path + "' would have 11 bytes, and at most 10 are possible"
	if words := tooltest.MustFail(b, "Write", tooltest.Args{"path": "f", "content": "12345678901"}); words != want {
		t.Errorf("got %q, want %q", words, want)
	}
	if p := tooltest.Preview(b, "Write", tooltest.Args{"path": "f", "content": "12345678901"}); p.Problem != want || p.Diff != "" {
		t.Errorf("got preview %+v, want the problem %q", p, want)
	}
	if data, _ := os.ReadFile(path); string(data) != "old" {
		t.Errorf("got file %q, want old", data)
	}
	tooltest.Must[writeOut](b, "Write", tooltest.Args{"path": "f", "content": "1234567890"})
}

func TestEditOfMoreThanFitsLeavesTheFile(t *testing.T) {
	t.Parallel()
	b := newLimitedBench(t, func(l *limits) { l.edit = 10 })
	path := b.File("f", "1234567890")
	tooltest.Must[editOut](b, "Edit", tooltest.Args{"path": "f", "oldString": "1", "newString": "x"})
	want := "Content too large: '" + path + "' would have 11 bytes, and at most 10 are possible"
	a := tooltest.Args{"path": "f", "oldString": "x", "newString": "12"}
	if words := tooltest.MustFail(b, "Edit", a); words != want {
		t.Errorf("got %q, want %q", words, want)
	}
	if p := tooltest.Preview(b, "Edit", a); p.Problem != want {
		t.Errorf("got preview %+v, want the problem %q", p, want)
	}
	b.File("f", "12345678901")
	a = tooltest.Args{"path": "f", "oldString": "1234", "newString": ""}
	if words := tooltest.MustFail(b, "Edit", a); words != "File too large: '"+path+"' has 11 bytes, and at most 10 are possible" {
		t.Errorf("got %q, want that the file has 11 bytes", words)
	}
	if p := tooltest.Preview(b, "Edit", a); !strings.HasPrefix(p.Problem, "File too large") {
		t.Errorf("got preview %+v, want a file that is too large", p)
	}
	b.File("f", "\xff\xfea\x00b\x00c\x00d\x00")
	if words := tooltest.MustFail(b, "Edit", tooltest.Args{"path": "f", "oldString": "a", "newString": "ee"}); !strings.HasPrefix(words, "Content too large") {
		t.Errorf("got %q, want content that is too large", words)
	}
}

func TestImagesAreKnownByTheirFirstBytes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pad := strings.Repeat("\x00", 100)
	for mime, start := range map[string]string{
		"image/png": "\x89PNG\r\n\x1a\n", "image/jpeg": "\xff\xd8\xff\xe0", "image/gif": "GIF89a", "image/webp": "RIFF\x10\x00\x00\x00WEBPVP8 ",
		"image/bmp": "BM" + strings.Repeat("\x00", 12) + "\x28", "image/avif": "\x00\x00\x00\x20ftypavif", "image/heic": "\x00\x00\x00\x20ftypheic",
		"image/tiff": "II*\x00", "image/x-icon": "\x00\x00\x01\x00",
	} {
		t.Run(mime, func(t *testing.T) {
			b.File("f.bin", start+pad)
			raw, err := b.Tools["Read"].Call(t.Context(), access.Call{}, tooltest.Encode(t, tooltest.Args{"path": "f.bin"}))
			want := fmt.Sprintf(`{"content":[{"type":"text","text":"Image file: f.bin (%s, %d bytes)"},{"type":"image","data":"`, mime, len(start)+100)
			if err != nil || !strings.HasPrefix(string(raw), want) || !strings.HasSuffix(string(raw), `","mimeType":"`+mime+`"}]}`) {
				t.Errorf("%s: got %.300s, error %v, want %s", mime, raw, err, want)
			}
		})
	}
	svg := `<svg xmlns="http://www.w3.org/2000/svg"/>`
	b.File("x.svg", svg)
	if out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "x.svg"}); out.Content != "1\t"+svg {
		t.Errorf("got %+v, want the text %s", out, svg)
	}
	for name, c := range map[string]struct{ start, mime string }{
		"a.pdf": {"%PDF-1.7\n\xff\xff", "application/pdf"}, "a.zip": {"PK\x03\x04\xff\xff", "application/zip"}, "a": {"\xff\x00\xfe\x01", "application/octet-stream"},
	} {
		t.Run(name, func(t *testing.T) {
			b.File(name, c.start)
			if words := tooltest.MustFail(b, "Read", tooltest.Args{"path": name}); words != fmt.Sprintf("Binary file: %s (%s, %d bytes) — not a text or image file", name, c.mime, len(c.start)) {
				t.Errorf("got %q, want a binary file of the type %s", words, c.mime)
			}
		})
	}
}

func TestResultsCarryHashes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sum := func(text string) string {
		h, err := b.WS.Hash(mustResolve(t, b, b.File("other", text)))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	w := tooltest.Must[writeOut](b, "Write", tooltest.Args{"path": "f", "content": "one\n"})
	if w.SHA256 != sum("one\n") || !w.Created {
		t.Errorf("got %+v, want a created file with its checksum", w)
	}
	if r := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "f"}); r.SHA256 != w.SHA256 {
		t.Errorf("got %+v, want the checksum %s", r, w.SHA256)
	}
	for _, a := range []tooltest.Args{{"path": "f", "limit": 0}, {"path": "f", "limit": 1}, {"path": "f", "offset": 1}} {
		if r := tooltest.Must[readText](b, "Read", a); r.SHA256 != "" {
			t.Errorf("%v: got checksum %s of a part, want none", a, r.SHA256)
		}
	}
	e := tooltest.Must[editOut](b, "Edit", tooltest.Args{"path": "f", "oldString": "one", "newString": "three"})
	if e.OldSHA256 != w.SHA256 || e.SHA256 != sum("three\n") || e.Bytes != 6 {
		t.Errorf("got %+v, want the checksums before and after", e)
	}
	if w := tooltest.Must[writeOut](b, "Write", tooltest.Args{"path": "f", "content": ""}); w.Created || w.SHA256 != sum("") || len(w.SHA256) != hex.EncodedLen(32) {
		t.Errorf("got %+v, want an empty file that existed", w)
	}
}

func TestOtherNamesOfAFileKeepItsContent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("f", "old")
	for _, name := range []string{"g", "h"} {
		if err := os.Link(path, filepath.Join(b.WS.Dir(), name)); err != nil {
			t.Skipf("no hard links here: %v", err)
		}
	}
	if e := tooltest.Must[editOut](b, "Edit", tooltest.Args{"path": "f", "oldString": "old", "newString": "new"}); e.OtherNames != 2 {
		t.Errorf("got %+v, want 2 other names", e)
	}
	if w := tooltest.Must[writeOut](b, "Write", tooltest.Args{"path": "g", "content": "new"}); w.OtherNames != 1 {
		t.Errorf("got %+v, want 1 other name", w)
	}
	if w := tooltest.Must[writeOut](b, "Write", tooltest.Args{"path": "h", "content": "new"}); w.OtherNames != 0 {
		t.Errorf("got %+v, want no other name", w)
	}
}
