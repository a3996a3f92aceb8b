//go:build unix

package baseline

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOwnFilesAreForTheirOwnerOnly(t *testing.T) {
	home := t.TempDir()
	for _, rel := range []string{"secrets.json", "logs/node.log"} {
		name := filepath.Join(home, rel)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	RestrictModes(home, true)
	for _, rel := range []string{"secrets.json", "logs/node.log"} {
		if info, err := os.Stat(filepath.Join(home, rel)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %v (%v), want 0600", rel, info.Mode(), err)
		}
	}
}
