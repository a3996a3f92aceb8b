package tools

import (
	"context"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/workspace"
)

// FileLimits bounds the input and output of Read, Write and Edit, in bytes. Zero means the default.
// The original system has one limit of 200 KB for everything; these limits follow from a model's
// context, a frame's size and a machine's memory.
type FileLimits struct {
	ReadText  int   // most text of one Read, including line numbers: 4 MiB
	ReadImage int64 // largest image; by default 10 MiB, as in the original system
	ReadWide  int64 // largest UTF-16 file that is converted: 64 MiB
	// Write is the most content of one Write: 15 MiB, which fits with its envelope into a frame of
	// 16 MiB.
	Write int
	Edit  int // largest file before and after an Edit: 64 MiB
}

func (l FileLimits) orDefaults() FileLimits {
	return FileLimits{
		ReadText: or(l.ReadText, 4<<20), ReadImage: or(l.ReadImage, 10<<20), ReadWide: or(l.ReadWide, 64<<20),
		Write: or(l.Write, 15<<20), Edit: or(l.Edit, 64<<20),
	}
}

func or[T int | int64](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// files implements the three tools for single files.
type files struct {
	ws     *workspace.Root
	home   string // the program's own data folder
	limits FileLimits
	lines  *lineIndex
	seats  chan struct{} // semaphore of running calls
}

// atOnce is the maximum number of calls of one of these tools that run at the same time: each may
// have a file open and, for Edit, several copies of its content in memory. Further calls wait.
const atOnce = 32

// enter waits for a free place; the caller must call leave.
func (f *files) enter(ctx context.Context) (leave func(), err error) {
	select {
	case f.seats <- struct{}{}:
		return func() { <-f.seats }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func newFiles(ws *workspace.Root, limits FileLimits) *files {
	return &files{ws: ws, limits: limits.orDefaults(), lines: newLineIndex(), seats: make(chan struct{}, atOnce)}
}

// Files makes Read, Write and Edit with other limits than those of [All].
func Files(ws *workspace.Root, limits FileLimits) []toolkit.Tool {
	f := newFiles(ws, limits)
	return []toolkit.Tool{f.readTool(), f.writeTool(), f.editTool()}
}
