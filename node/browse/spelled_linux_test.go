package browse

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead/gateway/protocol"
)

func TestNamesThatAreNotTextCanBeMovedAndRestored(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	put(t, filepath.Join(dir, "f\xe9/caf\xe9"), "x")
	top, err := do[protocol.FilesListResult](t, b, protocol.ActList, protocol.FilesListParams{})
	if err != nil || len(top.Entries) != 1 || top.Entries[0].Name != `f\xE9` {
		t.Fatalf("got %+v, error %v, want one folder, spelled %s", top, err, `f\xE9`)
	}
	folder := filepath.Join(top.Path, top.Entries[0].Name)
	list, err := do[protocol.FilesListResult](t, b, protocol.ActList, protocol.FilesListParams{Path: folder})
	if err != nil || list.Path != folder || len(list.Entries) != 1 || list.Entries[0].Name != `caf\xE9` || list.Entries[0].Size != 1 {
		t.Fatalf("got %+v, error %v, want one file, spelled %s", list, err, `caf\xE9`)
	}
	moved, err := do[protocol.FilesDone](t, b, protocol.ActMove, protocol.FilesMoveParams{Path: filepath.Join(folder, `caf\xE9`), To: filepath.Join(folder, `th\xE9`)})
	if err != nil || moved.Path != filepath.Join(folder, `th\xE9`) {
		t.Fatalf("got %+v, error %v, want a path that ends with %s", moved, err, `th\xE9`)
	}
	gone, err := do[protocol.FilesTrashResult](t, b, protocol.ActTrash, protocol.FilesTrashParams{Paths: []string{moved.Path}})
	if err != nil || len(gone.Items) != 1 || gone.Items[0].Path != moved.Path {
		t.Fatalf("got %+v, error %v, want %s in the trash", gone, err, moved.Path)
	}
	back, err := do[protocol.FilesDone](t, b, protocol.ActRestore, protocol.FilesRestoreParams{ID: gone.Items[0].ID})
	if err != nil || back.Path != moved.Path {
		t.Fatalf("got %+v, error %v, want %s", back, err, moved.Path)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "f\xe9/th\xe9")); err != nil || string(data) != "x" {
		t.Errorf("got %q, error %v, want x", data, err)
	}
}
