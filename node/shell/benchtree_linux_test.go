package shell

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/node/access"
	"fairlead/node/baseline"
	"fairlead/node/floor"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// newLargeTree makes a workspace with 50,000 files, of which 50 start programs.
func newLargeTree(b *testing.B) *workspace.Root {
	b.Helper()
	dir := b.TempDir()
	for i := range 5000 {
		folder := filepath.Join(dir, strconv.Itoa(i%50), strconv.Itoa(i))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			b.Fatal(err)
		}
		for k := range 10 {
			name := strconv.Itoa(k) + ".go"
			if i%100 == 0 && k == 0 {
				name = ".envrc"
			}
			if err := os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	if out, err := exec.CommandContext(b.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	ws, err := workspace.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ws.Close() })
	time.Sleep(3 * time.Second) // folders that have just changed are read again
	return ws
}

// BenchmarkStartInALargeTree starts `true` bare, confined without protected files, with them, and with
// the look before and after; run it with -benchtime 1000x. The last one may take 15 ms more than the
// first confined one.
func BenchmarkStartInALargeTree(b *testing.B) {
	b.Setenv("SHELL", "/bin/sh")
	b.Setenv("HOME", b.TempDir()) // a profile of the person's would take most of the time
	ws := newLargeTree(b)
	list := floor.New()
	b.Cleanup(list.Close)
	box, err := sandbox.New(b.Context(), sandbox.Options{Floor: list})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(box.Close)
	store, err := baseline.New(b.TempDir(), ws, list, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		b.Fatal(err)
	}
	confined := JobOptions{Box: box, Profile: sandbox.Profile{Workspace: ws.Dir()}}
	looking := confined
	looking.Baseline = store
	protected, looked := benchOf(b, ws, confined), benchOf(b, ws, looking)
	run := func(k *bench, call access.Call) func() error {
		return func() error {
			_, err := runBash(b.Context(), ws, k.jobs, call, bashIn{Command: "true"})
			return err
		}
	}
	compareTails(b, []way{
		{"bare", func() error {
			cmd := exec.CommandContext(b.Context(), "/bin/sh", "-lc", "true")
			cmd.Dir, cmd.SysProcAttr = ws.Dir(), &syscall.SysProcAttr{Setsid: true}
			return cmd.Run()
		}},
		{"confined", run(protected, access.Call{Direct: true})}, // the person's own commands may change protected files
		{"protected", run(protected, access.Call{})},
		{"looked", run(looked, access.Call{})},
	})
	b.ReportMetric(privateMB(os.Getpid()), "node-MB")
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		children, _ := os.ReadFile(task)
		for pid := range strings.FieldsSeq(string(children)) {
			if n, err := strconv.Atoi(pid); err == nil {
				b.ReportMetric(privateMB(n), "supervisor-MB")
			}
		}
	}
}

// compareTails reports the median and the 99th percentile of each way, which run in turns.
func compareTails(b *testing.B, ways []way) {
	b.Helper()
	times := make([][]float64, len(ways))
	for b.Loop() {
		for i, w := range ways {
			began := time.Now()
			if err := w.run(); err != nil {
				b.Fatal(w.name, err)
			}
			times[i] = append(times[i], time.Since(began).Seconds()*1000)
		}
	}
	for i, w := range ways {
		slices.Sort(times[i])
		b.ReportMetric(times[i][len(times[i])/2], w.name+"-ms")
		b.ReportMetric(times[i][len(times[i])*99/100], w.name+"-p99-ms")
	}
}

// privateMB returns the memory of a process that it shares with no other, in MB.
func privateMB(pid int) (mb float64) {
	data, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); strings.HasPrefix(line, "Private_") && len(f) > 1 {
			kb, _ := strconv.ParseFloat(f[1], 64)
			mb += kb / 1024
		}
	}
	return mb
}
