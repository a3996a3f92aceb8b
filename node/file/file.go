package file

import (
	"context"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// limits bounds the input and output of Read, Write and Edit, in bytes. The original system has one
// limit of 200 KB for everything; these follow from a model's context, a frame's size and a
// machine's memory.
type limits struct {
	readText  int   // text of one Read, including line numbers
	readImage int64 // image
	readWide  int64 // UTF-16 file that is converted
	write     int   // content of one Write
	edit      int   // file before and after an Edit
}

// defaultLimits has the original system's limit of images. The limit of write fits with its envelope
// into a frame of 16 MiB.
var defaultLimits = limits{readText: 4 << 20, readImage: 10 << 20, readWide: 64 << 20, write: 15 << 20, edit: 64 << 20}

// tool is one of the three tools, each with its own limit of calls.
type tool struct {
	access.Scope
	limits  limits
	running chan struct{} // semaphore
}

// maxRunning is the maximum number of calls of one of these tools that run at the same time: each
// may have a file open and, for Edit, several copies of its content in memory. Further calls wait.
const maxRunning = 32

func newTool(scope access.Scope, l limits) *tool {
	return &tool{Scope: scope, limits: l, running: make(chan struct{}, maxRunning)}
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
func Tools(scope access.Scope) []toolkit.Tool[access.Call] { return limitedTools(scope, defaultLimits) }

func limitedTools(scope access.Scope, l limits) []toolkit.Tool[access.Call] {
	return []toolkit.Tool[access.Call]{newTool(scope, l).readTool(), newTool(scope, l).writeTool(), newTool(scope, l).editTool()}
}
