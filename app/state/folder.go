package state

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// Columns of a list of files.
const (
	ByName = "name"
	BySize = "size"
	ByTime = "time"
)

// FileSort is the order of a list of files; the zero value is by name.
type FileSort struct {
	By   string `json:"by,omitempty"`
	Down bool   `json:"down,omitempty"` // the other way round
}

// Next is the order after a click on a column's head: names begin with A, sizes and times with the largest and newest, and a second click turns it.
func (s FileSort) Next(by string) FileSort {
	if cmp.Or(s.By, ByName) == by {
		return FileSort{By: by, Down: !s.Down}
	}
	return FileSort{By: by, Down: by != ByName}
}

// order puts folders first. Where neither size nor time is known, the order by time is the one it came in: the newest first.
func (s FileSort) order(list []FileEntry) {
	known := slices.ContainsFunc(list, func(e FileEntry) bool { return e.Info.Name != "" })
	if s.By == ByTime && !known {
		return
	}
	keys := make(map[string]string, len(list)) // lower case, once for each
	for _, e := range list {
		keys[e.Path] = strings.ToLower(e.Path)
	}
	slices.SortStableFunc(list, func(a, b FileEntry) int {
		if a.Dir != b.Dir {
			if a.Dir {
				return -1
			}
			return 1
		}
		c := 0
		switch s.By {
		case BySize:
			c = cmp.Compare(a.Info.Size, b.Info.Size)
		case ByTime:
			c = cmp.Compare(a.Info.Time, b.Info.Time)
		}
		byName := cmp.Or(strings.Compare(keys[a.Path], keys[b.Path]), strings.Compare(a.Path, b.Path))
		if c == 0 && (s.By == BySize || s.By == ByTime) {
			return byName
		}
		if c == 0 {
			c = byName
		}
		if s.Down {
			return -c
		}
		return c
	})
}

// serves reports whether a machine serves the browser of its files.
func (f *Files) serves(place protocol.NodeID) bool {
	n, ok := f.a.Value.Get().Node(place)
	return ok && n.Files
}

