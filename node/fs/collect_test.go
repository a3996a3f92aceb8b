package fs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/peer/diff"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

// collectAll begins a file in parts, with its whole content, and returns the arguments of its last
// call.
func collectAll(b *tooltest.Bench, path, text string) tooltest.Args {
	b.T.Helper()
	first := write(b, tooltest.Args{"path": path, "chunk": text[:1]})
	out := write(b, tooltest.Args{"file_id": first.FileID, "chunk": text[1:]})
	if !first.Collects || !out.Collects {
		b.T.Fatalf("got %+v, %+v, want parts that are collected", first, out)
	}
	return tooltest.Args{"file_id": out.FileID, "path": out.Path, "sha256": out.SHA256, "done": true}
}

// unfinishedParts returns the files of unfinished parts in a folder.
func unfinishedParts(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".fairlead-") {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}

func TestFirstPartHasNoEffectToAskAbout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := tooltest.Preview(b, "fs_write", tooltest.Args{"path": b.File("a", "old"), "chunk": "x"})
	if !p.Collects || p.Diff != "" || p.Problem != "" {
		t.Errorf("preview %+v, want one that only collects", p)
	}
	outside := tooltest.Preview(b, "fs_write", tooltest.Args{"path": filepath.Join(tooltest.Folder(t), "x"), "chunk": "x"})
	if !outside.Collects || !outside.Outside || len(outside.Folders) != 0 {
		t.Errorf("preview outside %+v, want no folder to open", outside)
	}
}

func TestLastPartShowsTheWholeChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("a", "old\n")
	last := collectAll(b, path, "one\ntwo\n")
	p := tooltest.Preview(b, "fs_write", last)
	if p.Path != workspace.RealPath(path) || !strings.Contains(p.Diff, "+one\n+two") || p.Truncated || p.Collects || p.FileSHA256 != fileSum(t, path) {
		t.Errorf("preview %+v, want the diff", p)
	}
	if out := write(b, last); !out.Done || content(t, path) != "one\ntwo\n" {
		t.Errorf("got %+v, file %q, want it done with %q", out, content(t, path), "one\ntwo\n")
	}
	out := write(b, tooltest.Args{"path": path, "chunk_b64": b64("\x89PNG\r\n\x1a\n\x00")})
	p = tooltest.Preview(b, "fs_write", tooltest.Args{"file_id": out.FileID, "path": path, "sha256": out.SHA256, "done": true})
	if c := p.Content; c == nil || c.Bytes != 9 || c.Type != "image/png" || len(c.SHA256) != 64 || !p.Truncated {
		t.Errorf("content %+v, want size, type and checksum", c)
	}
}

func TestLongChangeShowsItsBeginningAndItsContent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := strings.Repeat("a line of text\n", 10_000)
	p := tooltest.Preview(b, "fs_write", collectAll(b, b.File("a", "old\n"), text))
	if !p.Truncated || p.Added != 10_000 || !strings.HasPrefix(p.Diff, "--- a\n+++ a\n") || len(p.Diff) > diff.MaxQuestion {
		t.Errorf("got %d bytes of a diff of %d lines, truncated %v, want the beginning of 10000 lines", len(p.Diff), p.Added, p.Truncated)
	}
	if c := p.Content; c == nil || c.Bytes != int64(len(text)) || c.Type != "text/plain" {
		t.Errorf("got content %+v, want %d bytes of text/plain", c, len(text))
	}
}

func TestWriteShowsTheChangeOfUTF16(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("a", "\xff\xfeo\x00\n\x00")
	p := tooltest.Preview(b, "fs_write", tooltest.Args{"path": path, "chunk_b64": b64("\xff\xfen\x00\n\x00"), "done": true})
	if want := "--- a\n+++ a\n@@ -1 +1 @@\n-o\n+n\n"; p.Diff != want || p.Truncated {
		t.Errorf("got diff %q, truncated %v, want %q", p.Diff, p.Truncated, want)
	}
}

