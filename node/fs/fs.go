// Package fs is the file tools that a node offers to programs, which call over MCP, REST or the
// command line: reading and writing in parts, listing, deleting, creating folders and downloading.
// The agent does not see them, because it has the tools of packages file and search. Everything goes
// through the node's workspace (package workspace), with the same limits and the same approvals.
//
// Failures are protocol.Fault with a code.
package fs

import (
	"context"
	"errors"
	iofs "io/fs"
	"path/filepath"
	"strconv"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// Tools makes the file tools for programs.
func Tools(scope access.Scope) []toolkit.Tool[access.Call] {
	open := newTransfers()
	reads, writes, fetches := readTool{open}, writeTool{open}, fetchTool{open}
	read := toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true, Caps: []string{protocol.CapRead}}
	list := toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true, Caps: []string{protocol.CapList}}
	write := toolkit.Traits{Effect: protocol.EffectWrite, Idempotent: true, Caps: []string{protocol.CapWrite}}
	fetch := toolkit.Traits{Effect: protocol.EffectNetwork, Idempotent: true, Caps: []string{protocol.CapWrite}}
	return []toolkit.Tool[access.Call]{
		define(scope, "fs_read", "Reads a file in parts. For programs.", read, reads.run, previewRead),
		define(scope, "fs_write", "Writes a file in parts, and replaces it in one step. For programs.", write, writes.run, writes.preview),
		define(scope, "fs_list", "Lists a folder. For programs.", list, listFolder, previewList),
		define(scope, "fs_stat", "Describes a file or folder. For programs.", list, stat, previewStat),
		define(scope, "fs_delete", "Moves a file or folder to the trash. For programs.", write, remove, previewRemove),
		define(scope, "fs_mkdir", "Creates a folder. For programs.", write, mkdir, previewMkdir),
		define(scope, "fs_fetch", "Downloads a file. For programs.", fetch, fetches.run, previewFetch),
	}
}

// define makes a tool whose calls get the folders that the person opened for them.
func define[In, Out any](scope access.Scope, name, doc string, t toolkit.Traits,
	run func(context.Context, *workspace.Root, access.Call, In) (Out, error), preview func(access.Scope, In) protocol.CallPreview,
) toolkit.Tool[access.Call] {
	do := access.ForCalls(scope, func(ctx context.Context, ws *workspace.Root, c access.Call, in In) (Out, error) {
		return run(ctx, ws.WithTarget(workspace.Unspell(c.Target)), c, in)
	})
	d := toolkit.Define(name, doc, t, func(ctx context.Context, c access.Call, in In) (Out, error) {
		out, err := do(ctx, c, in)
		return out, faultOf(err)
	})
	return toolkit.WithPreview(d, func(_ context.Context, _ access.Call, in In) (protocol.CallPreview, error) {
		return preview(scope, in), nil
	})
}

// resolve resolves the absolute path of a call.
func resolve(ws *workspace.Root, text string) (workspace.Path, error) {
	if text == "" {
		return workspace.Path{}, protocol.NewFault(protocol.FaultInvalidArgs, "path is required")
	}
	if !filepath.IsAbs(workspace.Unspell(text)) {
		return workspace.Path{}, protocol.NewFault(protocol.FaultInvalidArgs, "path must be absolute on its machine, such as "+exampleOf())
	}
	return ws.Resolve(text)
}

func exampleOf() string {
	if workspace.FoldsCase && filepath.Separator == '\\' {
		return `C:\Users\ann\notes.txt`
	}
	return "/home/ann/notes.txt"
}

// preview describes a call with a path. It finds the folder that the person would have to open.
func preview(scope access.Scope, path string, write bool, describe func(*workspace.Root, *protocol.CallPreview, workspace.Path)) protocol.CallPreview {
	if _, err := resolve(scope.Root, path); path == "" || err != nil {
		if fault, ok := errors.AsType[*protocol.Fault](err); ok {
			return problem("", fault)
		}
	}
	p, err := scope.Preview(path, write, func(s access.Scope) (protocol.CallPreview, error) {
		preview := access.PreviewPath(s.Root, path)
		at, err := s.Root.Resolve(path)
		if err == nil && describe != nil {
			describe(s.Root, &preview, at)
		}
		return preview, nil
	})
	if err != nil {
		access.SetProblem(&p, faultOf(err))
	}
	return p
}

// problem describes a call that cannot work.
func problem(path string, err error) protocol.CallPreview {
	p := protocol.CallPreview{Path: path}
	access.SetProblem(&p, err)
	return p
}

// faultOf returns an error as a fault with the code that fits it; nil stays nil.
func faultOf(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if f, ok := errors.AsType[*protocol.Fault](err); ok {
		return f
	}
	if f := access.FaultOf(err); f != nil {
		return f
	}
	return protocol.NewFault(protocol.FaultInternal, err.Error())
}

// at adds the path to an error that does not name it.
func at(p workspace.Path, doing string, err error) error {
	if err == nil {
		return nil
	}
	f, _ := errors.AsType[*protocol.Fault](faultOf(err))
	if f == nil || workspace.IsRefusal(err) {
		return faultOf(err)
	}
	if f.Code == protocol.FaultNotFound {
		return protocol.NewFault(f.Code, "'"+p.String()+"' does not exist")
	}
	return protocol.NewFault(f.Code, "Failed to "+doing+" '"+p.String()+"': "+format.WithoutPath(err).Error())
}

// unreadable describes why an entry could not be read, and names the one that looks the same.
func unreadable(ws *workspace.Root, p workspace.Path, doing string, err error) error {
	return access.NameLookAlike(ws, p, at(p, doing, err))
}

// Permissions of new files and folders without a mode, from which the system's umask takes more.
const (
	newFileMode   iofs.FileMode = 0o644
	newFolderMode iofs.FileMode = 0o755
)

// parseMode reads octal permissions; empty is 0.
func parseMode(text string) (iofs.FileMode, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 8, 32)
	if err != nil || n > 0o777 || n == 0 {
		return 0, protocol.NewFault(protocol.FaultInvalidArgs, "mode must be octal permissions such as \"0644\", at most \"0777\"")
	}
	return iofs.FileMode(n), nil
}

func since(began time.Time) int64 { return time.Since(began).Milliseconds() }
