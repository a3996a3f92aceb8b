package file

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"fairlead/gateway/peer/diff"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func TestReadNumbersLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		name, file, want string
		a                tooltest.Args
		lines            int
	}{
		{"all", "a\nb\nc\n", "1\ta\n2\tb\n3\tc", nil, 3},
		{"no last line feed", "a\nb", "1\ta\n2\tb", nil, 2},
		{"empty", "", "", nil, 0},
		{"one line feed", "\n", "1\t", nil, 1},
		{"blank lines", "\n\na", "1\t\n2\t\n3\ta", nil, 3},
		{"offset", "a\nb\nc\n", "2\tb\n3\tc", tooltest.Args{"offset": 1}, 2},
		{"limit", "a\nb\nc\n", "1\ta\n2\tb", tooltest.Args{"limit": 2}, 2},
		{"both", "a\nb\nc\n", "2\tb", tooltest.Args{"offset": 1.0, "limit": 1.0}, 1},
		{"offset at the end", "a\nb\n", "", tooltest.Args{"offset": 2}, 0},
		{"offset behind the end", "a\nb", "", tooltest.Args{"offset": 99}, 0},
		{"limit 0", "a\n", "", tooltest.Args{"limit": 0}, 0},
		{"limit above", "a\n", "1\ta", tooltest.Args{"limit": 1e18}, 1},
		{"carriage returns", "a\r\nb\r\n", "1\ta\r\n2\tb\r", nil, 2},
		{"byte order mark", "\ufeffa", "1\t\ufeffa", nil, 1},
		{"long line", strings.Repeat("é", 100_000) + "\nb", "1\t" + strings.Repeat("é", 100_000) + "\n2\tb", nil, 2},
		{"long line skipped", strings.Repeat("x", 100_000) + "\nb", "2\tb", tooltest.Args{"offset": 1}, 1},
		{"zero bytes are UTF-8", "a\x00b\n", "1\ta\x00b", nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := b.File("f", c.file)
			a := tooltest.Args{"path": "f"}
			for k, v := range c.a {
				a[k] = v
			}
			out := tooltest.Must[readText](b, "Read", a)
			if out.Content != c.want || out.Lines != c.lines || out.Path != path {
				t.Errorf("%s: got %.80q, %d lines, %s, want %.80q, %d lines", c.name, out.Content, out.Lines, out.Path, c.want, c.lines)
			}
		})
	}
}

func TestReadConvertsUTF16(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, little := range []bool{true, false} {
		var raw []byte
		for _, u := range utf16.Encode([]rune("\ufeffhé\n😀")) {
			if little {
				raw = append(raw, byte(u), byte(u>>8))
			} else {
				raw = append(raw, byte(u>>8), byte(u))
			}
		}
		b.File("f", string(raw))
		if out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "f"}); out.Content != "1\thé\n2\t😀" {
			t.Errorf("got %q, want the converted text", out.Content)
		}
	}
}

func TestReadOfAPartDoesNotReadTheRest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("f", "a\nb\n")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(20 << 30); err != nil { // a hole
		t.Skipf("no sparse files here: %v", err)
	}
	if out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "f", "offset": 1, "limit": 1}); out.Content != "2\tb" {
		t.Errorf("got %q, want the second line", out.Content)
	}
	if out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "f"}); out.Content != "1\ta\n2\tb" || !out.Truncated {
		t.Errorf("without a limit: got %.50q, truncated %v; want the first two lines, truncated", out.Content, out.Truncated)
	}
}

func TestReadReturnsImages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	path := b.File("photo.txt", buf.String()) // its name does not count
	out := tooltest.Must[readImage](b, "Read", tooltest.Args{"path": "photo.txt", "offset": 5, "limit": 1})
	if len(out.Content) != 2 || out.Content[0].Type != protocol.BlockText || out.Content[1].Type != protocol.BlockImage {
		t.Fatalf("got %+v, want a text and an image", out)
	}
	if want := fmt.Sprintf("Image file: photo.txt (image/png, %d bytes)", buf.Len()); out.Content[0].Text != want {
		t.Errorf("got %q, want %q", out.Content[0].Text, want)
	}
	data, err := base64.StdEncoding.DecodeString(out.Content[1].Data)
	if err != nil || !bytes.Equal(data, buf.Bytes()) || out.Content[1].MimeType != "image/png" {
		t.Errorf("got type %s, error %v, want the image as image/png", out.Content[1].MimeType, err)
	}
	for size, ok := range map[int64]bool{10 << 20: true, 10<<20 + 1: false} {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		_, err := tooltest.Call[readImage](b, "Read", tooltest.Args{"path": "photo.txt"})
		if ok != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), "Image file too large (10.0 MB, max 10.0 MB)") {
			t.Errorf(`%d bytes: %v; want ok %v and either no error or an error that begins with "Image file too large (10.0 MB, max 10.0 MB)"`, size, err, err == nil)
		}
	}
}

func TestReadNamesTheTypeOfBinaryFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gz := append([]byte{0x1f, 0x8b, 8, 0}, bytes.Repeat([]byte{0xff}, 96)...)
	b.File("archive.tar.gz", string(gz))
	b.File("late", strings.Repeat("text\n", 10_000)+"\xff\n")
	b.File("latin", "caf\xe9 cr\xe8me")
	b.File("latin.json", "{\"name\": \"\xe9\"}")
	for name, content := range map[string]string{ // which begin like UTF-16
		"sound": "\xff\xfe\x10\xc4\x00\x00\x03\x48", "numbers": "\xff\xfe\x01\x00\x02\x00", "reserved": "\xff\xfea\x00\x78\x03", "private": "\xff\xfea\x00\x01\xe0",
		"halved": "\xff\xfea\x00b",
	} {
		b.File(name, content)
	}
	b.File("d/f", "")
	for path, want := range map[string]string{
		"archive.tar.gz": "Binary file: archive.tar.gz (application/gzip, 100 bytes) — not a text or image file",
		"late":           "Not UTF-8 text: late (text/plain, 50002 bytes) has another encoding, perhaps Latin-1. Convert it with Bash",
		"latin":          "Not UTF-8 text: latin (text/plain, 10 bytes) has",
		"latin.json":     "Not UTF-8 text: latin.json (application/json, 13 bytes) has",
		"sound":          "Binary file: sound (application/octet-stream, ",
		"numbers":        "Binary file: numbers (application/octet-stream, ",
		"reserved":       "Binary file: reserved (application/octet-stream, ",
		"private":        "Binary file: private (application/octet-stream, ",
		"halved":         "Binary file: halved (application/octet-stream, ",
		"d":              "Failed to read '" + filepath.Join(b.WS.Dir(), "d") + "': it is a directory",
		"none":           "Failed to read '" + filepath.Join(b.WS.Dir(), "none") + "': no such file",
		"":               "path must not be empty",
	} {
		t.Run(path, func(t *testing.T) {
			if words := tooltest.MustFail(b, "Read", tooltest.Args{"path": path}); !strings.HasPrefix(words, want) {
				t.Errorf("got %q, want it to begin with %q", words, want)
			}
		})
	}
	if out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "late", "limit": 1}); out.Content != "1\ttext" {
		t.Errorf("got %q, want the first line", out.Content)
	}
}

func TestWriteCreatesAndReplaces(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, content := range []string{"first\n", "", "héllo\x00 $1 \\n\r\n"} {
		out := tooltest.Must[writeOut](b, "Write", tooltest.Args{"path": "new/deep/f", "content": content})
		data, err := os.ReadFile(filepath.Join(b.WS.Dir(), "new", "deep", "f"))
		if err != nil || string(data) != content || out.Bytes != len(content) || out.Path != filepath.Join(b.WS.Dir(), "new", "deep", "f") {
			t.Errorf("got %q, %+v, error %v, want %q", data, out, err, content)
		}
	}
	b.File("file", "")
	if words := tooltest.MustFail(b, "Write", tooltest.Args{"path": "file/x", "content": ""}); !strings.HasPrefix(words, "Failed to ") {
		t.Errorf("got %q, want that the write failed", words)
	}
	if words := tooltest.MustFail(b, "Write", tooltest.Args{"path": "new", "content": ""}); !strings.Contains(words, "it is a directory") {
		t.Errorf("got %q, want that it is a directory", words)
	}
	slash := tooltest.Args{"path": "folder/", "content": "x"}
	if words := tooltest.MustFail(b, "Write", slash); !strings.Contains(words, "names a folder") {
		t.Errorf("got %q, want that it names a folder", words)
	}
	if p := tooltest.Preview(b, "Write", slash); !strings.Contains(p.Problem, "names a folder") {
		t.Errorf("got preview %+v, want that it names a folder", p)
	}
}

func TestWriteFailsAfterTheFileChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("f", "one\ntwo\n")
	for tool, a := range map[string]tooltest.Args{
		"Write": {"path": "f", "content": "new\n"}, "Edit": {"path": "f", "oldString": "two", "newString": "2"},
	} {
		t.Run(tool, func(t *testing.T) {
			b.File("f", "one\ntwo\n")
			seen := tooltest.Preview(b, tool, a).FileSHA256
			b.File("f", "one\ntwo\nthree\n")
			_, err := b.Tools[tool].Call(context.Background(), access.Call{ExpectedSHA256: seen}, tooltest.Encode(t, a))
			if err == nil || err.Error() != "The file changed after it was shown. Nothing was written; ask again." {
				t.Errorf(`%s: got %v; want the error "The file changed after it was shown. Nothing was written; ask again."`, tool, err)
			}
			if data, _ := os.ReadFile(path); string(data) != "one\ntwo\nthree\n" {
				t.Errorf("%s: got file %q, want it unchanged", tool, data)
			}
			seen = tooltest.Preview(b, tool, a).FileSHA256
			if _, err := b.Tools[tool].Call(context.Background(), access.Call{ExpectedSHA256: seen}, tooltest.Encode(t, a)); err != nil {
				t.Errorf("%s: %v", tool, err)
			}
		})
	}
	a := tooltest.Args{"path": "g", "content": "x"}
	p := tooltest.Preview(b, "Write", a)
	if p.FileSHA256 != workspace.Absent || !p.NewFile {
		t.Fatalf("got preview %+v, want an absent file", p)
	}
	b.File("g", "someone else's")
	if _, err := b.Tools["Write"].Call(context.Background(), access.Call{ExpectedSHA256: p.FileSHA256}, tooltest.Encode(t, a)); err == nil {
		t.Error("a file that appeared was overwritten")
	}
}

func TestPreviewShowsTheDiff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var lines []string
	for i := range 20 {
		lines = append(lines, fmt.Sprint(i))
	}
	path := b.File("d/f", strings.Join(lines, "\n")+"\n")
	p := tooltest.Preview(b, "Edit", tooltest.Args{"path": "d/f", "oldString": "10\n", "newString": "ten\n10b\n"})
	want := "--- d/f\n+++ d/f\n@@ -8,7 +8,8 @@\n 7\n 8\n 9\n-10\n+ten\n+10b\n 11\n 12\n 13\n"
	if p.Diff != want || p.Added != 2 || p.Removed != 1 || p.NewFile || p.Truncated || p.Path != path || p.Outside {
		t.Errorf("got %+v, want the diff %q", p, want)
	}
	p = tooltest.Preview(b, "Write", tooltest.Args{"path": "new", "content": "--- a\n+++ b"})
	if !p.NewFile || p.Added != 2 || p.Removed != 0 || !strings.HasPrefix(p.Diff, "--- /dev/null\n+++ new\n") || !strings.Contains(p.Diff, "\\ No newline at end of file") {
		t.Errorf("got %+v, want the diff of a new file", p)
	}
	p = tooltest.Preview(b, "Write", tooltest.Args{"path": "d/f", "content": strings.Repeat("a long line of text\n", 10_000)})
	if !p.Truncated || len(p.Diff) > diff.MaxQuestion || !strings.HasSuffix(p.Diff, "\n") || p.Added != 10_000 {
		t.Errorf("got %d bytes, truncated %v, %d added, want at most %d bytes of 10000 lines", len(p.Diff), p.Truncated, p.Added, diff.MaxQuestion)
	}
	for n, shown := range map[int]bool{diff.MaxLines: true, diff.MaxLines + 1: false} {
		if p := tooltest.Preview(b, "Write", tooltest.Args{"path": "lines", "content": strings.Repeat("\n", n)}); (p.Diff != "") != shown || p.Problem != "" || !p.Truncated {
			t.Errorf("%d lines: got %.80q, truncated %v, problem %q, want a diff: %v", n, p.Diff, p.Truncated, p.Problem, shown)
		}
	}
	b.File("bin", "\xff\x00")
	if p := tooltest.Preview(b, "Write", tooltest.Args{"path": "bin", "content": "x"}); !p.Truncated || p.Diff != "" || p.FileSHA256 == "" {
		t.Errorf("a binary file: got %+v, want its checksum without a diff", p)
	}
	if p := tooltest.Preview(b, "Write", tooltest.Args{"path": "d", "content": "x"}); !strings.Contains(p.Problem, "it is a directory") {
		t.Errorf("got %+v, want that it is a directory", p)
	}
	if data, _ := os.ReadFile(path); strings.Count(string(data), "\n") != 20 {
		t.Error("a preview wrote")
	}
	if p := tooltest.Preview(b, "Read", tooltest.Args{"path": "d/f"}); p.Path != path || p.Outside || p.Problem != "" {
		t.Errorf("got %+v, want the path of the file", p)
	}
}
