package fs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/tooltest"
)

func TestSmallFileIsReadInOneCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("a", "hello")
	out := read(b, tooltest.Args{"path": path})
	if out.ChunkB64 == nil || string(*out.ChunkB64) != "hello" || out.Chunk != nil || out.Offset != 0 || out.Size != 5 || out.Total != 5 || out.SHA256 != sumOfHello || !out.Done || out.FileID == "" || out.Path != path {
		t.Errorf("got %+v, want all of the file", out)
	}
	fault(b, "fs_read", tooltest.Args{"file_id": out.FileID}, protocol.FaultNotFound, "Begin again")
	empty := read(b, tooltest.Args{"path": b.File("empty", ""), "encoding": "utf8"})
	if empty.Chunk == nil || *empty.Chunk != "" || !empty.Done || empty.Total != 0 {
		t.Errorf("an empty file: got %+v, want no bytes", empty)
	}
}

func TestFileIsReadInParts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	want := make([]byte, 3*defaultPart/2)
	for i := range want {
		want[i] = byte(i * i >> 3)
	}
	path := b.File("a", string(want))
	var got []byte
	for a := (tooltest.Args{"path": path}); ; {
		out := read(b, a)
		if out.Offset != int64(len(got)) || out.Total != int64(len(want)) {
			t.Fatalf("got %+v, want offset %d of %d", out, len(got), len(want))
		}
		raw := *out.ChunkB64
		got = append(got, raw...)
		if sum := sha256.Sum256(got); out.SHA256 != hex.EncodeToString(sum[:]) || out.Size != len(raw) {
			t.Fatalf("got %+v, want the checksum of the parts so far", out)
		}
		if out.Done {
			break
		}
		a = tooltest.Args{"file_id": out.FileID}
	}
	if !bytes.Equal(got, want) {
		t.Error("the parts are not the file")
	}
	out := read(b, tooltest.Args{"path": path, "offset": len(want) - 3})
	if string(*out.ChunkB64) != string(want[len(want)-3:]) || !out.Done {
		t.Errorf("from an offset: got %+v, want the last 3 bytes", out)
	}
}

func TestTextIsNeverCutInsideACharacter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	want := strings.Repeat("aé€😀", 50)
	path := b.File("a", want)
	got := ""
	for a := (tooltest.Args{"path": path, "encoding": "utf8", "max_bytes": 5}); ; {
		out := read(b, a)
		got += *out.Chunk
		if out.Done {
			if sum := sha256.Sum256([]byte(want)); out.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("got checksum %s, want that of the file", out.SHA256)
			}
			break
		}
		a = tooltest.Args{"file_id": out.FileID, "max_bytes": 5}
	}
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	fault(b, "fs_read", tooltest.Args{"path": b.File("bin", "a\xff"), "encoding": "utf8"}, protocol.FaultInvalidArgs, "base64")
}

func TestInvalidReadExplainsItself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("a", "hello")
	open := read(b, tooltest.Args{"path": path, "max_bytes": 1}).FileID
	writing := write(b, tooltest.Args{"path": in(b, "w")}).FileID
	for _, c := range []struct {
		args tooltest.Args
		code protocol.FaultCode
		text string
	}{
		{tooltest.Args{"path": path, "max_bytes": maxPart + 1}, protocol.FaultInvalidArgs, "max_bytes"},
		{tooltest.Args{"path": path, "max_bytes": -1}, protocol.FaultInvalidArgs, "max_bytes"},
		{tooltest.Args{"path": path, "encoding": "latin1"}, protocol.FaultInvalidArgs, "base64 or utf8"},
		{tooltest.Args{"path": path, "offset": -1}, protocol.FaultInvalidArgs, "offset"},
		{tooltest.Args{"path": path, "offset": 6}, protocol.FaultInvalidArgs, "has 5 bytes"},
		{tooltest.Args{"path": path, "offset": 1, "encoding": "utf8"}, protocol.FaultInvalidArgs, "offset needs encoding base64"},
		{tooltest.Args{"path": in(b, "none")}, protocol.FaultNotFound, "does not exist"},
		{tooltest.Args{"path": b.WS.Dir()}, protocol.FaultInvalidArgs, "it is a directory"},
		{tooltest.Args{"file_id": "file_none"}, protocol.FaultNotFound, "Begin again"},
		{tooltest.Args{"file_id": open, "path": path}, protocol.FaultInvalidArgs, "leave path"},
		{tooltest.Args{"file_id": open, "offset": 1}, protocol.FaultInvalidArgs, "leave path"},
		{tooltest.Args{"file_id": open, "encoding": "utf8"}, protocol.FaultInvalidArgs, "one encoding"},
		{tooltest.Args{"file_id": writing}, protocol.FaultInvalidArgs, "being written"},
	} {
		fault(b, "fs_read", c.args, c.code, c.text)
	}
	fault(b, "fs_write", tooltest.Args{"file_id": open}, protocol.FaultInvalidArgs, "being read")
}

