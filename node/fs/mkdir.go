package fs

import (
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

type doneOut struct {
	Path     string `json:"path"`
	Duration int64  `json:"duration_ms"`
}

type mkdirIn struct {
	Path      string `json:"path"`
	Mode      string `json:"mode,omitempty"`
	Recursive bool   `json:"recursive,omitempty"`
}

func previewMkdir(scope access.Scope, in mkdirIn) protocol.CallPreview {
	return preview(scope, in.Path, true, func(ws *workspace.Root, p *protocol.CallPreview, at workspace.Path) {
		real, _, err := ws.Target(at)
		if errors.Is(err, iofs.ErrNotExist) {
			p.Path, p.Outside = real.String(), real.Outside
		}
		switch {
		case err == nil && !in.Recursive:
			access.SetProblem(p, protocol.NewFault(protocol.FaultAlreadyExists, "'"+at.String()+"' exists already"))
		case err == nil, errors.Is(err, iofs.ErrNotExist):
			access.SetProblem(p, faultOf(ws.Writable(at)))
		}
	})
}

// mkdir creates a folder; with those above it, and without an error if it exists, if recursive.
func mkdir(_ context.Context, ws *workspace.Root, _ access.Call, in mkdirIn) (out doneOut, err error) {
	began := time.Now()
	mode, err := parseMode(in.Mode)
	if err != nil {
		return out, err
	}
	p, err := resolve(ws, in.Path)
	if err != nil {
		return out, err
	}
	out = doneOut{Path: p.String()}
	_, _, before := ws.Target(p)
	if !in.Recursive {
		_, err = ws.Entries().Mkdir(p)
	}
	if err == nil {
		var h workspace.OpenFolder
		if h, err = ws.OpenFolderForWriting(p, ".", in.Recursive); err == nil {
			if before != nil { // an existing folder keeps its permissions
				err = setMode(h.Root, mode)
			}
			h.Root.Close()
		}
	}
	out.Duration = since(began)
	return out, at(p, "create", err)
}

// setMode sets the permissions of a new folder; 0 are those of newFolderMode.
func setMode(dir *os.Root, mode iofs.FileMode) error {
	if mode != 0 {
		return dir.Chmod(".", mode)
	}
	info, err := dir.Stat(".")
	if err != nil || info.Mode().Perm()&^newFolderMode == 0 {
		return err
	}
	return dir.Chmod(".", info.Mode()&^(0o777&^newFolderMode))
}
