package browse

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead/gateway/protocol"
)

func TestNamesThatAreNoTextCanBeMovedAndBroughtBack(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	put(t, filepath.Join(dir, "f\xe9/caf\xe9"), "x")
	top, err := do[protocol.FilesListResult](t, b, protocol.ActList, protocol.FilesListParams{})
	if err != nil || len(top.Entries) != 1 || top.Entries[0].Name != `f\xE9` {
		t.Fatalf("%+v, %v", top, err)
	}
	folder := filepath.Join(top.Path, top.Entries[0].Name)
	list, err := do[protocol.FilesListResult](t, b, protocol.ActList, protocol.FilesListParams{Path: folder})
	if err != nil || list.Path != folder || len(list.Entries) != 1 || list.Entries[0].Name != `caf\xE9` || list.Entries[0].Size != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	moved, err := do[protocol.FilesDone](t, b, protocol.ActMove, protocol.FilesMoveParams{Path: filepath.Join(folder, `caf\xE9`), To: filepath.Join(folder, `th\xE9`)})
	if err != nil || moved.Path != filepath.Join(folder, `th\xE9`) {
		t.Fatalf("%+v, %v", moved, err)
	}
	gone, err := do[protocol.FilesTrashResult](t, b, protocol.ActTrash, protocol.FilesTrashParams{Paths: []string{moved.Path}})
	if err != nil || len(gone.Items) != 1 || gone.Items[0].Path != moved.Path {
		t.Fatalf("%+v, %v", gone, err)
	}
	back, err := do[protocol.FilesDone](t, b, protocol.ActRestore, protocol.FilesRestoreParams{ID: gone.Items[0].ID})
	if err != nil || back.Path != moved.Path {
		t.Fatalf("%+v, %v", back, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "f\xe9/th\xe9")); err != nil || string(data) != "x" {
		t.Errorf("%q, %v", data, err)
	}
}
