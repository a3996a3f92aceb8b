//go:build unix

package file

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/access"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func TestSpecialFilesAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ws, err := workspace.Config{Dir: b.WS.Dir(), WholeDisk: true}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := syscall.Mkfifo(filepath.Join(ws.Dir(), "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	tools := map[string]toolkit.Tool[access.Call]{}
	for _, tl := range Tools(access.Scope{Root: ws}) {
		tools[tl.Spec.Name] = tl
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for path, what := range map[string]string{"pipe": "it is a named pipe", "/dev/zero": "it is a device", "/dev/tty": "it is a device", "/dev": "it is a directory"} {
			for name, a := range map[string]tooltest.Args{
				"Read": {"path": path}, "Write": {"path": path, "content": "x"}, "Edit": {"path": path, "oldString": "a", "newString": "b"},
			} {
				_, err := tools[name].Call(t.Context(), access.Call{}, tooltest.Encode(t, a))
				if err == nil || !strings.HasPrefix(err.Error(), "Failed to ") {
					t.Errorf("%s(%s): got error %v, want that it failed", name, path, err)
				} else if !strings.Contains(err.Error(), what) {
					t.Errorf("%s(%s): got error %v, want %q in it", name, path, err, what)
				}
				if p, _, err := tools[name].Preview(t.Context(), access.Call{}, tooltest.Encode(t, a)); err != nil || p.Problem == "" && name != "Read" {
					t.Errorf("preview of %s(%s): got %+v, error %v, want a problem", name, path, p, err)
				}
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(3 * time.Minute):
		t.Fatal("something waited for the other end of a pipe")
	}
}

func TestFilesWithoutASizeAreRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	ws, err := workspace.Config{Dir: t.TempDir(), WholeDisk: true}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	read := Tools(access.Scope{Root: ws})[0]
	for _, path := range []string{"/proc/cpuinfo", "/proc/meminfo"} {
		t.Run(path, func(t *testing.T) {
			raw, err := read.Call(t.Context(), access.Call{}, tooltest.Encode(t, tooltest.Args{"path": path}))
			if err != nil || len(raw) < 200 {
				t.Errorf("got %.100s, error %v, want a page", raw, err)
			}
			if raw, err := read.Call(t.Context(), access.Call{}, tooltest.Encode(t, tooltest.Args{"path": path, "offset": 3, "limit": 1})); err != nil || !strings.Contains(string(raw), `"content":"4\t`) {
				t.Errorf("got %.100s, error %v, want line 4", raw, err)
			}
		})
	}
}

func TestReadDoesNotWaitForTheKernelLog(t *testing.T) {
	t.Parallel()
	const log = "/proc/kmsg" // reading it to its end blocks
	if _, err := os.Stat(log); err != nil {
		t.Skip("there is no " + log)
	}
	ws, err := workspace.Config{Dir: t.TempDir(), WholeDisk: true}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if raw, err := Tools(access.Scope{Root: ws})[0].Call(t.Context(), access.Call{}, tooltest.Encode(t, tooltest.Args{"path": log})); err == nil {
			t.Errorf("got %.100s, want an error because the file grows", raw)
		}
	}()
	select {
	case <-done:
	case <-time.After(3 * time.Minute):
		t.Fatal("it waits")
	}
}

func TestWritePreservesModeAndOwner(t *testing.T) {
	b := newBench(t)
	for _, mode := range []os.FileMode{0o600, 0o755, 0o640, 0o444 | 0o200} {
		path := b.File("f", "old")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() == 0 {
			os.Chown(path, 12, 34)
		}
		tooltest.Must[editOut](b, "Edit", tooltest.Args{"path": "f", "oldString": "old", "newString": "new"})
		tooltest.Must[writeOut](b, "Write", tooltest.Args{"path": "f", "content": "newer"})
		info, err := os.Stat(path)
		if err != nil || info.Mode() != mode {
			t.Errorf("got mode %v, error %v, want %v", info.Mode(), err, mode)
		}
		if st, ok := info.Sys().(*syscall.Stat_t); os.Geteuid() == 0 && (!ok || st.Uid != 12 || st.Gid != 34) {
			t.Errorf("got owner %+v, want 12:34", st)
		}
	}
}

