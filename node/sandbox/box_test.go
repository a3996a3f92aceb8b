package sandbox_test

import (
	"context"
	"os"
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
		"another user":     {Argv: []string{exe}, Dir: dir, User: &sandbox.User{UID: 1, GID: 1}},
		"relative grant":   {Argv: []string{exe}, Dir: dir, Profile: sandbox.Profile{Write: []string{"x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := box.Start(s); err == nil {
				t.Errorf("%s: started", name)
			}
		})
	}
	if _, err := sandbox.New(t.Context(), sandbox.Options{Home: "relative"}); err == nil {
		t.Error("a relative data folder is taken")
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