func TestFileThatChangesWhileItIsReadIsNotMixed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, change := range map[string]struct {
		text string
		when time.Time
	}{"longer, at the same time": {"hello world!", time.Unix(1e9, 0)}, "as long, later": {"HELLO WORLD", time.Unix(2e9, 0)}} {
		path := b.File("a", "hello world")
		if err := os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
		out := read(b, tooltest.Args{"path": path, "max_bytes": 5})
		b.File("a", change.text) // the same file, with other content
		if err := os.Chtimes(path, time.Time{}, change.when); err != nil {
			t.Fatal(err)
		}
		fault(b, "fs_read", tooltest.Args{"file_id": out.FileID}, protocol.FaultFailedPrecondition, "changed while it was read")
		fault(b, "fs_read", tooltest.Args{"file_id": out.FileID}, protocol.FaultNotFound, "")
		if t.Failed() {
			t.Fatalf("got %v, want not Failed", name)
		}
	}
}

func TestFileIsWrittenInPartsAndReplacedAtTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("a", "old")
	first := write(b, tooltest.Args{"path": path, "chunk_b64": b64("hel")})
	if first.Offset != 0 || first.Total != 3 || first.Done || first.FileID == "" || content(t, path) != "old" {
		t.Errorf("got %+v, file %q, want 3 bytes collected", first, content(t, path))
	}
	second := write(b, tooltest.Args{"file_id": first.FileID, "chunk_b64": b64("lo")})
	if second.Offset != 3 || second.Total != 5 || second.SHA256 != sumOfHello || content(t, path) != "old" {
		t.Errorf("got %+v, want 5 bytes collected", second)
	}
	last := write(b, tooltest.Args{"file_id": first.FileID, "done": true})
	if !last.Done || last.Total != 5 || last.SHA256 != sumOfHello || content(t, path) != "hello" {
		t.Errorf("got %+v, file %q, want hello", last, content(t, path))
	}
	fault(b, "fs_write", tooltest.Args{"file_id": first.FileID, "done": true}, protocol.FaultNotFound, "")
	text := write(b, tooltest.Args{"path": in(b, "new/folder/b"), "encoding": "utf8", "chunk": "é", "done": true})
	if text.Total != 2 || content(t, in(b, "new/folder/b")) != "é" {
		t.Errorf("got %+v, want a file with é", text)
	}
}

func TestPartsMayRepeatTheirEncodingOrLeaveItOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, c := range map[string]struct{ first, next tooltest.Args }{
		"utf8 repeated":           {tooltest.Args{"encoding": "utf8", "chunk": "a"}, tooltest.Args{"encoding": "utf8", "chunk": "b"}},
		"base64 repeated":         {tooltest.Args{"encoding": "base64", "chunk_b64": b64("a")}, tooltest.Args{"encoding": "base64", "chunk_b64": b64("b")}},
		"text without encoding":   {tooltest.Args{"chunk": "a"}, tooltest.Args{"chunk": "b"}},
		"text, then its encoding": {tooltest.Args{"chunk": "a"}, tooltest.Args{"encoding": "utf8", "chunk": "b"}},
		"encoding, then text":     {tooltest.Args{"encoding": "utf8"}, tooltest.Args{"chunk": "ab"}},
		"nothing, then text":      {tooltest.Args{}, tooltest.Args{"chunk": "ab"}},
		"nothing, then Base64":    {tooltest.Args{}, tooltest.Args{"chunk_b64": b64("ab")}},
	} {
		path := in(b, "file")
		c.first["path"] = path
		c.next["file_id"], c.next["done"] = write(b, c.first).FileID, true
		if write(b, c.next); content(t, path) != "ab" {
			t.Errorf("%s: got %q, want \"ab\"", name, content(t, path))
		}
	}
	path := b.File("read", "ab")
	for _, encoding := range []string{"utf8", "base64"} {
		first := read(b, tooltest.Args{"path": path, "encoding": encoding, "max_bytes": 1})
		if next := read(b, tooltest.Args{"file_id": first.FileID, "encoding": encoding}); !next.Done {
			t.Errorf("%s: got %+v, want the second part to be the last", encoding, next)
		}
	}
}