// Whole disk, granted folders and a read-only one, through the tools and their previews.
func TestToolsObeyGrants(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"ws", "rw", "ro", "out"} {
		os.MkdirAll(filepath.Join(base, d), 0o755)
		os.WriteFile(filepath.Join(base, d, "f"), []byte("text"), 0o644)
	}
	ws, err := workspace.Config{Dir: base + "/ws", Grants: []workspace.Grant{{Dir: base + "/rw"}, {Dir: base + "/ro", ReadOnly: true}}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	list := Tools(access.Scope{Root: ws})
	for dir, can := range map[string][2]bool{"ws": {true, true}, "rw": {true, true}, "ro": {true, false}, "out": {false, false}} {
		t.Run(dir, func(t *testing.T) {
			path := filepath.Join(base, dir, "f")
			for i, a := range []tooltest.Args{{"path": path}, {"path": path, "content": "text"}, {"path": path, "oldString": "text", "newString": "text2"}} {
				ok := can[min(i, 1)]
				p, _, err := list[i].Preview(t.Context(), access.Call{}, tooltest.Encode(t, a))
				opens := dir == "out" && len(p.Folders) == 1 && p.Folders[0].Path == filepath.Dir(path) // the person may open it, for one call
				if err != nil || (p.Problem == "") != (ok || opens) || (dir == "out") != opens || p.Outside != (dir == "out") {
					t.Errorf("preview of %s(%s): got %+v, error %v, want success: %v", list[i].Spec.Name, path, p, err, ok)
				}
				if _, err := list[i].Call(t.Context(), access.Call{}, tooltest.Encode(t, a)); (err == nil) != ok || !ok && !opens && err.Error() != p.Problem {
					t.Errorf("%s(%s): got error %v, want the preview's problem %q", list[i].Spec.Name, path, err, p.Problem)
				}
			}
			if data, _ := os.ReadFile(path); string(data) != map[bool]string{true: "text2", false: "text"}[can[1]] {
				t.Errorf("%s: got %q, want it changed: %v", path, data, can[1])
			}
		})
	}
}

// A preview must agree with the call.
func TestPreviewMatchesTheCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.File("f", "one\ntwo\n")
	b.File("d/f", "")
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "f"), []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Symlink(filepath.Join(other, "f"), filepath.Join(b.WS.Dir(), "out"))
	os.Symlink("loop", filepath.Join(b.WS.Dir(), "loop"))
	syscall.Mkfifo(filepath.Join(b.WS.Dir(), "pipe"), 0o600)
	for _, path := range []string{"f", "d", "d/f", "none", "none/deep", "f/x", "out", "loop", "pipe", "../x", "", "a\x00", strings.Repeat("n", 300)} {
		for name, a := range map[string]tooltest.Args{"Write": {"path": path, "content": "x"}, "Edit": {"path": path, "oldString": "two", "newString": "2"}} {
			t.Run(name, func(t *testing.T) {
				p := tooltest.Preview(b, name, a)
				if len(p.Folders) > 0 {
					if _, err := b.Tools[name].Call(t.Context(), access.Call{}, tooltest.Encode(t, a)); err == nil {
						t.Errorf("%s(%.40q): got no error, want one without an opened folder", name, path)
					}
				}
				_, err := b.Tools[name].Call(t.Context(), access.Call{Folders: p.Folders}, tooltest.Encode(t, a))
				if (err == nil) != (p.Problem == "") {
					t.Errorf("%s(%.40q): got error %v, want the preview's problem %q", name, path, err, p.Problem)
				}
				if err == nil && p.Diff == "" && path != "d/f" {
					t.Errorf("%s(%q): got preview %+v, want a diff", name, path, p)
				}
				b.File("f", "one\ntwo\n")
				os.RemoveAll(filepath.Join(b.WS.Dir(), "none"))
			})
		}
	}
}
