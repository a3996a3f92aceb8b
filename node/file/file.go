package file

import (
	"context"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/access"
	"fairlead/node/textfile"
	"fairlead/node/workspace"
)

// limits bounds the input and output of Read, Write and Edit, in bytes. GSV has one limit of 200 KB
// for everything; these follow from a model's context, a frame's size and a machine's memory.
type limits struct {
	readText  int   // text of one Read, including line numbers
	readImage int64 // image
	readWide  int64 // UTF-16 file that is converted
	write     int   // content of one Write
	edit      int   // file before and after an Edit
}

// defaultLimits has GSV's limit of images. The limit of write fits with its envelope into a frame
// of 16 MiB.
var defaultLimits = limits{readText: 4 << 20, readImage: 10 << 20, readWide: textfile.MaxWide, write: 15 << 20, edit: 64 << 20}

// tools makes Read, Write and Edit.
type tools struct {
	scope  access.Scope
	limits limits
}

// files reads, writes and edits files for a call, within what the call can reach.
type files struct {
	ws     *workspace.Root
	limits limits
}

func (t tools) within(s access.Scope) files { return files{s.Root, t.limits} }

// forCalls returns the function of a tool that runs on the files of a call.
func forCalls[In, Out any](t tools, run func(files, context.Context, access.Call, In) (Out, error)) func(context.Context, access.Call, In) (Out, error) {
	return access.ForCalls(t.scope, func(ctx context.Context, ws *workspace.Root, call access.Call, in In) (Out, error) {
		return run(files{ws.WithTarget(workspace.Unspell(call.Target)), t.limits}, ctx, call, in)
	})
}

// Tools makes Read, Write and Edit.
func Tools(scope access.Scope) []toolkit.Tool[access.Call] { return limitedTools(scope, defaultLimits) }

func limitedTools(scope access.Scope, l limits) []toolkit.Tool[access.Call] {
	t := tools{scope, l}
	return []toolkit.Tool[access.Call]{t.readTool(), t.writeTool(), t.editTool()}
}
