package shell

import (
	"context"
	"os"
	"testing"
	"time"

	"fairlead/node/sandbox"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func TestMain(m *testing.M) { os.Exit(tooltest.Main(m)) }

// bench is a workspace with Bash and Process.
type bench struct {
	*tooltest.Bench
	jobs *Jobs
}

// newBench makes a bench whose commands are plain children.
func newBench(t testing.TB) *bench {
	t.Helper()
	ws, err := workspace.Open(tooltest.Folder(t))
	if err != nil {
		t.Fatal(err)
	}
	return benchOf(t, ws, JobOptions{})
}

// newBenchWith makes a bench whose commands run in a box.
func newBenchWith(t testing.TB, o sandbox.Options, p sandbox.Profile) *bench {
	t.Helper()
	box, err := sandbox.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	ws, err := workspace.Open(tooltest.Folder(t))
	if err != nil {
		t.Fatal(err)
	}
	p.Workspace = ws.Dir()
	return benchOf(t, ws, JobOptions{Box: box, Profile: p})
}

// takeForeground takes every place for commands with a waiting caller, which must be free.
func takeForeground(t *testing.T, jobs *Jobs) (release func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all []func()
	for range maxForeground {
		release, err := jobs.foreground.Take(ctx, nil)
		if err != nil {
			t.Fatal("a place for a command was not freed")
		}
		all = append(all, release)
	}
	return func() {
		for _, release := range all {
			release()
		}
	}
}

func benchOf(t testing.TB, ws *workspace.Root, o JobOptions) *bench {
	jobs := NewJobs(o)
	b := &bench{tooltest.Of(t, ws, append(Tools(ws, jobs), Command(ws, jobs))), jobs}
	t.Cleanup(jobs.Close)
	return b
}