func TestWrongWritesLeaveTheOldFile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("a", "hello")
	open := write(b, tooltest.Args{"path": path, "chunk_b64": b64("x")}).FileID
	big := strings.Repeat("x", maxPart+1)
	for _, c := range []struct {
		args tooltest.Args
		code protocol.FaultCode
		text string
	}{
		{tooltest.Args{"path": path, "encoding": "base64", "chunk": "x", "done": true}, protocol.FaultInvalidArgs, "chunk_b64"},
		{tooltest.Args{"path": path, "encoding": "utf8", "chunk_b64": "eA==", "done": true}, protocol.FaultInvalidArgs, "belongs into chunk"},
		{tooltest.Args{"path": path, "chunk": "x", "chunk_b64": "eA==", "done": true}, protocol.FaultInvalidArgs, "not both"},
		{tooltest.Args{"path": path, "chunk_b64": "?", "done": true}, protocol.FaultInvalidArgs, "not Base64"},
		{tooltest.Args{"path": path, "encoding": "utf8", "chunk": big, "done": true}, protocol.FaultTooLarge, "more parts"},
		{tooltest.Args{"path": path, "mode": "abc", "done": true}, protocol.FaultInvalidArgs, "octal"},
		{tooltest.Args{"path": path, "mode": "7777", "done": true}, protocol.FaultInvalidArgs, "octal"},
		{tooltest.Args{"path": path, "encoding": "x", "done": true}, protocol.FaultInvalidArgs, "base64 or utf8"},
		{tooltest.Args{"path": filepath.Join(path, "below"), "chunk_b64": "eA==", "done": true}, protocol.FaultInvalidArgs, ""},
		{tooltest.Args{"path": b.WS.Dir(), "chunk_b64": "eA==", "done": true}, protocol.FaultInvalidArgs, "it is a directory"},
		{tooltest.Args{"file_id": open, "path": path}, protocol.FaultInvalidArgs, "leave path"},
		{tooltest.Args{"file_id": open, "mode": "0600"}, protocol.FaultInvalidArgs, "leave path"},
		{tooltest.Args{"file_id": open, "encoding": "utf8"}, protocol.FaultInvalidArgs, "one encoding"},
		{tooltest.Args{"file_id": open, "encoding": "x"}, protocol.FaultInvalidArgs, "base64 or utf8"},
		{tooltest.Args{"file_id": open, "expected_sha256": sumOfHello}, protocol.FaultInvalidArgs, "leave path"},
		{tooltest.Args{"file_id": open, "chunk": "x"}, protocol.FaultInvalidArgs, "one encoding"},
	} {
		fault(b, "fs_write", c.args, c.code, c.text)
	}
	f := fault(b, "fs_write", tooltest.Args{"path": path, "chunk_b64": "eA==", "done": true, "expected_sha256": strings.Repeat("0", 64)}, protocol.FaultFailedPrecondition, sumOfHello)
	if string(f.Details) != `{"observed_sha256":"`+sumOfHello+`"}` {
		t.Errorf("got details %s, want the checksum %s", f.Details, sumOfHello)
	}
	if content(t, path) != "hello" {
		t.Errorf("got file %q, want hello", content(t, path))
	}
	// The wrong part did not end the session.
	if out := write(b, tooltest.Args{"file_id": open, "done": true}); !out.Done || content(t, path) != "x" {
		t.Errorf("got %+v, want x written", out)
	}
	if list, _ := os.ReadDir(b.WS.Dir()); len(list) != 1 {
		t.Errorf("got files %v, want one", list)
	}
}

func TestExpectedChecksumHoldsUntilTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("a", "hello")
	open := write(b, tooltest.Args{"path": path, "chunk_b64": b64("x"), "expected_sha256": strings.ToUpper(sumOfHello)})
	b.File("a", "changed meanwhile")
	fault(b, "fs_write", tooltest.Args{"file_id": open.FileID, "done": true}, protocol.FaultFailedPrecondition, "changed")
	if content(t, path) != "changed meanwhile" {
		t.Error("a changed file was replaced")
	}
	absent := tooltest.Args{"path": in(b, "new"), "chunk_b64": b64("x"), "expected_sha256": "absent", "done": true}
	write(b, absent)
	fault(b, "fs_write", absent, protocol.FaultFailedPrecondition, "")
}

func TestTwoWritersOfOneFileDoNotMix(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := in(b, "a")
	one := write(b, tooltest.Args{"path": path, "chunk_b64": b64("11")})
	two := write(b, tooltest.Args{"path": path, "chunk_b64": b64("22")})
	write(b, tooltest.Args{"file_id": one.FileID, "chunk_b64": b64("11")})
	write(b, tooltest.Args{"file_id": two.FileID, "chunk_b64": b64("22"), "done": true})
	if got := content(t, path); got != "2222" {
		t.Errorf("got %q, want 2222", got)
	}
	write(b, tooltest.Args{"file_id": one.FileID, "done": true})
	if got := content(t, path); got != "1111" {
		t.Errorf("got %q, want 1111", got)
	}
}

// BenchmarkRead reads 1 GiB in parts of 1 MiB.
func BenchmarkRead(b *testing.B) {
	bench := newBench(b)
	path := in(bench, "big")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	const size = 1 << 30
	block := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for range size / len(block) {
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
	}
	f.Close()
	b.SetBytes(size)
	for b.Loop() {
		for a := (tooltest.Args{"path": path, "max_bytes": maxPart}); ; {
			out := read(bench, a)
			if out.Done {
				break
			}
			a = tooltest.Args{"file_id": out.FileID, "max_bytes": maxPart}
		}
	}
}
