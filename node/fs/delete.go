package fs

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

type removeIn struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive,omitempty"`
	Force     bool   `json:"force,omitempty"`
}

// minDepth is the number of segments that a path needs for a recursive deletion without force.
const minDepth = 3

// depth counts the segments of a path, of any system.
func depth(path string) int {
	return len(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }))
}

// checkDepth refuses to delete a folder high in the tree, such as /home/ann.
func (in removeIn) checkDepth() error {
	if in.Recursive && !in.Force && depth(filepath.Clean(workspace.Unspell(in.Path))) < minDepth {
		return protocol.NewFault(protocol.FaultInvalidArgs, "'"+in.Path+"' is so high in the tree that deleting it could destroy the system. Set force if you mean it.")
	}
	return nil
}

// checkRemove returns why an entry cannot be deleted, so that the person is not asked in vain.
func checkRemove(ws *workspace.Root, p workspace.Path, in removeIn) error {
	i, err := info(ws, p)
	if err != nil {
		return at(p, "delete", err)
	}
	if !i.Mode.IsDir() || in.Recursive {
		return nil
	}
	d, err := ws.OpenDir(p)
	if err != nil {
		return at(p, "delete", err)
	}
	defer d.Close()
	empty := true
	if err := d.Infos(func(workspace.Info) bool { empty = false; return false }); err != nil {
		return at(p, "delete", err)
	}
	if !empty {
		return protocol.NewFault(protocol.FaultFailedPrecondition, "'"+p.String()+"' is a folder with files in it. Set recursive to delete it with all of them.")
	}
	return nil
}

func previewRemove(scope access.Scope, in removeIn) protocol.CallPreview {
	if err := in.checkDepth(); err != nil {
		return problem(in.Path, err)
	}
	return preview(scope, in.Path, true, func(ws *workspace.Root, p *protocol.CallPreview, at workspace.Path) {
		err := checkRemove(ws, at, in)
		if err == nil {
			err = ws.Writable(at)
		}
		if err != nil {
			access.SetProblem(p, faultOf(err))
		}
	})
}

// remove moves an entry to the trash, where it stays for workspace.TrashAge.
func remove(_ context.Context, ws *workspace.Root, _ access.Call, in removeIn) (out doneOut, err error) {
	began := time.Now()
	if err := in.checkDepth(); in.Path != "" && err != nil {
		return out, err
	}
	p, err := resolve(ws, in.Path)
	if err == nil {
		err = checkRemove(ws, p, in)
	}
	if err != nil {
		return out, err
	}
	if _, err := ws.Entries().Trash(p); err != nil {
		return out, at(p, "delete", err)
	}
	return doneOut{Path: p.String(), Duration: since(began)}, nil
}
