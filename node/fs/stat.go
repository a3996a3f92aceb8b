package fs

import (
	"context"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

type entry struct {
	Name  string `json:"name"`
	Path  string `json:"path,omitempty"` // absolute, of a recursive listing
	Size  int64  `json:"size"`
	Mode  string `json:"mode"`  // octal
	MTime int64  `json:"mtime"` // Unix time in seconds
	IsDir bool   `json:"is_dir"`
	Error string `json:"error,omitempty"` // why a folder could not be read
}

func newEntry(i workspace.Info) entry {
	return entry{Name: workspace.Spell(i.Name), Size: i.Size, Mode: fmt.Sprintf("%04o", i.Mode.Perm()), MTime: i.Time.Unix(), IsDir: i.Mode.IsDir()}
}

type pathIn struct {
	Path string `json:"path"`
}

type statOut struct {
	Path     string `json:"path"`
	Entry    entry  `json:"entry"`
	Duration int64  `json:"duration_ms"`
}

func previewStat(scope access.Scope, in pathIn) protocol.CallPreview {
	return preview(scope, in.Path, false, func(ws *workspace.Root, p *protocol.CallPreview, at workspace.Path) {
		if i, err := info(ws, at); err == nil && i.Mode&iofs.ModeSymlink != 0 && !at.Outside {
			*p = protocol.CallPreview{Path: at.String(), Secret: p.Secret} // of the link itself, wherever it leads
		}
	})
}

// stat describes an entry; of a link, the link itself.
func stat(_ context.Context, ws *workspace.Root, _ access.Call, in pathIn) (out statOut, err error) {
	began := time.Now()
	p, err := resolve(ws, in.Path)
	if err != nil {
		return out, err
	}
	i, err := info(ws, p)
	if err != nil {
		return out, unreadable(ws, p, "read", err)
	}
	return statOut{Path: p.String(), Entry: newEntry(i), Duration: since(began)}, nil
}

// info returns information about an entry, without following a link.
func info(ws *workspace.Root, p workspace.Path) (workspace.Info, error) {
	folder := filepath.Dir(p.Abs)
	parent, err := ws.At(folder)
	if err == nil && folder != p.Abs {
		if d, err := ws.OpenDir(parent); err == nil {
			defer d.Close()
			return d.Info(filepath.Base(p.Abs))
		}
	}
	// The folder above lies outside of what is open, or p is the root of the disk.
	_, i, err := ws.Target(p)
	if err != nil {
		return workspace.Info{}, err
	}
	return workspace.Info{Name: filepath.Base(p.Abs), Mode: i.Mode(), Size: i.Size(), Time: i.ModTime()}, nil
}