// within is a folder as the view names it: relative to the workspace of a machine, or absolute outside of it.
func within(v View, place protocol.NodeID, dir string) string {
	dir = strings.ReplaceAll(dir, `\`, "/")
	if n, ok := v.Node(place); ok && n.Host != nil && n.Host.Workspace != "" && place != "" {
		top := strings.TrimSuffix(strings.ReplaceAll(n.Host.Workspace, `\`, "/"), "/")
		if dir == top {
			return ""
		}
		dir = strings.TrimPrefix(dir, top+"/")
		if absolute(dir) {
			return strings.TrimSuffix(dir, "/")
		}
	}
	return strings.Trim(dir, "/")
}

func absolute(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/'
}

// above is the folder above one; the top's is the top.
func above(dir string) string {
	if i := strings.LastIndex(dir, "/"); i > 0 {
		return dir[:i]
	}
	return ""
}

// Crumb is a step on the way to a folder.
type Crumb struct{ Name, Dir string }

// Crumbs are the steps from the top of the place, or of a folder that was granted, to the folder shown.
func (v FilesView) Crumbs(app View) []Crumb {
	var list []Crumb
	rest, from := v.Dir, ""
	if absolute(v.Dir) {
		if n, ok := app.Node(v.Place); ok && n.Host != nil {
			for _, g := range n.Host.Folders {
				top := strings.TrimSuffix(strings.ReplaceAll(g.Path, `\`, "/"), "/")
				if under, ok := strings.CutPrefix(v.Dir+"/", top+"/"); ok && len(top) > len(from) {
					from, rest = top, strings.TrimSuffix(under, "/")
				}
			}
		}
		if from != "" {
			list = append(list, Crumb{Name: path.Base(from), Dir: from})
		}
	}
	for name := range strings.SplitSeq(rest, "/") {
		if name == "" {
			continue
		}
		if from != "" || absolute(v.Dir) {
			from += "/"
		}
		from += name
		list = append(list, Crumb{Name: name, Dir: from})
	}
	return list
}

// Folders are what a machine opens beside its workspace.
func Folders(n protocol.NodeInfo) (list []Crumb) {
	if n.Host == nil {
		return nil
	}
	for _, g := range n.Host.Folders {
		if g.Path != n.Host.Workspace {
			list = append(list, Crumb{Name: path.Base(strings.ReplaceAll(g.Path, `\`, "/")), Dir: g.Path})
		}
	}
	return list
}

// folder asks a machine for one of its folders.
func (f *Files) folder(ctx context.Context, turn uint64, v FilesView) ([]FileEntry, string, error) {
	r, err := Call(ctx, f.a, protocol.FilesList, protocol.FilesListParams{Node: v.Place, Path: v.Dir, Watch: true, Below: true})
	if err != nil {
		return nil, "", err
	}
	list := f.followed(turn, v, r)
	f.askChanges(v.Place, 0)
	f.Value.Update(func(now FilesView) FilesView {
		if now.Place == v.Place && now.Dir == v.Dir {
			now.At, now.Fixed = r.Path, r.ReadOnly
		}
		return now
	})
	note := ""
	if r.Cut {
		note = fmt.Sprintf("The first %d of more.", len(list))
	}
	return list, note, nil
}

func entryOf(dir string, e protocol.FileInfo) FileEntry {
	p := e.Name
	if dir != "" {
		p = strings.TrimSuffix(dir, "/") + "/" + e.Name
	}
	return FileEntry{Path: p, Dir: e.Folder(), Info: e}
}

// Make makes a folder in the one that is shown and returns its path. It blocks.
func (f *Files) Make(ctx context.Context, name string) (string, error) {
	v := f.Value.Get()
	made := entryOf(v.Dir, protocol.FileInfo{Name: name, Kind: protocol.FileFolder})
	_, err := Call(ctx, f.a, protocol.FilesMake, protocol.FilesPathParams{Node: v.Place, Path: made.Path})
	f.again(err)
	return made.Path, err
}

// NewName is a name for a new folder that none of the entries has.
func (v FilesView) NewName() string {
	taken := map[string]bool{}
	for _, e := range v.Entries {
		taken[strings.ToLower(e.Name())] = true
	}
	name := "New folder"
	for i := 2; taken[strings.ToLower(name)]; i++ {
		name = fmt.Sprintf("New folder %d", i)
	}
	return name
}

// Rename gives something in the folder another name, and returns its path with it and what gives it the old one; without another name undo is nil. It
// blocks.
func (f *Files) Rename(ctx context.Context, p, name string) (to string, undo func(), err error) {
	if name == path.Base(p) { // which may have blanks around it
		return p, nil, nil
	}
	name = strings.TrimSpace(name)
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		return p, nil, protocol.ErrBadRequest.With("a name is not empty and has no slash")
	}
	to = entryOf(above(p), protocol.FileInfo{Name: name}).Path
	_, undo, err = f.move(ctx, []step{{p, to}})
	return to, undo, err
}

// Trash deletes files and folders of a machine and returns how many, and what brings them back. It blocks. With an error some may have been deleted.
func (f *Files) Trash(ctx context.Context, paths []string) (n int, undo func(), err error) {
	place := f.Value.Get().Place
	r, err := Call(ctx, f.a, protocol.FilesTrash, protocol.FilesTrashParams{Node: place, Paths: paths})
	if err != nil {
		return 0, nil, err
	}
	if r.Problem != "" {
		err = protocol.ErrInternal.With(r.Problem)
	}
	f.again(nil)
	return len(r.Items), func() {
		f.a.start(func(ctx context.Context) {
			for _, item := range slices.Backward(r.Items) {
				if _, err := Call(ctx, f.a, protocol.FilesRestore, protocol.FilesRestoreParams{Node: place, ID: item.ID, Path: item.Path}); err != nil {
					f.a.fail(err)
				}
			}
			f.again(nil)
		})
	}, err
}

// again shows what an act has changed.
func (f *Files) again(err error) {
	if err == nil {
		f.Reload()
	}
}
