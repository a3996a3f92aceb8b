package state

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// FilesView is the state of the page of files.
type FilesView struct {
	Place   protocol.NodeID // the machine; empty for the agent's own files
	Dir     string          // relative to the place; empty for its top folder
	Loading bool
	Problem string
	Note    string // additional information about the list
	// why changes in subfolders are not watched, as a part of a sentence; else empty
	WatchProblem string
	// the entries of Dir, or of its whole tree with a filter: in the order of Sort, folders first
	Entries []FileEntry
	Filter  string
	Sort    FileSort
	// ShowHidden includes hidden files and folders in Entries; Hidden is the number of those left out.
	ShowHidden bool
	Hidden     int
	File       *OpenFile
	// CanBrowse reports whether the place knows sizes and times and can move and delete files.
	// ReadOnly reports whether this folder is read-only.
	CanBrowse, ReadOnly bool
	// Changed are the agent's changes on the machine, newest first.
	Changed []protocol.FileChange
}

// Files is the view model of the page of files. It is safe for concurrent use.
type Files struct {
	Agent  AgentFiles // the agent's own files
	Folder Folder     // the folder that is shown
	Value  *feed.Value[FilesView]

	app *App

	mu       sync.Mutex // guards the fields below
	request  uint64     // number of the latest request; results of earlier ones are ignored
	found    fileList   // of the latest search
	watchID  string     // the gateway's ID of the watch of the folder; empty for none
	watching bool       // a response with a new watch is expected
	early    bool       // an event arrived meanwhile, perhaps of that watch
	due      bool       // a refresh is scheduled
	closed   bool
	// returning means that the folder was remembered: it may no longer exist
	returning bool
}

// NewFiles returns an empty view model. Close stops it.
func NewFiles(a *App) *Files {
	f := &Files{Value: feed.NewValue(FilesView{Loading: true}), app: a}
	f.Agent = AgentFiles{feed.AgentFiles{Feed: a.Feed, Changed: f.Reload}}
	f.Folder = Folder{a, f.Value, f.refresh}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files = append(a.files, f)
	return f
}

// Close stops the page's watch at the gateway.
func (f *Files) Close() {
	f.app.mu.Lock()
	f.app.files = slices.DeleteFunc(f.app.files, func(other *Files) bool { return other == f })
	f.app.mu.Unlock()
	f.mu.Lock()
	f.closed = true
	f.request++
	f.mu.Unlock()
	f.stopWatch()
}

// Open shows the top folder of a place.
func (f *Files) Open(place protocol.NodeID) { f.Return(place, "") }

// Return shows a folder of a place that was shown before; if it is gone, the top folder.
func (f *Files) Return(place protocol.NodeID, dir string) {
	f.mu.Lock()
	f.returning = dir != ""
	f.mu.Unlock()
	f.Value.Update(func(v *FilesView) {
		*v = FilesView{Place: place, Dir: dir, Loading: true, Sort: v.Sort, ShowHidden: v.ShowHidden}
	})
	f.Reload()
}

// ShowHidden includes hidden files in the list, or leaves them out.
func (f *Files) ShowHidden(on bool) {
	f.Value.Update(func(v *FilesView) { v.ShowHidden = on })
	f.refresh()
}

// Enter shows a folder.
func (f *Files) Enter(dir string) {
	f.Value.Update(func(v *FilesView) {
		v.Dir, v.File, v.Problem, v.Filter = relativeDir(f.app.View(), v.Place, dir), nil, "", ""
		v.Loading, v.WatchProblem = v.Place == "" || v.CanBrowse, ""
		if v.Loading {
			// entries and their selection belong to the previous folder
			v.Entries, v.Hidden, v.Note = nil, 0, ""
		}
	})
	f.mu.Lock()
	f.returning = false
	f.mu.Unlock()
	f.stopWatch()
	f.show()
}

// Up shows the parent folder, or closes the file that is shown.
func (f *Files) Up() {
	v := f.Value.Get()
	if v.File != nil {
		f.Value.Update(func(v *FilesView) { v.File = nil })
		return
	}
	f.Enter(parentDir(v.Dir))
}

