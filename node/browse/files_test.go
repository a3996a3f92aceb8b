package browse

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

func browser(t *testing.T) (*Browser, string) {
	t.Helper()
	ws, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return New(ws, filepath.Join(ws.Dir(), "..", "past"), func(protocol.FilesChange) {}), ws.Dir()
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func do[R any](t *testing.T, b *Browser, name string, args any) (out R, err error) {
	t.Helper()
	in, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := b.Call(t.Context(), name, in)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out, nil
}

func TestListDescribesAFolder(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	put(t, filepath.Join(dir, "sub/a.txt"), "12345")
	put(t, filepath.Join(dir, "sub/deep/b"), "")
	when := time.UnixMilli(1_700_000_000_000)
	if err := os.Chtimes(filepath.Join(dir, "sub/a.txt"), when, when); err != nil {
		t.Fatal(err)
	}
	links := os.Symlink("a.txt", filepath.Join(dir, "sub/to-file")) == nil && os.Symlink("deep", filepath.Join(dir, "sub/to-folder")) == nil &&
		os.Symlink("nowhere", filepath.Join(dir, "sub/broken")) == nil
	l, err := do[protocol.FilesListResult](t, b, protocol.ActList, protocol.FilesListParams{Path: "sub"})
	if err != nil || l.Path != filepath.Join(dir, "sub") || l.Cut || l.ReadOnly {
		t.Fatalf("got %+v, error %v, want all of the folder sub", l, err)
	}
	got := map[string]protocol.FileInfo{}
	for _, e := range l.Entries {
		got[e.Name] = e
	}
	if e := got["a.txt"]; e.Kind != protocol.FileRegular || e.Size != 5 || e.Time != when.UnixMilli() || runtime.GOOS != "windows" && e.Mode != "-rw-r--r--" {
		t.Errorf("a.txt: got %+v, want a regular file of 5 bytes", e)
	}
	if e := got["deep"]; !e.Folder() || e.Kind != protocol.FileFolder {
		t.Errorf("deep: got %+v, want a folder", e)
	}
	if links && (got["to-file"].Leads != protocol.FileRegular || !got["to-folder"].Folder() || got["broken"].Kind != protocol.FileLink || got["broken"].Leads != "") {
		t.Errorf("links: got %+v, want one to a file, one to a folder and a broken one", got)
	}
	for path, want := range map[string]string{"none": "it does not exist", "sub/a.txt": "cannot open", filepath.Dir(dir): "outside the workspace"} {
		if _, err := do[protocol.FilesListResult](t, b, protocol.ActList, protocol.FilesListParams{Path: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v; want an error that contains %v", path, err, want)
		}
	}
}

func BenchmarkListOfFiftyThousand(b *testing.B) {
	dir := b.TempDir()
	for i := range 50_000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%05d.txt", i)), nil, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	ws, err := workspace.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	for b.Loop() {
		raw, err := New(ws, "", nil).Call(b.Context(), protocol.ActList, json.RawMessage(`{}`))
		if err != nil || len(raw) < 50_000 || len(raw) > protocol.MaxWriteFrame {
			b.Fatalf("got %d bytes, error %v, want a list that fits into a frame", len(raw), err)
		}
	}
}

func TestActionsAreDescribedInWords(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	put(t, filepath.Join(dir, "a"), "A")
	put(t, filepath.Join(dir, "b"), "B")
	if d, err := do[protocol.FilesDone](t, b, protocol.ActMake, protocol.FilesPathParams{Path: "new"}); err != nil || d.Path != filepath.Join(dir, "new") {
		t.Errorf("got %+v, error %v, want the folder new", d, err)
	}
	_, err := do[protocol.FilesDone](t, b, protocol.ActMove, protocol.FilesMoveParams{Path: "a", To: "b"})
	if want := "cannot move to '" + filepath.Join(dir, "b") + "': there is something of that name already"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if d, err := do[protocol.FilesDone](t, b, protocol.ActMove, protocol.FilesMoveParams{Path: "a", To: "new/a"}); err != nil || d.Path != filepath.Join(dir, "new", "a") {
		t.Errorf("got %+v, error %v, want new/a", d, err)
	}
	if _, err := b.Call(t.Context(), "Files.Fly", nil); err == nil || !strings.Contains(err.Error(), "does not support") {
		t.Errorf(`got %v; want an error with "does not support"`, err)
	}
	if _, err := b.Call(t.Context(), protocol.ActMake, json.RawMessage(`[]`)); err == nil {
		t.Error("a list is no argument")
	}
}

func TestFailedTrashReportsItsProgress(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	put(t, filepath.Join(dir, "a"), "A")
	put(t, filepath.Join(dir, "b"), "B")
	out, err := do[protocol.FilesTrashResult](t, b, protocol.ActTrash, protocol.FilesTrashParams{Paths: []string{"a", "none", "b"}})
	if err != nil || len(out.Items) != 1 || out.Items[0].Path != filepath.Join(dir, "a") || !strings.Contains(out.Problem, "cannot delete") {
		t.Fatalf("got %+v, error %v, want a in the trash and a problem with the next", out, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "b")); err != nil {
		t.Error("what came after the problem was deleted")
	}
	if d, err := do[protocol.FilesDone](t, b, protocol.ActRestore, protocol.FilesRestoreParams{ID: out.Items[0].ID, Path: "a"}); err != nil || d.Path != filepath.Join(dir, "a") {
		t.Errorf("got %+v, error %v, want a at its place", d, err)
	}
	if _, err := do[protocol.FilesTrashResult](t, b, protocol.ActTrash, protocol.FilesTrashParams{Paths: []string{"none"}}); err == nil {
		t.Error("nothing was deleted, and nobody said so")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Call(ctx, protocol.ActTrash, json.RawMessage(`{"paths":["a"]}`)); err == nil {
		t.Error("a call that was stopped went on")
	}
}

func TestWatchedListReportsChangedSubfolders(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells of what is below a folder")
	}
	ws, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	changes := make(chan protocol.FilesChange, 100)
	b := New(ws, "", func(c protocol.FilesChange) { changes <- c })
	t.Cleanup(b.Close)
	put(t, filepath.Join(ws.Dir(), "a/b/c"), "")
	if l, err := do[protocol.FilesListResult](t, b, protocol.ActList, protocol.FilesListParams{Watch: true, WatchID: "w", Below: true}); err != nil || l.WatchID != "w" {
		t.Fatalf("got %+v, error %v, want a watched folder", l, err)
	}
	for limit := time.Now().Add(3 * time.Minute); time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		put(t, filepath.Join(ws.Dir(), "a/b/c"), "again, until the folder is watched")
		for len(changes) > 0 {
			if c := <-changes; slices.Equal(c.Below, []string{"a/b"}) && slices.Equal(c.WatchIDs, []string{"w"}) && c.Path == ws.Dir() {
				return
			}
		}
	}
	t.Fatal("got no change of a/b in time, want one")
}
