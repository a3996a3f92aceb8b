package tooltest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Folder is t.TempDir without its cleanup, which does not work in Wine.
func Folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tools")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var all []string
		filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
			all = append(all, path)
			return nil
		})
		for _, path := range slices.Backward(all) {
			os.Remove(path)
		}
	})
	return dir
}