// SetFilter filters by path in all subfolders, and until the result arrives the current entries.
func (f *Files) SetFilter(filter string) {
	f.Value.Update(func(v *FilesView) {
		if v.Filter = strings.TrimSpace(filter); v.Filter != "" {
			v.Entries = lists.Without(v.Entries, func(e FileEntry) bool {
				return e.Dir || !wording.Matches(strings.TrimPrefix(e.Path, v.Dir+"/"), v.Filter)
			})
			v.Loading = v.Loading || len(v.Entries) == 0
		}
	})
	f.show()
}

// Sort sets the order.
func (f *Files) Sort(by FileSort) {
	f.Value.Update(func(v *FilesView) {
		v.Sort, v.Entries = by, slices.Clone(v.Entries)
		by.order(v.Entries)
	})
	if !f.Value.Get().CanBrowse {
		f.show()
	}
}

// Reload loads and watches the folder again. The current entries stay until the result arrives.
func (f *Files) Reload() {
	f.stopWatch()
	f.refresh()
}

// refresh is [Files.Reload] with the same watch.
func (f *Files) refresh() {
	f.mu.Lock()
	f.found = fileList{}
	f.mu.Unlock()
	f.Value.Update(func(v *FilesView) {
		n, ok := f.app.View().Machines.Find(v.Place)
		v.CanBrowse = ok && n.Files
	})
	f.show()
}

// show loads what the view needs and does not have yet.
func (f *Files) show() {
	want := f.Value.Get()
	browse := want.Place != "" && want.CanBrowse && want.Filter == ""
	f.mu.Lock()
	f.request++
	request, watch := f.request, browse && f.watchID == ""
	f.watching = watch
	f.mu.Unlock()
	f.app.Tasks.StartRequest(func(ctx context.Context) {
		entries, note, err := []FileEntry(nil), "", error(nil)
		readOnly := want.ReadOnly
		switch {
		case want.Place == "":
			entries, err = f.Agent.list(ctx, want.Dir, want.Filter)
		case browse:
			var r protocol.FilesListResult
			r, err = feed.Call(ctx, f.app, protocol.FilesList, protocol.FilesListParams{Node: want.Place, Path: want.Dir, Watch: watch, Below: watch})
			entries = lists.Map(r.Entries, func(e protocol.FileInfo) FileEntry { return entryOf(want.Dir, e) })
			if r.Cut {
				note = fmt.Sprintf("Showing the first %d entries.", len(entries))
			}
			readOnly = r.ReadOnly
			f.adoptWatch(request, r.WatchID)
		default:
			var all fileList
			all, err = searchFiles(ctx, f, want)
			entries, note = entriesOf(all.paths, want), all.note
		}
		if f.isGone(request, err) {
			f.Enter("")
			return
		}
		f.update(request, func(v *FilesView) {
			v.Loading, v.Problem = false, ""
			if err != nil {
				v.Problem = feed.Sentence(err)
				return
			}
			v.Entries, v.Note, v.ReadOnly = visibleEntries(entries, *v), note, readOnly
			v.Hidden = len(entries) - len(v.Entries)
			v.Sort.order(v.Entries)
		})
		if want.CanBrowse && err == nil {
			// older machines do not know the method; other errors show up in the list itself
			if r, err := feed.Call(ctx, f.app, protocol.FilesChanges, protocol.FilesChangesParams{Node: want.Place}); err == nil {
				f.update(request, func(v *FilesView) { v.Changed = r.Changes })
			}
		}
	})
}

// isGone reports whether a remembered folder could not be listed.
func (f *Files) isGone(request uint64, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if request != f.request {
		return false
	}
	gone := f.returning && err != nil
	f.returning = false
	return gone
}

// update changes the view, unless a later request was made.
func (f *Files) update(request uint64, change func(*FilesView)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if request == f.request {
		f.Value.Update(change)
	}
}
