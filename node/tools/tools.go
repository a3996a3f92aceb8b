package tools

import (
	"context"
	"embed"
	"fmt"
	"math"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

//go:embed *.md
var docs embed.FS

func doc(name string) string {
	text, err := docs.ReadFile(name + ".md")
	if err != nil {
		panic(err) // embedded file: the first test finds the error
	}
	return string(text)
}

// All makes the tools of a workspace, in the order of the original system. jobs tracks the commands
// that Bash starts.
func All(ws *workspace.Root, jobs *Jobs) []toolkit.Tool {
	file := func() *files {
		f := newFiles(ws, FileLimits{}) // each with its own limit of calls
		if jobs != nil {
			f.home = jobs.opts.Home
		}
		return f
	}
	return []toolkit.Tool{
		bashTool(ws, jobs), processTool(jobs), file().readTool(), file().writeTool(), file().editTool(), file().globTool(), file().grepTool(),
	}
}

type contextKey int

const (
	progressKey contextKey = iota
	expectKey
	networkKey
	directKey
	callKey
	foldersKey
	keepKey
	placeKey
)

// WithPlace binds a call of a file tool to the place that its preview named: if its path now leads
// elsewhere, it fails with [workspace.ErrElsewhere]. An empty place binds nothing.
func WithPlace(ctx context.Context, place string) context.Context {
	return context.WithValue(ctx, placeKey, place)
}

// placeOf returns that place with the system's spelling of names.
func placeOf(ctx context.Context) string {
	place, _ := ctx.Value(placeKey).(string)
	if place == "" {
		return ""
	}
	return workspace.Unspell(place)
}

// WithKeep makes Write and Edit pass the content that they are about to replace to keep.
func WithKeep(ctx context.Context, keep workspace.Keep) context.Context {
	return context.WithValue(ctx, keepKey, keep)
}

func keepOf(ctx context.Context) workspace.Keep {
	keep, _ := ctx.Value(keepKey).(workspace.Keep)
	return keep
}

// WithProgress lets a running tool report its live output: fn receives at most the last 4,000
// characters and the number of bytes so far, at most ten times a second, on the tool's goroutine.
// It should not block.
func WithProgress(ctx context.Context, fn func(tail string, bytes int64)) context.Context {
	return context.WithValue(ctx, progressKey, fn)
}

func progressOf(ctx context.Context) func(string, int64) {
	fn, _ := ctx.Value(progressKey).(func(string, int64))
	return fn
}

// WithExpect makes Write and Edit fail with [workspace.ErrChanged] when the file's SHA-256 is not
// sum ([workspace.Absent] for no file). An empty sum disables the check.
func WithExpect(ctx context.Context, sum string) context.Context {
	return context.WithValue(ctx, expectKey, sum)
}

// WithNetwork says that the person allowed the network for this call.
func WithNetwork(ctx context.Context) context.Context {
	return context.WithValue(ctx, networkKey, true)
}

// WithDirect says that the call was made by the person, not by the agent.
func WithDirect(ctx context.Context) context.Context {
	return context.WithValue(ctx, directKey, true)
}

func isDirect(ctx context.Context) bool {
	direct, _ := ctx.Value(directKey).(bool)
	return direct
}

// WithCall sets the ID of the call, which the events of the command that it starts contain.
func WithCall(ctx context.Context, id protocol.CallID) context.Context {
	return context.WithValue(ctx, callKey, id)
}

func callOf(ctx context.Context) protocol.CallID {
	id, _ := ctx.Value(callKey).(protocol.CallID)
	return id
}

func networkOf(ctx context.Context) bool {
	granted, _ := ctx.Value(networkKey).(bool)
	return granted
}

// WithFolders opens folders outside the workspace for this call. Only folders that the call's
// preview named may be passed.
func WithFolders(ctx context.Context, list []protocol.FolderAccess) context.Context {
	if len(list) == 0 {
		return ctx
	}
	return context.WithValue(ctx, foldersKey, list)
}

func foldersOf(ctx context.Context) []protocol.FolderAccess {
	list, _ := ctx.Value(foldersKey).([]protocol.FolderAccess)
	return list
}

func expectOf(ctx context.Context) string {
	sum, _ := ctx.Value(expectKey).(string)
	return sum
}

// mostCounted is the largest whole number that JSON carries reliably. A log of 10 GB may have more
// lines than 32 bits can count.
const mostCounted = 1 << 53

// whole reads an optional whole number; nil returns otherwise. Models write both 10 and 10.0.
func whole(name string, v *float64, otherwise int64) (int64, error) {
	if v == nil {
		return otherwise, nil
	}
	if *v < 0 || *v != math.Trunc(*v) {
		return 0, &toolkit.InputError{Err: fmt.Errorf("%s must be a whole number of 0 or more, not %v", name, *v)}
	}
	return int64(min(*v, mostCounted)), nil
}

// failf makes an error that the model sees unchanged: a sentence, in the original system's words
// where peers match on them.
func failf(format string, args ...any) error { return fmt.Errorf(format, args...) }
