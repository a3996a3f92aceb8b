package file

import (
	"cmp"
	"context"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// Limits bounds the input and output of Read, Write and Edit, in bytes. Zero means the default.
// The original system has one limit of 200 KB for everything; these limits follow from a model's
// context, a frame's size and a machine's memory.
type Limits struct {
	ReadText  int   // most text of one Read, including line numbers: 4 MiB
	ReadImage int64 // largest image; by default 10 MiB, as in the original system
	ReadWide  int64 // largest UTF-16 file that is converted: 64 MiB
	// Write is the most content of one Write: 15 MiB, which fits with its envelope into a frame of
	// 16 MiB.
	Write int
	Edit  int // largest file before and after an Edit: 64 MiB
}

func (l Limits) orDefaults() Limits {
	return Limits{
		ReadText: cmp.Or(l.ReadText, 4<<20), ReadImage: cmp.Or(l.ReadImage, 10<<20), ReadWide: cmp.Or(l.ReadWide, 64<<20),
		Write: cmp.Or(l.Write, 15<<20), Edit: cmp.Or(l.Edit, 64<<20),
	}
}

// tool is one of the three tools, each with its own limit of calls.
type tool struct {
	access.Scope
	limits  Limits
	running chan struct{} // semaphore
}

// maxRunning is the maximum number of calls of one of these tools that run at the same time: each
// may have a file open and, for Edit, several copies of its content in memory. Further calls wait.
const maxRunning = 32

func newTool(scope access.Scope, limits Limits) *tool {
	return &tool{Scope: scope, limits: limits.orDefaults(), running: make(chan struct{}, maxRunning)}
}

// acquire waits until a call may run; the caller calls release at its end.
func (t *tool) acquire(ctx context.Context) (release func(), err error) {
	select {
	case t.running <- struct{}{}:
		return func() { <-t.running }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin waits until a call may run and returns the tool with what the call can reach. The caller
// calls done at its end.
func (t *tool) begin(ctx context.Context, call access.Call) (_ *tool, done func(), err error) {
	scope, closeFolders, err := t.WithFolders(call.Folders)
	if err != nil {
		return nil, nil, err
	}
	if call.Target != "" {
		scope.Root = scope.WithTarget(workspace.Unspell(call.Target))
	}
	release, err := t.acquire(ctx)
	if err != nil {
		closeFolders()
		return nil, nil, err
	}
	return t.within(scope), func() { release(); closeFolders() }, nil
}

// within returns the tool with another scope.
func (t *tool) within(s access.Scope) *tool {
	c := *t
	c.Scope = s
	return &c
}

// Tools makes Read, Write and Edit.
func Tools(scope access.Scope, limits Limits) []toolkit.Tool[access.Call] {
	return []toolkit.Tool[access.Call]{newTool(scope, limits).readTool(), newTool(scope, limits).writeTool(), newTool(scope, limits).editTool()}
}
