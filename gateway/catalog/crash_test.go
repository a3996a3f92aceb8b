package catalog

import (
	"context"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

func TestPanicOfACallInTheBackgroundFailsIt(t *testing.T) {
	b := newBench(t)
	works := b.answer
	b.answer = func(context.Context, tool.Call) (tool.Result, error) { panic("broken") }
	b.checkFault(app("a"), "fs_stat", statArgs, protocol.FaultInternal, "")
	b.answer = works
	b.must(app("a"), "fs_stat", statArgs)
}
