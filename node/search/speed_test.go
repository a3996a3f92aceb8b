package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/node/access"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

// moduleTree returns the module cache and the compiler's sources: over 50,000 files, over 1 GB.
func moduleTree(b *testing.B) (dirs []string, spaces []*workspace.Root) {
	b.Helper()
	for _, name := range []string{"GOMODCACHE", "GOROOT"} {
		cmd := exec.Command("go", "env", name)
		cmd.Env = append(os.Environ(), "HOME="+tooltest.PersonHome)
		out, err := cmd.Output()
		if err != nil {
			b.Skipf("no Go tree to search: %v", err)
		}
		dir := filepath.Clean(strings.TrimSpace(string(out)))
		ws, err := workspace.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { ws.Close() })
		dirs, spaces = append(dirs, dir), append(spaces, ws)
	}
	return dirs, spaces
}

// lookReferee returns the path of a comparable program, or "" if it is not installed.
func lookReferee(b *testing.B, names ...string) string {
	b.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	b.Logf("NOT COMPARED: %s is not installed (Debian packages ripgrep and fd-find)", names[0])
	return ""
}

// compareByTurns measures our code and the referee by turns, because other programs disturb both. It
// reports the best time of each and their ratio, and the same for processor time, which is
// disturbed less.
func compareByTurns(b *testing.B, ours func() error, program string, args ...string) {
	b.Helper()
	least, other := time.Hour, time.Hour
	work, otherWork := time.Hour, time.Hour
	for b.Loop() {
		begun, worked := time.Now(), busy()
		if err := ours(); err != nil {
			b.Fatal(err)
		}
		least, work = min(least, time.Since(begun)), min(work, busy()-worked)
		if program == "" {
			continue
		}
		begun = time.Now()
		cmd := exec.Command(program, args...)
		var exit *exec.ExitError // it reports that nothing was found
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
			b.Fatal(err)
		}
		other, otherWork = min(other, time.Since(begun)), min(otherWork, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	b.ReportMetric(float64(least.Microseconds())/1000, "ours-ms")
	if program != "" {
		b.ReportMetric(float64(other.Microseconds())/1000, "referee-ms")
		b.ReportMetric(float64(least)/float64(other), "ratio")
		b.ReportMetric(float64(work)/float64(otherWork), "cpu-ratio")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkSearch compares Grep with ripgrep and Glob with fd: same files, hidden and ignored ones
// included, links followed by the first two.
func BenchmarkSearch(b *testing.B) {
	dirs, spaces := moduleTree(b)
	ripgrep, fd := lookReferee(b, "rg"), lookReferee(b, "fdfind", "fd")
	for _, c := range []struct{ name, pattern string }{
		{"Literal", "zz_no_such_text_zz"},
		{"LiteralOfCommonLetters", "tion of the tees"},
		{"LetterCaseIgnored", "(?i)zz_no_such_text_zz"},
		{"RegexWithLiteral", "[a-z]+_zz[0-9]+qq"},
		{"Alternatives", "zz_foo|qq_bar|xx_baz"},
		{"RegexWithoutLiteral", "[A-Z]{5}[0-9]{5}[a-z]{3}"},
		{"Words", `\b[A-Z]\d+[a-z]{2}Zq\b`},
		{"Anchored", "^zz[0-9]$"},
		{"CommonWord", "func"}, // the first 100, beside all of them
	} {
		b.Run(c.name, func(b *testing.B) {
			compareByTurns(b, func() error {
				for _, ws := range spaces {
					if _, err := runGrep(b.Context(), ws, access.Call{}, grepIn{Pattern: c.pattern}); err != nil {
						return err
					}
				}
				return nil
			}, ripgrep, append([]string{"-uu", "--no-messages", "--follow", "--line-number", "--no-heading", "-e", c.pattern}, dirs...)...)
		})
	}
	b.Run("GlobGoFiles", func(b *testing.B) {
		compareByTurns(b, func() error {
			for _, ws := range spaces {
				if _, err := runGlob(b.Context(), ws, "", globIn{Pattern: "**/*.go"}, maxGlob, nil); err != nil {
					return err
				}
			}
			return nil
		}, fd, append([]string{"--unrestricted", "--absolute-path", "--glob", "*.go"}, dirs...)...)
	})
	if _, most, ok := memory(); ok {
		b.Run("Memory", func(b *testing.B) {
			for b.Loop() {
			}
			b.ReportMetric(float64(most)/1024, "most-MB")
		})
	}
}

// memory returns the process's memory and its maximum, in KB.
func memory() (now, most int, ok bool) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0, false
	}
	for line := range strings.Lines(string(text)) {
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &now)
		_, _ = fmt.Sscanf(line, "VmHWM: %d kB", &most)
	}
	return now, most, most > 0
}

// BenchmarkMillion lists a million files, and cancels it: cancelled-ms is the time from the
// cancellation to the end of the call, the worst and the median of twenty. late-ms is the delay of
// the timer that cancelled, which the machine adds to everything.
func BenchmarkMillion(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		sub := filepath.Join(dir, fmt.Sprintf("%03d", i))
		if err := os.Mkdir(sub, 0o755); err != nil {
			b.Fatal(err)
		}
		first := filepath.Join(sub, "0")
		if err := os.WriteFile(first, nil, 0o644); err != nil {
			b.Fatal(err)
		}
		for n := 1; n < 1000; n++ {
			if err := os.Link(first, filepath.Join(sub, fmt.Sprint(n))); err != nil {
				b.Fatal(err)
			}
		}
	}
	ws, err := workspace.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	runtime.GC()
	for b.Loop() {
		out, err := runGlob(b.Context(), ws, "", globIn{Pattern: "**"}, maxGlob, nil)
		if err != nil || out.Total != 1_001_000 {
			b.Fatalf("got %d matches, error %v, want 1001000", out.Total, err)
		}
	}
	_, most, _ := memory()
	b.ReportMetric(float64(most)/1024, "most-MB")
	var took []time.Duration
	late := time.Duration(0)
	for i := range 20 {
		ctx, cancel := context.WithCancel(b.Context())
		var at time.Time
		due := time.Now().Add(time.Duration(10+10*i) * time.Millisecond)
		time.AfterFunc(time.Until(due), func() { at = time.Now(); cancel() })
		if _, err := runGlob(ctx, ws, "", globIn{Pattern: "**"}, maxGlob, nil); err == nil {
			b.Fatal("it was not cancelled")
		}
		took = append(took, time.Since(at))
		late = max(late, at.Sub(due))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "cancelled-ms")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "cancelled-median-ms")
	b.ReportMetric(float64(late.Microseconds())/1000, "late-ms")
}
