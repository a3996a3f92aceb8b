package computer

import (
	"os"
	"path/filepath"
	"testing"
)

func TestProgramFolderIsNotUsedAsWorkspace(t *testing.T) {
	programs := t.TempDir()
	t.Setenv("ProgramFiles", programs)
	beside := programs + "-mine"
	for dir, want := range map[string]bool{
		filepath.VolumeName(programs) + string(filepath.Separator): true,
		programs:                            true,
		filepath.Join(programs, "Fairlead"): true,
		beside:                              false,
		t.TempDir():                         false,
	} {
		t.Run(dir, func(t *testing.T) {
			if got := isSystemDefault(dir); got != want {
				t.Errorf("%s: got %v, want %v", dir, got, want)
			}
		})
	}
	if err := os.Mkdir(filepath.Join(programs, "Fairlead"), 0o755); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Chdir(filepath.Join(programs, "Fairlead"))
	if got := Workspace(); got != home {
		t.Errorf("started in a folder of programs: got %s, want %s", got, home)
	}
	mine := t.TempDir()
	t.Chdir(mine)
	if got := Workspace(); got != mine {
		t.Errorf("started in another folder: got %s, want %s", got, mine)
	}
}
