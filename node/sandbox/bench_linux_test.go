package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/node/floor"
	"fairlead/node/sandbox"
	"fairlead/node/sandbox/confine"
)

// BenchmarkTrue starts `sh -lc true` bare, supervised and contained in turns, and reports the
// medians and their ratio, which may be at most 1.3.
func BenchmarkTrue(b *testing.B) {
	ws := b.TempDir()
	b.Setenv("HOME", ws) // a profile of the person's would take most of the time
	env := sandbox.Environ(ws, nil)
	box, err := sandbox.New(b.Context(), sandbox.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer box.Close()
	for _, sh := range []string{"/bin/sh", "/bin/bash"} {
		contained := func(mode sandbox.Mode) func() error {
			return func() error {
				p, err := box.Start(sandbox.Spec{Profile: sandbox.Profile{Mode: mode, Workspace: ws}, Argv: []string{sh, "-lc", "true"}, Dir: ws, Env: env})
				if err != nil {
					return err
				}
				_, err = p.Wait()
				return err
			}
		}
		b.Run(sh, func(b *testing.B) {
			runs := []func() error{
				func() error {
					cmd := exec.Command(sh, "-lc", "true")
					cmd.Env, cmd.Dir, cmd.SysProcAttr = env, ws, &syscall.SysProcAttr{Setsid: true}
					return cmd.Run()
				},
				contained(sandbox.Full), contained(sandbox.WorkspaceWrite),
			}
			times := make([][]time.Duration, len(runs))
			for b.Loop() {
				for i, run := range runs {
					t := time.Now()
					if err := run(); err != nil {
						b.Fatal(err)
					}
					times[i] = append(times[i], time.Since(t))
				}
			}
			median := func(i int) float64 {
				slices.Sort(times[i])
				return float64(times[i][len(times[i])/2].Microseconds())
			}
			b.ReportMetric(median(0), "bare-µs")
			b.ReportMetric(median(1), "full-µs")
			b.ReportMetric(median(2), "contained-µs")
			b.ReportMetric(median(1)/median(0), "full-ratio")
			b.ReportMetric(median(2)/median(0), "contained-ratio")
			// On a machine that others use too, the processor time of all processes that take part
			// is more meaningful than the elapsed time.
			const many = 100
			work := make([]time.Duration, len(runs))
			for i, run := range runs {
				before := processorTime(b)
				for range many {
					if err := run(); err != nil {
						b.Fatal(err)
					}
				}
				work[i] = processorTime(b) - before
			}
			b.ReportMetric(float64(work[0].Microseconds())/many, "bare-cpu-µs")
			b.ReportMetric(float64(work[1])/float64(work[0]), "full-cpu-ratio")
			b.ReportMetric(float64(work[2])/float64(work[0]), "contained-cpu-ratio")
		})
	}
}

// processorTime returns the processor time of this process, its helper, and all processes that they
// started and waited for.
func processorTime(b *testing.B) (all time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		all += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		kids, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		for _, kid := range strings.Fields(string(kids)) {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", kid))
			if err != nil {
				continue
			}
			fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
			for _, ticks := range fields[11:15] { // utime, stime, cutime, cstime, in hundredths of a second
				n, _ := strconv.Atoi(ticks)
				all += time.Duration(n) * 10 * time.Millisecond
			}
		}
	}
	return all
}

// BenchmarkProtectedStart starts /bin/true in turns with Landlock alone and with the mounts that
// protect files which start programs, each also with a deny rule for a program, in a workspace with
// 50,000 files and a repository. It reports the medians and the median difference of the pairs. The
// mounts may add at most 15 ms.
func BenchmarkProtectedStart(b *testing.B) {
	ws := b.TempDir()
	b.Setenv("HOME", filepath.Join(ws, "home"))
	for i := range 5000 {
		dir := filepath.Join(ws, strconv.Itoa(i%50), strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		for k := range 10 {
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(k)+".go"), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	if out, err := exec.Command("git", "init", "-q", ws).CombinedOutput(); err != nil {
		b.Skipf("%s", out)
	}
	time.Sleep(2 * time.Second) // or all folders may have changed
	env := sandbox.Environ(ws, nil)
	var runs []func() error
	list := floor.New() // as the node has one: without it, every start would read all folders
	defer list.Close()
	for _, missing := range [][]string{{"mounts"}, nil} {
		box, err := sandbox.New(b.Context(), sandbox.Options{Missing: missing, Floor: list})
		if err != nil {
			b.Fatal(err)
		}
		defer box.Close()
		for _, denied := range [][]confine.Program{nil, {{"rm", "-rf", "**"}}} {
			s := sandbox.Spec{Profile: sandbox.Profile{Workspace: ws, Programs: denied}, Argv: []string{"/bin/true"}, Dir: ws, Env: env}
			runs = append(runs, func() error {
				p, err := box.Start(s)
				if err != nil {
					return err
				}
				_, err = p.Wait()
				return err
			})
		}
	}
	times := make([][]time.Duration, len(runs))
	for b.Loop() {
		for i, run := range runs {
			began := time.Now()
			if err := run(); err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], time.Since(began))
		}
	}
	added := make([]time.Duration, len(times[0]))
	for i := range added {
		added[i] = times[2][i] - times[0][i]
	}
	slices.Sort(added)
	b.ReportMetric(float64(added[len(added)/2].Microseconds()), "added-µs")
	for i, name := range []string{"landlock", "landlock-watched", "protected", "protected-watched"} {
		slices.Sort(times[i])
		b.ReportMetric(float64(times[i][len(times[i])/2].Microseconds()), name+"-µs")
	}
}
