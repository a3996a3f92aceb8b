//go:build unix

package shell

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/node/access"
	"fairlead/node/sandbox"
)

// way is one of the alternatives that a benchmark compares.
type way struct {
	name string
	run  func() error
}

// compare runs the ways in turns, so that a busy machine affects all equally. It reports the median
// of each and, as a ratio to the first one's, median and best: the best times are the most
// meaningful ones on a shared machine.
func compare(b *testing.B, ways []way) {
	b.Helper()
	times := make([][]float64, len(ways))
	for b.Loop() {
		for i, w := range ways {
			began := time.Now()
			if err := w.run(); err != nil {
				b.Fatal(w.name, err)
			}
			times[i] = append(times[i], time.Since(began).Seconds())
		}
	}
	middle := len(times[0]) / 2
	for i, w := range ways {
		slices.Sort(times[i])
		b.ReportMetric(times[i][middle]*1000, w.name+"-ms")
		if i > 0 {
			b.ReportMetric(times[i][middle]/times[0][middle], w.name+"-ratio")
			b.ReportMetric(times[i][0]/times[0][0], w.name+"-best-ratio")
		}
	}
}

// newBoxedBench is a bench whose commands run in a box.
func newBoxedBench(t testing.TB, mode sandbox.Mode) *bench {
	t.Helper()
	return newBenchWith(t, sandbox.Options{}, sandbox.Profile{Mode: mode})
}

func (b *bench) bash(command string) func() error {
	return func() error {
		out, err := runBash(context.Background(), b.WS, b.jobs, access.Call{}, bashIn{Command: command})
		if err == nil && out.Status != "completed" {
			err = errors.New(out.Output)
		}
		return err
	}
}

// Bash may take at most 1.3 times as long as the bare shell. Each command gets a session of its
// own, which Linux schedules as a separate group: on a busy machine it waits several times longer
// for the processor than a program in our own session ("bare-here"), whoever starts it. The bare
// shell that the ratios compare with therefore also has its own session.
func BenchmarkBashTrue(b *testing.B) {
	b.Setenv("SHELL", "/bin/sh")
	b.Setenv("HOME", b.TempDir()) // a profile of the person's would take most of the time
	compare(b, []way{
		{"bare", func() error {
			cmd := exec.Command("/bin/sh", "-lc", "true")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			return cmd.Run()
		}},
		{"bare-here", func() error { return exec.Command("/bin/sh", "-lc", "true").Run() }},
		{"plain", newBench(b).bash("true")},
		{"full", newBoxedBench(b, sandbox.Full).bash("true")},
		{"contained", newBoxedBench(b, sandbox.WorkspaceWrite).bash("true")},
	})
}

// Bash must reach 0.7 times the speed of a plain reader of cat's pipe (a ratio of at most 1.43)
// with flat memory use.
func BenchmarkOutput1GB(b *testing.B) {
	const size = 1 << 30
	b.Setenv("SHELL", "/bin/sh")
	file := filepath.Join(b.TempDir(), "file")
	text := make([]byte, 64<<20)
	for i := range text {
		text[i] = 'a'
		if i%80 == 79 {
			text[i] = '\n'
		}
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		b.Fatal(err)
	}
	var files string
	for range size / len(text) {
		files += " " + file
	}
	command := "cat" + files
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.SetBytes(size)
	compare(b, []way{
		{"cat-to-pipe", func() error { return discard(exec.Command("/bin/sh", "-lc", command)) }},
		{"plain", newBench(b).bash(command)},
		{"full", newBoxedBench(b, sandbox.Full).bash(command)},
		{"contained", newBoxedBench(b, sandbox.WorkspaceWrite).bash(command)},
	})
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc)/(1<<20)-float64(before.HeapAlloc)/(1<<20), "MB-kept")
	b.ReportMetric((float64(after.HeapSys)-float64(before.HeapSys))/(1<<20), "MB-heap-grown")
}

// BenchmarkFlood10GB runs a contained command that prints ten gigabytes: the tail must be right and
// the memory of this program and its helper flat.
func BenchmarkFlood10GB(b *testing.B) {
	const size = 10 << 30
	b.Setenv("SHELL", "/bin/sh")
	k := newBoxedBench(b, sandbox.WorkspaceWrite)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.SetBytes(size)
	for b.Loop() {
		out, err := runBash(context.Background(), k.WS, k.jobs, access.Call{}, bashIn{Command: "yes | head -c 10G"})
		if err != nil || out.Status != "completed" || !out.Truncated || out.Output != strings.Repeat("y\n", maxOutput/2) || len(out.Tail) != maxTail {
			b.Fatal(out.Status, len(out.Output), out.Truncated, err)
		}
	}
	runtime.ReadMemStats(&after)
	grown := (float64(after.HeapSys) - float64(before.HeapSys)) / (1 << 20)
	if grown > 64 {
		b.Errorf("the heap grew by %.0f MB, want at most 64", grown)
	}
	b.ReportMetric(grown, "MB-heap-grown")
}

// discard reads what cmd prints in pieces as large as a pipe holds.
func discard(cmd *exec.Cmd) error {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for err == nil {
		_, err = out.Read(buf)
	}
	if err != io.EOF {
		return err
	}
	return cmd.Wait()
}
