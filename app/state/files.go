package state

import (
	"context"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// FileEntry is a file or folder. Path uses slashes and is relative to the place, or absolute if it
// is outside the workspace.
type FileEntry struct {
	Path    string
	Dir     bool
	Info    protocol.FileInfo // empty if the place does not report it
	Missing bool              // the agent would read this file, but it does not exist
}

// Name returns the last element of the path.
func (e FileEntry) Name() string { return path.Base(e.Path) }

// FilesView is the state of the page of files.
type FilesView struct {
	Place   protocol.NodeID // the machine; empty for the agent's own files
	Dir     string          // relative to the place; empty for its top folder
	Loading bool
	Problem string
	Note    string // additional information about the list
	// why changes in subfolders are not watched, as part of a sentence; empty if they are, or if
	// nothing is watched
	WatchProblem string
	// the entries of Dir, or of its whole tree with a filter: in the order of Sort, folders first
	Entries []FileEntry
	Filter  string
	Sort    FileSort
	File    *OpenFile
	// CanBrowse reports whether the place knows sizes and times and can move and delete files.
	// Fixed reports whether this folder is read-only.
	CanBrowse, ReadOnly bool
	// Changed are the agent's changes on the machine, newest first.
	Changed []protocol.FileChange
	At      string // absolute path of the folder, if known
}

// Files is the view model of the page of files. Its methods return at once and are safe for
// concurrent use; their results arrive as changes of the value.
type Files struct {
	AgentFiles // the agent's own files; their methods block
	Value      *Value[FilesView]

	app   *App
	index fileIndex
	watch folderWatch
}

// NewFiles returns an empty view model. Leave stops it.
func NewFiles(a *App) *Files {
	f := &Files{Value: NewValue(FilesView{Loading: true}), app: a, index: fileIndex{app: a}}
	f.AgentFiles = AgentFiles{app: a, changed: f.Reload}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files = append(a.files, f)
	return f
}

// Delete deletes one of the agent's files, closes it, and returns a function that restores it. It
// blocks.
func (f *Files) Delete(ctx context.Context, p string) (undo func(), err error) {
	if undo, err = f.AgentFiles.Delete(ctx, p); err == nil {
		f.Value.Update(func(v FilesView) FilesView { v.File = nil; return v })
	}
	return undo, err
}

// Open shows the top folder of a place.
func (f *Files) Open(place protocol.NodeID) {
	f.Value.Update(func(v FilesView) FilesView {
		return FilesView{Place: place, Loading: true, Sort: v.Sort, CanBrowse: f.canBrowse(place)}
	})
	f.index.reset()
	f.Reload()
}

// Enter shows a folder.
func (f *Files) Enter(dir string) {
	f.Value.Update(func(v FilesView) FilesView {
		v.Dir, v.File, v.Problem, v.Filter = relativeDir(f.app.Value.Get(), v.Place, dir), nil, "", ""
		v.Loading, v.WatchProblem = v.Place == "" || v.CanBrowse, ""
		if v.Loading {
			v.Entries, v.Note = nil, "" // entries and their selection belong to the previous folder
		}
		return v
	})
	f.show()
}

// Up shows the parent folder, or closes the file that is shown.
func (f *Files) Up() {
	v := f.Value.Get()
	if v.File != nil {
		f.Value.Update(func(v FilesView) FilesView { v.File = nil; return v })
		return
	}
	f.Enter(parentDir(v.Dir))
}

// SetFilter filters by a text in the path, in all subfolders. Until the result arrives, it filters
// the current entries.
func (f *Files) SetFilter(filter string) {
	f.Value.Update(func(v FilesView) FilesView {
		if v.Filter = strings.TrimSpace(filter); v.Filter != "" {
			v.Entries = without(v.Entries, func(e FileEntry) bool { return e.Dir || !matches(strings.TrimPrefix(e.Path, v.Dir+"/"), v.Filter) })
			v.Loading = v.Loading || len(v.Entries) == 0
		}
		return v
	})
	f.show()
}

// Sort sets the order.
func (f *Files) Sort(by FileSort) {
	f.Value.Update(func(v FilesView) FilesView {
		v.Sort, v.Entries = by, slices.Clone(v.Entries)
		by.order(v.Entries)
		return v
	})
	if !f.Value.Get().CanBrowse {
		f.show()
	}
}

// Reload loads the folder again. The current entries stay until the result arrives.
func (f *Files) Reload() {
	f.index.reset()
	f.Value.Update(func(v FilesView) FilesView { v.CanBrowse = f.canBrowse(v.Place); return v })
	f.show()
}

// show loads what the view needs and does not have yet.
func (f *Files) show() {
	request := f.watch.next()
	f.app.startRequest(func(ctx context.Context) {
		want := f.Value.Get()
		entries, note, err := f.list(ctx, request, want)
		reload := false
		f.Value.Update(func(v FilesView) FilesView {
			if v.Place != want.Place || v.Dir != want.Dir || v.Filter != want.Filter {
				return v // superseded by a later request
			}
			current, outdated, again := f.watch.applyEvents(request, v, entries)
			reload = reload || again
			if outdated {
				return v
			}
			v.Loading, v.Problem = false, ""
			if err != nil {
				v.Problem = sentence(err)
				return v
			}
			v.Entries, v.Note = current, note
			v.Sort.order(v.Entries)
			return v
		})
		if reload {
			f.Reload()
		}
	})
}

func (f *Files) list(ctx context.Context, request uint64, v FilesView) ([]FileEntry, string, error) {
	if v.Place == "" {
		r, err := Call(ctx, f.app, protocol.WorkspaceList, protocol.WorkspaceListParams{Path: v.Dir})
		if err != nil {
			return nil, "", err
		}
		var list []FileEntry
		for _, d := range r.Directories {
			list = append(list, FileEntry{Path: strings.Trim(d, "/"), Dir: true})
		}
		for _, p := range r.Files {
			list = append(list, FileEntry{Path: strings.Trim(p, "/")})
		}
		if v.Dir == "" {
			list = append(list, missingFiles(list)...)
		}
		list = without(list, func(e FileEntry) bool { return !matches(e.Path, v.Filter) })
		return list, "", nil
	}
	if v.CanBrowse && v.Filter == "" {
		return f.folder(ctx, request, v)
	}
	all, err := f.index.find(ctx, v)
	if err != nil {
		return nil, "", err
	}
	return entriesOf(all.paths, v), all.note, nil
}
