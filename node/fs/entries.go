package fs

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// Limits of a listing.
const (
	defaultEntries = 10_000
	maxEntries     = 100_000
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

type listIn struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive,omitempty"`
	Limit     int    `json:"limit,omitempty"`
}

type listOut struct {
	Path      string  `json:"path"`
	Entries   []entry `json:"entries"`
	Count     int     `json:"count"`
	Truncated bool    `json:"truncated,omitempty"`
	Duration  int64   `json:"duration_ms"`
}

func previewList(scope access.Scope, in listIn) protocol.CallPreview {
	return preview(scope, in.Path, false, nil)
}

// listFolder lists a folder, in the order of names; with everything below if recursive. A folder that
// cannot be read has an error and does not fail the call. Links are not followed.
func listFolder(ctx context.Context, ws *workspace.Root, _ access.Call, in listIn) (out listOut, err error) {
	began := time.Now()
	if in.Limit < 0 || in.Limit > maxEntries {
		return out, protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("limit must be 1 to %d", maxEntries))
	}
	if in.Limit == 0 {
		in.Limit = defaultEntries
	}
	p, err := resolve(ws, in.Path)
	if err != nil {
		return out, err
	}
	d, err := ws.OpenDir(p)
	if err != nil {
		return out, unreadable(ws, p, "list", err)
	}
	defer d.Close()
	out = listOut{Path: workspace.Spell(d.Abs), Entries: []entry{}}
	l := &lister{ctx: ctx, recursive: in.Recursive, limit: in.Limit, out: &out}
	if err := l.folder(d); err != nil {
		return out, at(p, "list", err)
	}
	out.Count, out.Duration = len(out.Entries), since(began)
	return out, nil
}

type lister struct {
	ctx       context.Context
	recursive bool
	limit     int
	out       *listOut
}

// folder adds the entries of a folder, and closes those below it.
func (l *lister) folder(d *workspace.Dir) error {
	var infos []workspace.Info
	if err := d.Infos(func(i workspace.Info) bool {
		infos = append(infos, i)
		return l.ctx.Err() == nil
	}); err != nil {
		return err
	}
	if err := l.ctx.Err(); err != nil {
		return err
	}
	slices.SortFunc(infos, func(a, b workspace.Info) int { return strings.Compare(a.Name, b.Name) })
	for _, i := range infos {
		if len(l.out.Entries) == l.limit {
			l.out.Truncated = true
			return nil
		}
		e := newEntry(i)
		if !l.recursive {
			l.out.Entries = append(l.out.Entries, e)
			continue
		}
		e.Path = workspace.Spell(filepath.Join(d.Abs, i.Name))
		l.out.Entries = append(l.out.Entries, e)
		if !e.IsDir {
			continue
		}
		at := len(l.out.Entries) - 1
		if err := l.below(d, i.Name); errors.Is(err, context.Canceled) {
			return err
		} else if err != nil {
			l.out.Entries[at].Error = workspace.Cause(err).Error()
		}
	}
	return nil
}

func (l *lister) below(d *workspace.Dir, name string) error {
	sub, err := d.Sub(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	return l.folder(sub)
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

type removeIn struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive,omitempty"`
	Force     bool   `json:"force,omitempty"`
}

type doneOut struct {
	Path     string `json:"path"`
	Duration int64  `json:"duration_ms"`
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
