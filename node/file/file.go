package file

import (
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

type tool struct {
	access.Scope
	limits limits
}

// begin returns the tool with what a call can reach. The caller calls done at the call's end.
func (t *tool) begin(call access.Call) (_ *tool, done func(), err error) {
	scope, done, err := t.WithFolders(call.Folders)
	if err != nil {
		return nil, nil, err
	}
	scope.Root = scope.WithTarget(workspace.Unspell(call.Target))
	return t.within(scope), done, nil
}

func (t *tool) within(s access.Scope) *tool { return &tool{s, t.limits} }

// Tools makes Read, Write and Edit.
func Tools(scope access.Scope) []toolkit.Tool[access.Call] { return limitedTools(scope, defaultLimits) }

func limitedTools(scope access.Scope, l limits) []toolkit.Tool[access.Call] {
	t := &tool{scope, l}
	return []toolkit.Tool[access.Call]{t.readTool(), t.writeTool(), t.editTool()}
}
