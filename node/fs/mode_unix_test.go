//go:build unix

package fs

import (
	"os"
	"testing"

	"fairlead/node/tooltest"
)

func TestModeOfAWrittenFile(t *testing.T) {
	b := newBench(t)
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	path := in(b, "run.sh")
	write(b, tooltest.Args{"path": path, "mode": "0750", "chunk_b64": b64("x"), "done": true})
	if mode(path) != 0o750 {
		t.Errorf("mode %o", mode(path))
	}
	write(b, tooltest.Args{"path": path, "chunk_b64": b64("y"), "done": true})
	if mode(path) != 0o750 {
		t.Errorf("the old file's mode is lost: %o", mode(path))
	}
}
