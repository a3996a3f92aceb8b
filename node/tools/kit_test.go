package tools

import (
	"os"
	"testing"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/access"
	"fairlead/node/shell"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func TestMain(m *testing.M) { os.Exit(tooltest.Main(m)) }

// newBench makes a bench with all tools.
func newBench(t testing.TB) *tooltest.Bench {
	t.Helper()
	ws, err := workspace.Open(tooltest.Folder(t))
	if err != nil {
		t.Fatal(err)
	}
	return benchOf(t, ws)
}

func benchOf(t testing.TB, ws *workspace.Root) *tooltest.Bench {
	jobs := shell.NewJobs(shell.JobOptions{})
	b := tooltest.Of(t, ws, All(access.Scope{Root: ws}, jobs))
	t.Cleanup(jobs.Close)
	return b
}

// makeAll makes all tools, whose commands nobody tracks.
func makeAll(ws *workspace.Root) []toolkit.Tool[access.Call] {
	return All(access.Scope{Root: ws}, shell.NewJobs(shell.JobOptions{}))
}

// The fields of results that tests look at.
type (
	readText struct {
		Path, Content string
		Lines         int
	}
	writeOut struct{ Path string }
	editOut  struct{ Path string }
	bashOut  struct{ Output, Workdir string }
	globOut  struct {
		Matches, LeftOut []string
		Count            int
	}
	grepOut struct {
		Matches []struct{ Path, Content string }
		LeftOut []string
	}
)
