package file

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"fairlead/node/access"
	"fairlead/node/tooltest"
)

// gigabyte makes a log of 1 GB whose lines are 64 bytes long.
func gigabyte(b *testing.B) (w *tooltest.Bench, path string, lines int) {
	b.Helper()
	w = newBench(b)
	path = w.File("log", "")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	lines = 1 << 30 / 64
	var buf bytes.Buffer
	for i := range lines {
		fmt.Fprintf(&buf, "%010d the quick brown fox jumps over the lazy dog 0123456789\n", i)
		if buf.Len() > 4<<20 || i == lines-1 {
			if _, err := buf.WriteTo(f); err != nil {
				b.Fatal(err)
			}
		}
	}
	if info, err := f.Stat(); err != nil || info.Size()/int64(lines) < 60 {
		b.Fatalf("got %v, error %v, want a log of %d lines", info, err, lines)
	}
	return w, path, lines
}

// BenchmarkReadLastLines compares a Read at the end of a large file with counting its lines.
func BenchmarkReadLastLines(b *testing.B) {
	w, path, lines := gigabyte(b)
	b.Run("wc", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("wc", "-l", path).Run(); err != nil {
				b.Skipf("no wc here: %v", err)
			}
		}
	})
	b.Run("Read", func(b *testing.B) {
		for b.Loop() {
			readLast(b, files{w.WS, defaultLimits}, lines)
		}
	})
}

func readLast(b *testing.B, f files, lines int) {
	offset := float64(lines - 100)
	out, err := f.read(context.Background(), access.Call{}, readIn{Path: "log", Offset: &offset})
	if text, ok := out.(readText); err != nil || !ok || text.Lines != 100 {
		b.Fatalf("got %v, error %v, want 100 lines", out, err)
	}
}
