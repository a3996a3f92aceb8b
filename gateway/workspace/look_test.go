package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// TestReadingAnUnknownAgentCreatesNothing: a listing used to create the folder, with all files of
// a new agent.
func TestReadingAnUnknownAgentCreatesNothing(t *testing.T) {
	home := t.TempDir()
	w := NewFiles(home, config.Default)
	list, err := w.List("ghost", "/")
	if err != nil || list.Path != "/" || list.Files == nil || len(list.Files) != 0 || !slices.Equal(list.Directories, []string{"skills/"}) {
		t.Errorf(`got %+v %v; want no error, Path "/", a Files, no Files and Directories %v`, list, err, []string{"skills/"})
	}
	if list, err := w.List("ghost", "skills"); err != nil || len(list.Directories) == 0 {
		t.Errorf("the skills that all share: %+v %v", list, err)
	}
	if _, err := w.List("ghost", "memory"); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("got %v; want the error protocol.ErrNotFound", err)
	}
	if _, list, err := w.Read("ghost", ""); err != nil || list == nil {
		t.Errorf("got %+v %v; want no error and a list", list, err)
	}
	for _, name := range []string{"SOUL.md", "skills/none/SKILL.md", "a/b"} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := w.Read("ghost", name); !errors.Is(err, protocol.ErrNotFound) {
				t.Errorf("read %s: %v, want error ErrNotFound", name, err)
			}
			if _, err := w.Delete("ghost", name); !errors.Is(err, protocol.ErrNotFound) {
				t.Errorf("delete %s: %v, want error ErrNotFound", name, err)
			}
		})
	}
	if _, err := w.Delete("ghost", ""); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("got %v; want the error protocol.ErrBadRequest", err)
	}
	if skills, err := w.Skills("ghost"); err != nil || len(skills) == 0 {
		t.Errorf("got %+v %v; want some skills and no error", skills, err)
	}
	if _, err := w.List("ghost", "../main"); !errors.Is(err, ErrTraversal) {
		t.Errorf("got %v; want the error ErrTraversal", err)
	}
	if made, err := os.ReadDir(filepath.Join(home, "agents")); len(made) != 0 {
		t.Errorf("made: got %v %v, want none", made, err)
	}
	// A known agent has its files from the first read; another one from the first write.
	if list, err := w.List("main", ""); err != nil || len(list.Files) == 0 {
		t.Errorf("got %+v %v; want some files and no error", list, err)
	}
	if _, err := w.Write("ghost", "note.md", nil); err != nil {
		t.Fatal(err)
	}
	if list, err := w.List("ghost", ""); err != nil || !slices.Contains(list.Files, "note.md") {
		t.Errorf(`got %+v %v; want no error and "note.md" in Files`, list, err)
	}
}
