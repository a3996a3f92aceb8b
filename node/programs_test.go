package node

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func TestProgramsAreFoundInThePath(t *testing.T) {
	dir := t.TempDir()
	tool, want := "sometool", []string{"sometool"}
	if runtime.GOOS == "windows" {
		tool = "SomeTool.EXE"
	} else {
		if err := os.Symlink(filepath.Join(dir, tool), filepath.Join(dir, "alias")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "broken")); err != nil {
			t.Fatal(err)
		}
		want = []string{"alias", "sometool"}
	}
	if err := os.WriteFile(filepath.Join(dir, tool), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+filepath.Join(dir, "missing")+string(filepath.ListSeparator)+".")
	if got := programs(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
