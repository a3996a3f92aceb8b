package fs

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func TestMain(m *testing.M) { os.Exit(tooltest.Main(m)) }

func newBench(t testing.TB) *tooltest.Bench {
	t.Helper()
	return tooltest.New(t, func(ws *workspace.Root) []toolkit.Tool[access.Call] { return Tools(access.Scope{Root: ws}) })
}

func openWorkspace(t *testing.T) *workspace.Root {
	t.Helper()
	ws, err := workspace.Open(tooltest.Folder(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// fault checks that a call fails with a code and a text, and returns the failure.
func fault(b *tooltest.Bench, tool string, a tooltest.Args, code protocol.FaultCode, text string) *protocol.Fault {
	b.T.Helper()
	out, err := tooltest.Call[map[string]any](b, tool, a)
	f, _ := errors.AsType[*protocol.Fault](err)
	if f == nil {
		b.T.Errorf("%s(%v): got %v, %v, want %s", tool, a, out, err, code)
		return &protocol.Fault{}
	}
	if f.Code != code || !strings.Contains(f.Message, text) {
		b.T.Errorf("%s(%v): got %s %q, want %s %q", tool, a, f.Code, f.Message, code, text)
	}
	return f
}

func read(b *tooltest.Bench, a tooltest.Args) readOut {
	b.T.Helper()
	return tooltest.Must[readOut](b, "fs_read", a)
}

func write(b *tooltest.Bench, a tooltest.Args) writeOut {
	b.T.Helper()
	return tooltest.Must[writeOut](b, "fs_write", a)
}

// in returns a path in the workspace.
func in(b *tooltest.Bench, name string) string {
	return filepath.Join(b.WS.Dir(), filepath.FromSlash(name))
}

const sumOfHello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func content(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func fileSum(t testing.TB, path string) string {
	sum := sha256.Sum256([]byte(content(t, path)))
	return hex.EncodeToString(sum[:])
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func TestPathsMustBeAbsolute(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, tool := range []string{"fs_read", "fs_write", "fs_list", "fs_stat", "fs_delete", "fs_mkdir", "fs_fetch"} {
		a := tooltest.Args{"path": "relative.txt"}
		if tool == "fs_fetch" {
			a["url"] = "http://127.0.0.1/x"
		}
		fault(b, tool, a, protocol.FaultInvalidArgs, "absolute")
		a["path"] = ""
		fault(b, tool, a, protocol.FaultInvalidArgs, "path is required")
		if p := tooltest.Preview(b, tool, tooltest.Args{"path": "relative.txt", "url": "http://127.0.0.1/x"}); tool == "fs_fetch" && p.Problem == "" {
			t.Errorf("%s: got no problem of a relative path, want one", tool)
		}
	}
}

func TestFilesOutsideAreNotReached(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	outside := tooltest.Folder(t)
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := in(b, "link")
	if err := os.Symlink(outside, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	for _, path := range []string{secret, filepath.Join(link, "secret")} {
		fault(b, "fs_read", tooltest.Args{"path": path}, protocol.FaultPermissionDenied, "")
		fault(b, "fs_write", tooltest.Args{"path": path, "chunk_b64": b64("y"), "done": true}, protocol.FaultPermissionDenied, "")
		fault(b, "fs_delete", tooltest.Args{"path": path}, protocol.FaultPermissionDenied, "")
		fault(b, "fs_mkdir", tooltest.Args{"path": path + "dir"}, protocol.FaultPermissionDenied, "")
		p := tooltest.Preview(b, "fs_write", tooltest.Args{"path": path, "chunk_b64": b64("y"), "done": true})
		if !p.Outside || len(p.Folders) != 1 || !p.Folders[0].Write {
			t.Errorf("%s: got preview %+v, want a folder to open for writing", path, p)
		}
		// With the folder that the person opened, it is reached.
		call := access.Call{Folders: p.Folders}
		out, err := tooltest.CallContext[readOut](t.Context(), call, b, "fs_read", tooltest.Args{"path": path, "encoding": "utf8"})
		if err != nil || out.Chunk == nil || *out.Chunk != "x" {
			t.Errorf("%s: got %+v, error %v, want x", path, out, err)
		}
	}
	if content(t, secret) != "x" {
		t.Error("a file outside was changed")
	}
}

func TestPreviewBindsAWriteToTheFileThatThePersonSaw(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("a.txt", "one\n")
	a := tooltest.Args{"path": path, "encoding": "utf8", "chunk": "two\n", "done": true}
	p := tooltest.Preview(b, "fs_write", a)
	if p.Path != workspace.RealPath(path) || p.NewFile || p.Added != 1 || p.Removed != 1 || !strings.Contains(p.Diff, "+two") || p.FileSHA256 == "" || p.Truncated || p.Problem != "" {
		t.Errorf("got preview %+v, want the change of one line", p)
	}
	b.File("a.txt", "three\n")
	_, err := tooltest.CallContext[writeOut](t.Context(), access.Call{ExpectedSHA256: p.FileSHA256, Target: p.Path}, b, "fs_write", a)
	if f, _ := errors.AsType[*protocol.Fault](err); f == nil || f.Code != protocol.FaultFailedPrecondition {
		t.Errorf("got error %v, want %s", err, protocol.FaultFailedPrecondition)
	}
	if content(t, path) != "three\n" {
		t.Error("the changed file was replaced")
	}
	if p := tooltest.Preview(b, "fs_write", tooltest.Args{"path": path, "expected_sha256": strings.ToUpper(fileSum(t, path))}); p.Problem != "" {
		t.Errorf("with the checksum in capitals: got problem %q, want none", p.Problem)
	}
	missing := tooltest.Preview(b, "fs_write", tooltest.Args{"path": in(b, "new"), "encoding": "utf8", "chunk": "x", "done": true})
	if !missing.NewFile || missing.FileSHA256 != workspace.Absent || missing.Problem != "" || missing.Added != 1 {
		t.Errorf("of a new file: got preview %+v, want an absent file", missing)
	}
	if part := tooltest.Preview(b, "fs_write", tooltest.Args{"path": path}); !part.Truncated || part.Diff != "" || part.Problem != "" {
		t.Errorf("of the first part: got preview %+v, want no diff", part)
	}
	if binary := tooltest.Preview(b, "fs_write", tooltest.Args{"path": path, "chunk_b64": "AP8=", "done": true}); !binary.Truncated {
		t.Errorf("of a binary file: got preview %+v, want a truncated one", binary)
	}
	for text, a := range map[string]tooltest.Args{
		"mode":     {"path": path, "mode": "9"},
		"encoding": {"path": path, "encoding": "latin1"},
		"Base64":   {"path": path, "chunk_b64": "!"},
		"changed":  {"path": path, "expected_sha256": sumOfHello},
	} {
		if p := tooltest.Preview(b, "fs_write", a); !strings.Contains(p.Problem, text) {
			t.Errorf("got problem %q, want %q in it", p.Problem, text)
		}
	}
}

func TestPreviewsOfOtherToolsNameThePath(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("d/a.txt", "x")
	for tool, a := range map[string]tooltest.Args{
		"fs_read": {"path": path}, "fs_stat": {"path": path}, "fs_list": {"path": filepath.Dir(path)}, "fs_delete": {"path": path}, "fs_mkdir": {"path": filepath.Dir(path), "recursive": true},
		"fs_fetch": {"path": path, "url": "https://example.org/x"},
	} {
		p := tooltest.Preview(b, tool, a)
		if p.Path != workspace.RealPath(a["path"].(string)) || p.Problem != "" || p.Network != (tool == "fs_fetch") {
			t.Errorf("%s: got preview %+v, want the path, and the network for a download", tool, p)
		}
	}
	for tool, a := range map[string]tooltest.Args{
		"fs_delete": {"path": filepath.Dir(path)}, "fs_mkdir": {"path": filepath.Dir(path)}, "fs_fetch": {"path": path, "url": "ftp://x"}, "fs_read": {"path": in(b, "none")},
	} {
		if p := tooltest.Preview(b, tool, a); p.Problem == "" {
			t.Errorf("%s(%v): got no problem, want one", tool, a)
		}
	}
}

func TestOpenFilesExpire(t *testing.T) {
	t.Parallel()
	ws := openWorkspace(t)
	synctest.Test(t, func(t *testing.T) {
		f := writeTool{newTransfers()}
		path := filepath.Join(ws.Dir(), "new")
		out, err := f.run(t.Context(), ws, access.Call{}, writeIn{Path: path, Encoding: encodingUTF8})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(idle)
		synctest.Wait()
		if n := len(f.open.open); n != 0 {
			t.Errorf("open files after %v: got %d, want none", idle, n)
		}
		_, err = f.run(t.Context(), ws, access.Call{}, writeIn{FileID: out.FileID, Done: true})
		if e, _ := errors.AsType[*protocol.Fault](err); e == nil || e.Code != protocol.FaultNotFound {
			t.Errorf("continuing an expired file: got %v, want %s", err, protocol.FaultNotFound)
		}
	})
	if list, _ := os.ReadDir(ws.Dir()); len(list) != 0 {
		t.Errorf("files left behind: got %v, want none", list)
	}
}

func TestOpenFileInUseDoesNotExpire(t *testing.T) {
	t.Parallel()
	ws := openWorkspace(t)
	synctest.Test(t, func(t *testing.T) {
		f := writeTool{newTransfers()}
		out, err := f.run(t.Context(), ws, access.Call{}, writeIn{Path: filepath.Join(ws.Dir(), "new")})
		for range 3 {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(idle - time.Minute)
			_, err = f.run(t.Context(), ws, access.Call{}, writeIn{FileID: out.FileID})
		}
		time.Sleep(idle + time.Minute)
		_, err = f.run(t.Context(), ws, access.Call{}, writeIn{FileID: out.FileID})
		if e, _ := errors.AsType[*protocol.Fault](err); e == nil || e.Code != protocol.FaultNotFound {
			t.Errorf("unused for longer: %v", err)
		}
	})
}

func TestOpenFilesAreLimited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("a", strings.Repeat("x", 10))
	for range maxOpen {
		if out := read(b, tooltest.Args{"path": path, "max_bytes": 1}); out.Done {
			t.Fatal("done at once")
		}
	}
	fault(b, "fs_read", tooltest.Args{"path": path, "max_bytes": 1}, protocol.FaultResourceExhausted, "64 files")
	fault(b, "fs_write", tooltest.Args{"path": in(b, "new")}, protocol.FaultResourceExhausted, "64 files")
	if list, _ := os.ReadDir(b.WS.Dir()); len(list) != 1 {
		t.Errorf("got files %v, want one", list)
	}
}

func TestLimitsAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()
	tooltest.Documented(t, "a `chunk` of at most %d MiB (%d KiB by default)", maxPart>>20, defaultPart>>10)
	tooltest.Documented(t, "nobody continues for %.0f minutes is closed; a token has at most %d open on a machine", idle.Minutes(), maxOpen)
	tooltest.Documented(t, "get %04o, new folders %04o", newFileMode, newFolderMode)
	tooltest.Documented(t, "stays for %.0f days", workspace.TrashAge.Hours()/24)
	tooltest.Documented(t, "fewer than %s segments needs `force`", []string{2: "two", 3: "three", 4: "four"}[minDepth])
	tooltest.Documented(t, "returns at most %s entries (`limit`, up to %s)", tooltest.Grouped(defaultEntries), tooltest.Grouped(maxEntries))
	tooltest.Documented(t, "(%d MiB by default, at most %d GiB, within %.0f minutes)", defaultFetch>>20, maxFetch>>30, downloadLimit.Minutes())
	b := newBench(t)
	path := b.File("a", strings.Repeat("x", maxPart+1))
	for most, want := range map[int]int{0: 262_144, maxPart: 1_048_576} {
		if out := read(b, tooltest.Args{"path": path, "max_bytes": most}); out.Size != want {
			t.Errorf("max_bytes %d: got %d bytes, want %d", most, out.Size, want)
		}
	}
}

func TestCancelledCallsAreNoFaults(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := newBench(t)
	if _, err := tooltest.CallContext[listOut](ctx, access.Call{}, b, "fs_list", tooltest.Args{"path": b.WS.Dir()}); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want none or %v", err, context.Canceled)
	}
}
