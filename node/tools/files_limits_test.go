package tools

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// limited is a bench whose file tools have small limits.
func limited(t *testing.T, l FileLimits) *bench {
	b := newBench(t)
	for _, tl := range Files(b.ws, l) {
		b.tools[tl.Spec.Name] = tl
	}
	return b
}

func TestFileLimitsHaveTheirDefaults(t *testing.T) {
	want := FileLimits{ReadText: 4 << 20, ReadImage: 10 << 20, ReadWide: 64 << 20, Write: 15 << 20, Edit: 64 << 20}
	if got := (FileLimits{}).orDefaults(); got != want {
		t.Errorf("%+v", got)
	}
	own := FileLimits{1, 2, 3, 4, 5}
	if got := own.orDefaults(); got != own {
		t.Errorf("%+v", got)
	}
}

func TestReadReturnsWhatFitsAndSaysSo(t *testing.T) {
	b := limited(t, FileLimits{ReadText: 100})
	b.file("f", strings.Repeat("123456789\n", 50))
	for _, a := range []args{{"path": "f"}, {"path": "f", "offset": 2}} {
		out := must[readText](b, "Read", a)
		if out.Lines != 8 || !out.Truncated || out.SHA256 != "" || len(out.Content) > 100 {
			t.Errorf("%v: got %d lines, truncated %v, sha256 %q; want 8 of them, and no hash", a, out.Lines, out.Truncated, out.SHA256)
		}
	}
	for _, c := range []struct {
		offset, limit, lines int
		truncated            bool
	}{{0, 3, 3, false}, {0, 8, 8, false}, {0, 50, 8, true}, {9, 50, 7, true}, {45, 50, 5, false}, {40, 7, 7, false}, {40, 8, 7, true}} {
		out := must[readText](b, "Read", args{"path": "f", "offset": c.offset, "limit": c.limit})
		if out.Lines != c.lines || out.Truncated != c.truncated || len(out.Content) > 100 || strings.Count(out.Content, "\n") != c.lines-1 {
			t.Errorf("%+v: %d lines, truncated %v, %q", c, out.Lines, out.Truncated, out.Content)
		}
	}
	b.file("f", strings.Repeat("é", 300)+"\nb\n")
	out := must[readText](b, "Read", args{"path": "f", "limit": 1})
	if !out.Truncated || out.Lines != 1 || out.Content != "1\t"+strings.Repeat("é", 49) {
		t.Errorf("a long line: %+v", out)
	}
	if out := must[readText](b, "Read", args{"path": "f", "offset": 1, "limit": 1}); out.Content != "2\tb" || out.Truncated {
		t.Errorf("the line after it: %+v", out)
	}
	b.file("f", strings.Repeat("x", 98))
	if out := must[readText](b, "Read", args{"path": "f"}); out.Truncated || len(out.Content) != 100 {
		t.Errorf("just what fits: %+v", out)
	}
	b.file("f", strings.Repeat("x", 99))
	if out := must[readText](b, "Read", args{"path": "f"}); !out.Truncated || len(out.Content) != 100 {
		t.Errorf("one byte more: got %+v, want 100 bytes, truncated", out)
	}
}

func TestReadFitsAFrameWhateverIsInTheFile(t *testing.T) {
	b := newBench(t)
	b.file("f", strings.Repeat(strings.Repeat("\x01", 99)+"\n", 40_000))
	for _, a := range []args{{"path": "f"}, {"path": "f", "limit": 40_000}} {
		raw, err := b.tools["Read"].Call(t.Context(), encode(t, a))
		if err != nil || len(raw) > 13<<20 || !bytes.Contains(raw, []byte(`"truncated":true`)) {
			t.Errorf("%v: got %d bytes, %v; want at most 13 MiB, truncated", a, len(raw), err)
		}
	}
	b.file("f", strings.Repeat("\"\\\t", 1<<20))
	if raw, err := b.tools["Read"].Call(t.Context(), encode(t, args{"path": "f"})); err != nil || len(raw) < 6<<20 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
}

func TestReadOfTooLargeUTF16SaysSo(t *testing.T) {
	b := limited(t, FileLimits{ReadWide: 10})
	path := b.file("f", "\xff\xfea\x00b\x00c\x00d\x00")
	if out := must[readText](b, "Read", args{"path": "f"}); out.Content != "1\tabcd" {
		t.Errorf("%+v", out)
	}
	b.file("f", "\xff\xfea\x00b\x00c\x00d\x00e\x00")
	if words := fails(b, "Read", args{"path": "f"}); words != "File too large: '"+path+"' is UTF-16 and has 12 bytes, and at most 10 are possible" {
		t.Error(words)
	}
}

func TestWriteOfMoreThanFitsLeavesTheFile(t *testing.T) {
	b := limited(t, FileLimits{Write: 10})
	path := b.file("f", "old")
	want := "Content too large: '" + path + "' would have 11 bytes, and at most 10 are possible"
	if words := fails(b, "Write", args{"path": "f", "content": "12345678901"}); words != want {
		t.Error(words)
	}
	if p := preview(b, "Write", args{"path": "f", "content": "12345678901"}); p.Problem != want || p.Diff != "" {
		t.Errorf("%+v", p)
	}
	if data, _ := os.ReadFile(path); string(data) != "old" {
		t.Errorf("the file became %q", data)
	}
	must[writeOut](b, "Write", args{"path": "f", "content": "1234567890"})
}

