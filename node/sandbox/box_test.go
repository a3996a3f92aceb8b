package sandbox_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"fairlead/node/sandbox"
)

func TestMeaninglessSpecsAreRefused(t *testing.T) {
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
				t.Errorf("%s: started, want an error", name)
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
		t.Errorf("got %s %+v; want r.Summary None, not c.Enforced and some c.Why", r.Summary, c)
	}
}

func TestProbeNeverFails(t *testing.T) {
	box, err := sandbox.New(t.Context(), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if why := box.Report().Check(sandbox.CheckOrphans).Why; strings.Contains(why, "failed") {
		t.Errorf("the probe reports %q, want no failure", why)
	}
}

// BenchmarkProbe finds out what this machine can enforce. It is a part of every start of a node.
func BenchmarkProbe(b *testing.B) {
	for b.Loop() {
		box, err := sandbox.New(b.Context(), sandbox.Options{})
		if err != nil {
			b.Fatal(err)
		}
		box.Close()
	}
}
