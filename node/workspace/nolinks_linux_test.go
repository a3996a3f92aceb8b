package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestNewLinkIsNotFollowed opens by names that were free of links when they
// were checked.
func TestNewLinkIsNotFollowed(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "keys", "id"), "key")
	put(t, filepath.Join(dir, "plain", "id"), "plain")
	link(t, "keys", filepath.Join(dir, "folder"))
	link(t, "keys/id", filepath.Join(dir, "file"))
	if _, ok, _ := openWithoutLinks(nil, dir, os.O_RDONLY); !ok {
		t.Skip("SKIPPED: this kernel opens no path without its links")
	}
	confined, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer confined.Close()
	for name, in := range map[string]fileSystem{"confined": confined.paths.fs, "whole disk": wholeDisk{}} {
		t.Run(name, func(t *testing.T) {
			at := func(path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }
			for _, path := range []string{"folder/id", "file"} {
				if f, _, err := openRegular(in, at(path)); !errors.Is(err, errPathChanged) {
					t.Errorf("%s: got %v, error %v for %s, want %v", name, f, err, path, errPathChanged)
				}
			}
			if d, err := openDir(in, at("folder"), at("folder")); !errors.Is(err, errPathChanged) {
				t.Errorf("%s: got folder %v, error %v, want %v", name, d, err, errPathChanged)
			}
			if root, err := in.OpenRoot(at("folder"), "."); !errors.Is(err, errPathChanged) {
				t.Errorf("%s: got folder %v for writing, error %v, want %v", name, root, err, errPathChanged)
			}
			f, _, err := openRegular(in, at("plain/id"))
			if err != nil {
				t.Errorf("%s: what no link leads to: %v", name, err)
				return
			}
			f.Close()
			root, err := in.OpenRoot(at("plain"), ".")
			if err != nil {
				t.Errorf("%s: what no link leads to: %v", name, err)
				return
			}
			root.Close()
		})
	}
}