func TestEditOfMoreThanFitsLeavesTheFile(t *testing.T) {
	b := limited(t, FileLimits{Edit: 10})
	path := b.file("f", "1234567890")
	must[editOut](b, "Edit", args{"path": "f", "oldString": "1", "newString": "x"})
	want := "Content too large: '" + path + "' would have 11 bytes, and at most 10 are possible"
	a := args{"path": "f", "oldString": "x", "newString": "12"}
	if words := fails(b, "Edit", a); words != want {
		t.Error(words)
	}
	if p := preview(b, "Edit", a); p.Problem != want {
		t.Errorf("%+v", p)
	}
	b.file("f", "12345678901")
	a = args{"path": "f", "oldString": "1234", "newString": ""}
	if words := fails(b, "Edit", a); words != "File too large: '"+path+"' has 11 bytes, and at most 10 are possible" {
		t.Error(words)
	}
	if p := preview(b, "Edit", a); !strings.HasPrefix(p.Problem, "File too large") {
		t.Errorf("%+v", p)
	}
	b.file("f", "\xff\xfea\x00b\x00c\x00d\x00")
	if words := fails(b, "Edit", args{"path": "f", "oldString": "a", "newString": "ee"}); !strings.HasPrefix(words, "Content too large") {
		t.Error(words)
	}
}

func TestImagesAreKnownByTheirFirstBytes(t *testing.T) {
	b := newBench(t)
	pad := strings.Repeat("\x00", 100)
	for mime, start := range map[string]string{
		"image/png": "\x89PNG\r\n\x1a\n", "image/jpeg": "\xff\xd8\xff\xe0", "image/gif": "GIF89a", "image/webp": "RIFF\x10\x00\x00\x00WEBPVP8 ",
		"image/bmp": "BM" + strings.Repeat("\x00", 12) + "\x28", "image/avif": "\x00\x00\x00\x20ftypavif", "image/heic": "\x00\x00\x00\x20ftypheic",
		"image/tiff": "II*\x00", "image/x-icon": "\x00\x00\x01\x00",
	} {
		b.file("f.bin", start+pad)
		raw, err := b.tools["Read"].Call(t.Context(), encode(t, args{"path": "f.bin"}))
		want := fmt.Sprintf(`{"content":[{"type":"text","text":"Image file: f.bin (%s, %d bytes)"},{"type":"image","data":"`, mime, len(start)+100)
		if err != nil || !strings.HasPrefix(string(raw), want) || !strings.HasSuffix(string(raw), `","mimeType":"`+mime+`"}]}`) {
			t.Errorf("%s: %.300s, %v", mime, raw, err)
		}
	}
	svg := `<svg xmlns="http://www.w3.org/2000/svg"/>`
	b.file("x.svg", svg)
	if out := must[readText](b, "Read", args{"path": "x.svg"}); out.Content != "1\t"+svg {
		t.Errorf("%+v", out)
	}
	for name, c := range map[string]struct{ start, mime string }{
		"a.pdf": {"%PDF-1.7\n\xff\xff", "application/pdf"}, "a.zip": {"PK\x03\x04\xff\xff", "application/zip"}, "a": {"\xff\x00\xfe\x01", "application/octet-stream"},
	} {
		b.file(name, c.start)
		if words := fails(b, "Read", args{"path": name}); words != fmt.Sprintf("Binary file: %s (%s, %d bytes) — not a text or image file", name, c.mime, len(c.start)) {
			t.Error(words)
		}
	}
}

func TestResultsCarryHashes(t *testing.T) {
	b := newBench(t)
	sum := func(text string) string {
		h, err := b.ws.Hash(mustResolve(t, b, b.file("other", text)))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	w := must[writeOut](b, "Write", args{"path": "f", "content": "one\n"})
	if w.SHA256 != sum("one\n") || !w.Created {
		t.Errorf("%+v", w)
	}
	if r := must[readText](b, "Read", args{"path": "f"}); r.SHA256 != w.SHA256 {
		t.Errorf("%+v", r)
	}
	for _, a := range []args{{"path": "f", "limit": 0}, {"path": "f", "limit": 1}, {"path": "f", "offset": 1}} {
		if r := must[readText](b, "Read", a); r.SHA256 != "" {
			t.Errorf("%v: a part has the hash %s", a, r.SHA256)
		}
	}
	e := must[editOut](b, "Edit", args{"path": "f", "oldString": "one", "newString": "three"})
	if e.OldSHA256 != w.SHA256 || e.SHA256 != sum("three\n") || e.Bytes != 6 {
		t.Errorf("%+v", e)
	}
	if w := must[writeOut](b, "Write", args{"path": "f", "content": ""}); w.Created || w.SHA256 != sum("") || len(w.SHA256) != hex.EncodedLen(32) {
		t.Errorf("%+v", w)
	}
}

func TestOtherNamesOfAFileKeepItsContent(t *testing.T) {
	b := newBench(t)
	path := b.file("f", "old")
	for _, name := range []string{"g", "h"} {
		if err := os.Link(path, filepath.Join(b.ws.Dir(), name)); err != nil {
			t.Skipf("no hard links here: %v", err)
		}
	}
	if e := must[editOut](b, "Edit", args{"path": "f", "oldString": "old", "newString": "new"}); e.OtherNames != 2 {
		t.Errorf("%+v", e)
	}
	if w := must[writeOut](b, "Write", args{"path": "g", "content": "new"}); w.OtherNames != 1 {
		t.Errorf("%+v", w)
	}
	if w := must[writeOut](b, "Write", args{"path": "h", "content": "new"}); w.OtherNames != 0 {
		t.Errorf("%+v", w)
	}
}
