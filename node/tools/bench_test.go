package tools

import (
	"context"
	"os/exec"
	"runtime"
	"testing"
)

// The two differ by what Bash adds to the bare shell.
func BenchmarkBash(b *testing.B) {
	if runtime.GOOS == "windows" {
		b.Skip("no sh to compare with")
	}
	b.Setenv("SHELL", "/bin/sh")
	w := newBench(b)
	b.Run("True", func(b *testing.B) {
		for b.Loop() {
			if _, err := runBash(context.Background(), w.ws, w.jobs, bashIn{Command: "true"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("BareShTrue", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/sh", "-lc", "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Output", func(b *testing.B) {
		b.SetBytes(100_000_000)
		for b.Loop() {
			if _, err := runBash(context.Background(), w.ws, w.jobs, bashIn{Command: "head -c 100000000 /dev/zero"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
