package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

func TestAFolderOfProgramsIsNotTakenForTheWorkspace(t *testing.T) {
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
				t.Errorf("%s: %v", dir, got)
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
	b := &backend{prefs: openPrefs(t.TempDir(), slog.Default())}
	defer b.prefs.close()
	if got := b.workspace(); got != home {
		t.Errorf("it works in %s", got)
	}
	mine := t.TempDir()
	t.Chdir(mine)
	if got := b.workspace(); got != mine {
		t.Errorf("it works in %s, not where it was started", got)
	}
}
