package state

import (
	"context"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// FileEntry is a file or folder. Path is relative to the place, with slashes, or absolute where it lies in another folder than the workspace.
type FileEntry struct {
	Path    string
	Dir     bool
	Info    protocol.FileInfo // empty where the place does not tell it
	Missing bool              // it is not there, and the agent would read it
}

// Name is the last part of its path.
func (e FileEntry) Name() string { return path.Base(e.Path) }

// FilesView is what the page of files shows.
type FilesView struct {
	Place   protocol.NodeID // the machine; empty is the agent's own files
	Dir     string          // relative to the place; empty is its top
	Loading bool
	Problem string
	Note    string      // what else there is to know of the list
	Shallow string      // why changes in folders below are not followed, in half a sentence; empty when they are, or nothing is
	Entries []FileEntry // of Dir, or of everything below it when a filter is set: in the order of Sort, folders first
	Filter  string
	Sort    FileSort
	File    *OpenFile
	// Serves says that the place tells sizes and times and lets files be moved and deleted; Fixed that nothing may be changed in this folder.
	Serves, Fixed bool
	// Changed is what the agent changed on the machine, the newest first.
	Changed []protocol.FileChange
	At      string // the folder's own absolute path, where it is known
}

// Files is the view-model of the page of files. Its methods return at once, are safe for use by many goroutines, and what they lead to arrives as
// a changed value.
type Files struct {
	Value *Value[FilesView]
	a     *App

	all  *Value[machineFiles]
	live follow
}

// NewFiles makes it, with nothing loaded. Leave ends it.
func NewFiles(a *App) *Files {
	f := &Files{Value: NewValue(FilesView{Loading: true}), a: a, all: NewValue(machineFiles{})}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files = append(a.files, f)
	return f
}

// Open shows the top of a place.
func (f *Files) Open(place protocol.NodeID) {
	f.Value.Update(func(v FilesView) FilesView {
		return FilesView{Place: place, Loading: true, Sort: v.Sort, Serves: f.serves(place)}
	})
	f.all.Update(func(machineFiles) machineFiles { return machineFiles{} })
	f.Reload()
}

// Enter shows a folder.
func (f *Files) Enter(dir string) {
	f.Value.Update(func(v FilesView) FilesView {
		v.Dir, v.File, v.Problem, v.Filter = within(f.a.Value.Get(), v.Place, dir), nil, "", ""
		v.Loading, v.Shallow = v.Place == "" || v.Serves, ""
		if v.Loading {
			v.Entries, v.Note = nil, "" // what is chosen of the folder before is not here
		}
		return v
	})
	f.show()
}

// Up shows the folder above, or leaves the file that is shown.
func (f *Files) Up() {
	v := f.Value.Get()
	if v.File != nil {
		f.Value.Update(func(v FilesView) FilesView { v.File = nil; return v })
		return
	}
	f.Enter(above(v.Dir))
}

// Narrow shows only what has a text in its path, in all folders below. Until it is known what that is, it narrows what is shown.
func (f *Files) Narrow(filter string) {
	f.Value.Update(func(v FilesView) FilesView {
		if v.Filter = strings.TrimSpace(filter); v.Filter != "" {
			v.Entries = drop(v.Entries, func(e FileEntry) bool { return e.Dir || !matches(strings.TrimPrefix(e.Path, v.Dir+"/"), v.Filter) })
			v.Loading = v.Loading || len(v.Entries) == 0
		}
		return v
	})
	f.show()
}

// Sort chooses the order.
func (f *Files) Sort(by FileSort) {
	f.Value.Update(func(v FilesView) FilesView {
		v.Sort, v.Entries = by, slices.Clone(v.Entries)
		by.order(v.Entries)
		return v
	})
	if !f.Value.Get().Serves {
		f.show()
	}
}

// Reload asks the place again. What is shown stays until it has answered.
func (f *Files) Reload() {
	f.all.Update(func(machineFiles) machineFiles { return machineFiles{} })
	f.Value.Update(func(v FilesView) FilesView { v.Serves = f.serves(v.Place); return v })
	f.show()
}

// show loads what the view needs and does not have.
func (f *Files) show() {
	turn := f.live.next()
	f.a.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		want := f.Value.Get()
		entries, note, err := f.list(ctx, turn, want)
		again := false
		f.Value.Update(func(v FilesView) FilesView {
			if v.Place != want.Place || v.Dir != want.Dir || v.Filter != want.Filter {
				return v // another was asked for meanwhile
			}
			now, late, anew := f.live.settle(turn, v, entries)
			again = again || anew
			if late {
				return v
			}
			v.Loading, v.Problem = false, ""
			if err != nil {
				v.Problem = sentence(err)
				return v
			}
			v.Entries, v.Note = now, note
			v.Sort.order(v.Entries)
			return v
		})
		if again {
			f.Reload()
		}
	})
}

func (f *Files) list(ctx context.Context, turn uint64, v FilesView) ([]FileEntry, string, error) {
	if v.Place == "" {
		r, err := Call(ctx, f.a, protocol.WorkspaceList, protocol.WorkspaceListParams{Path: v.Dir})
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
			list = append(list, missing(list)...)
		}
		list = drop(list, func(e FileEntry) bool { return !matches(e.Path, v.Filter) })
		return list, "", nil
	}
	if v.Serves && v.Filter == "" {
		return f.folder(ctx, turn, v)
	}
	all, err := f.found(ctx, v)
	if err != nil {
		return nil, "", err
	}
	return entriesOf(all.paths, v), all.note, nil
}
