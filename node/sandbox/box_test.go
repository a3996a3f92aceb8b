package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/node/sandbox"
)

func TestSpecsThatMeanNothingAreRefused(t *testing.T) {
	box, err := sandbox.New(t.Context(), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]sandbox.Spec{
		"no program":       {Dir: dir},
		"relative program": {Argv: []string{"sh"}, Dir: dir},
		"relative folder":  {Argv: []string{exe}, Dir: "x"},
		"unknown mode":     {Argv: []string{exe}, Dir: dir, Profile: sandbox.Profile{Mode: "none"}},
		"unknown network":  {Argv: []string{exe}, Dir: dir, Profile: sandbox.Profile{Network: "ask"}},
		"relative grant":   {Argv: []string{exe}, Dir: dir, Profile: sandbox.Profile{Write: []string{"x"}}},
	} {
		if _, err := box.Start(s); err == nil {
			t.Errorf("%s: started", name)
		}
	}
	if _, err := sandbox.New(t.Context(), sandbox.Options{Home: "relative"}); err == nil {
		t.Error("a relative data folder is taken")
	}
}

func TestReportIsKeptUntilSomethingChanges(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "sandbox.json")
	report := func(missing ...string) sandbox.Report {
		t.Helper()
		box, err := sandbox.New(t.Context(), sandbox.Options{Cache: cache, Missing: missing})
		if err != nil {
			t.Fatal(err)
		}
		defer box.Close()
		return box.Report()
	}
	first := report()
	if _, err := os.Stat(cache); err != nil {
		t.Skip("this system's probe is not cached") // only Linux's probe is slow enough to be cached
	}
	if again := report(); !again.At.Equal(first.At) {
		t.Errorf("tried again at %v, first at %v", again.At, first.At)
	}
	if r := report("seccomp"); r.Check(sandbox.CheckUDP).Enforced {
		t.Error("a layer was switched off, and the old report is told")
	}
	if err := os.WriteFile(cache, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := report(); r.Summary != first.Summary {
		t.Errorf("after the file was damaged: %s", r.Summary)
	}
}

// TestProbeThatCannotEndEnforcesNothing gives the probe no time.
func TestProbeThatCannotEndEnforcesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	box, err := sandbox.New(ctx, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	r := box.Report()
	if c := r.Check(sandbox.CheckWriteOutside); r.Summary != sandbox.None || c.Enforced || c.Why == "" {
		t.Errorf("%s %+v", r.Summary, c)
	}
}

func TestProbeIsQuick(t *testing.T) {
	best := time.Hour
	// Other programs may delay it: one success is enough.
	for end := time.Now().Add(time.Minute); best > 300*time.Millisecond && time.Now().Before(end); {
		begin := time.Now()
		box, err := sandbox.New(t.Context(), sandbox.Options{})
		if err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(begin))
		if why := box.Report().Check(sandbox.CheckOrphans).Why; strings.Contains(why, "failed") {
			t.Error(why)
		}
		box.Close()
		if raceDetector {
			break // it takes several times as long, which is not an error
		}
	}
	t.Logf("%v", best)
	if best > 300*time.Millisecond && !raceDetector {
		t.Errorf("the probe takes %v", best)
	}
}
