package file

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

func makeTools(ws *workspace.Root) []toolkit.Tool[access.Call] {
	return Tools(access.Scope{Root: ws})
}