func TestOnlyTheShownContentTakesEffect(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("a", "old")
	for name, c := range map[string]struct {
		change func(last tooltest.Args)
		code   protocol.FaultCode
		text   string
	}{
		"another part":     {func(l tooltest.Args) { write(b, tooltest.Args{"file_id": l["file_id"], "chunk": "more"}) }, protocol.FaultFailedPrecondition, "not that of the call"},
		"another checksum": {func(l tooltest.Args) { l["sha256"] = sumOfHello }, protocol.FaultFailedPrecondition, "not that of the call"},
		"another path":     {func(l tooltest.Args) { l["path"] = in(b, "b") }, protocol.FaultInvalidArgs, "its path"},
		"a hidden part":    {func(l tooltest.Args) { l["chunk"] = "more" }, protocol.FaultInvalidArgs, "alone"},
		"another program's write": {func(tooltest.Args) {
			for _, name := range unfinishedParts(t, b.WS.Dir()) {
				if err := os.WriteFile(name, []byte("evil"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}, protocol.FaultFailedPrecondition, ""},
	} {
		last := collectAll(b, path, "shown")
		c.change(last)
		if f := fault(b, "fs_write", last, c.code, c.text); content(t, path) != "old" {
			t.Errorf("%s: got file %q after %v, want old", name, content(t, path), f)
		}
		_, _ = tooltest.Call[writeOut](b, "fs_write", tooltest.Args{"file_id": last["file_id"], "abort": true}) // some are gone
	}
	if left := unfinishedParts(t, b.WS.Dir()); len(left) != 0 {
		t.Errorf("got unfinished parts %v, want none", left)
	}
}

func TestPartsOfAFileElsewhereAreCollectedInTheWorkspace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	outside := tooltest.Folder(t)
	for _, path := range []string{in(b, "new/folder/x"), filepath.Join(outside, "x")} {
		last := collectAll(b, path, "hello")
		if list, _ := os.ReadDir(outside); len(list) != 0 || len(unfinishedParts(t, b.WS.Dir())) != 1 {
			t.Errorf("%s: got %v and parts %v, want the parts in the workspace alone", path, list, unfinishedParts(t, b.WS.Dir()))
		}
		p := tooltest.Preview(b, "fs_write", last)
		if _, err := tooltest.CallContext[writeOut](t.Context(), access.Call{Folders: p.Folders, Target: p.Path}, b, "fs_write", last); err != nil || content(t, path) != "hello" {
			t.Errorf(`%s: got %v; want no error, and "hello" in the file`, path, err)
		}
		if left := unfinishedParts(t, b.WS.Dir()); len(left) != 0 {
			t.Errorf("%s: got unfinished parts %v, want none", path, left)
		}
	}
	last := collectAll(b, filepath.Join(outside, "y"), "hello")
	fault(b, "fs_write", last, protocol.FaultPermissionDenied, "")
	if _, err := os.Stat(filepath.Join(outside, "y")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the folder: got %v, want no file", err)
	}
}

func TestCompleteFileWaitsForTheAnswer(t *testing.T) {
	t.Parallel()
	ws := openWorkspace(t)
	synctest.Test(t, func(t *testing.T) {
		f := writeTool{newTransfers()}
		text := "hello"
		out, err := f.run(t.Context(), ws, access.Call{}, writeIn{Path: filepath.Join(ws.Dir(), "new"), Chunk: &text})
		if err != nil {
			t.Fatal(err)
		}
		last := writeIn{FileID: out.FileID, Path: out.Path, SHA256: out.SHA256, Done: true}
		if p := f.previewLast(access.Scope{Root: ws}, last); p.Problem != "" {
			t.Fatalf("got problem %q, want none", p.Problem)
		}
		time.Sleep(hold - time.Hour)
		if _, err := f.run(t.Context(), ws, access.Call{}, last); err != nil {
			t.Errorf("after the answer: %v", err)
		}
	})
}
