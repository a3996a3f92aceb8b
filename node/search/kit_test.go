package search

import (
	"os"
	"testing"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/access"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func TestMain(m *testing.M) { os.Exit(tooltest.Main(m)) }

func newBench(t testing.TB) *tooltest.Bench {
	t.Helper()
	return tooltest.New(t, makeTools)
}

// benchOf makes a bench with one tool.
func benchOf(t testing.TB, tool func(access.Scope) toolkit.Tool[access.Call]) *tooltest.Bench {
	t.Helper()
	return tooltest.New(t, func(ws *workspace.Root) []toolkit.Tool[access.Call] {
		return []toolkit.Tool[access.Call]{tool(access.Scope{Root: ws})}
	})
}

func makeTools(ws *workspace.Root) []toolkit.Tool[access.Call] {
	scope := access.Scope{Root: ws}
	return []toolkit.Tool[access.Call]{Glob(scope), Grep(scope)}
}
