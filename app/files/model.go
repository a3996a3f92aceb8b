package files

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

// View is the state of the page of files.
type View struct {
	Place   protocol.NodeID // the machine; empty for the agent's own files
	Dir     string          // relative to the place; empty for its top folder
	Loading bool
	Problem string
	Note    string // additional information about the list
	// why changes in subfolders are not watched, as a part of a sentence; else empty
	WatchProblem string
	// the entries of Dir, or of its whole tree with a filter: in the order of Sort, folders first
	Entries []Entry
	Filter  string
	Sort    Sort
	// ShowHidden includes hidden files and folders in Entries; Hidden is the number of those left out.
	ShowHidden bool
	Hidden     int
	File       *File
	// CanBrowse reports whether the place knows sizes and times and can move and delete files.
	// ReadOnly reports whether this folder is read-only.
	CanBrowse, ReadOnly bool
	// Changed are the agent's changes on the machine, newest first.
	Changed []protocol.FileChange
}

// Model is the view model of the page of files. It is safe for concurrent use.
type Model struct {
	Agent  agentFiles // the agent's own files
	Folder Folder     // the folder that is shown
	Value  *feed.Value[View]

	feed     *feed.Feed
	unfollow func() // ends the events about watched folders

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

// newModel returns an empty view model. Close stops it.
func newModel(a *feed.Feed) *Model {
	f := &Model{Value: feed.NewValue(View{Loading: true}), feed: a}
	f.Agent = agentFiles{feed.AgentFiles{Feed: a, Changed: f.Reload}}
	f.Folder = Folder{a, f.Value, f.refresh}
	f.unfollow = a.FollowFiles(f.handleChange)
	return f
}

// Close stops the page's watch at the gateway.
func (f *Model) Close() {
	f.unfollow()
	f.mu.Lock()
	f.closed = true
	f.request++
	f.mu.Unlock()
	f.stopWatch()
}

// Open shows the top folder of a place.
func (f *Model) Open(place protocol.NodeID) { f.Return(place, "") }

// Return shows a folder of a place that was shown before; if it is gone, the top folder.
func (f *Model) Return(place protocol.NodeID, dir string) {
	f.mu.Lock()
	f.returning = dir != ""
	f.mu.Unlock()
	f.Value.Update(func(v *View) {
		*v = View{Place: place, Dir: dir, Loading: true, Sort: v.Sort, ShowHidden: v.ShowHidden}
	})
	f.Reload()
}

// ShowHidden includes hidden files in the list, or leaves them out.
func (f *Model) ShowHidden(on bool) {
	f.Value.Update(func(v *View) { v.ShowHidden = on })
	f.refresh()
}

// Enter shows a folder.
func (f *Model) Enter(dir string) {
	f.Value.Update(func(v *View) {
		v.Dir, v.File, v.Problem, v.Filter = relativeDir(f.feed.Machines.Get(), v.Place, dir), nil, "", ""
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
func (f *Model) Up() {
	v := f.Value.Get()
	if v.File != nil {
		f.Value.Update(func(v *View) { v.File = nil })
		return
	}
	f.Enter(parentDir(v.Dir))
}

// SetFilter filters by path in all subfolders, and until the result arrives the current entries.
func (f *Model) SetFilter(filter string) {
	f.Value.Update(func(v *View) {
		if v.Filter = strings.TrimSpace(filter); v.Filter != "" {
			v.Entries = lists.Without(v.Entries, func(e Entry) bool {
				return e.Dir || !wording.Matches(strings.TrimPrefix(e.Path, v.Dir+"/"), v.Filter)
			})
			v.Loading = v.Loading || len(v.Entries) == 0
		}
	})
	f.show()
}

// Sort sets the order.
func (f *Model) Sort(by Sort) {
	f.Value.Update(func(v *View) {
		v.Sort, v.Entries = by, slices.Clone(v.Entries)
		by.order(v.Entries)
	})
	if !f.Value.Get().CanBrowse {
		f.show()
	}
}

// Reload loads and watches the folder again. The current entries stay until the result arrives.
func (f *Model) Reload() {
	f.stopWatch()
	f.refresh()
}

// refresh is [Model.Reload] with the same watch.
func (f *Model) refresh() {
	f.mu.Lock()
	f.found = fileList{}
	f.mu.Unlock()
	f.Value.Update(func(v *View) {
		n, ok := f.feed.Machines.Get().Find(v.Place)
		v.CanBrowse = ok && n.Files
	})
	f.show()
}

// show loads what the view needs and does not have yet.
func (f *Model) show() {
	want := f.Value.Get()
	browse := want.Place != "" && want.CanBrowse && want.Filter == ""
	f.mu.Lock()
	f.request++
	request, watch := f.request, browse && f.watchID == ""
	f.watching = watch
	f.mu.Unlock()
	f.feed.Tasks.StartRequest(func(ctx context.Context) {
		entries, note, err := []Entry(nil), "", error(nil)
		readOnly := want.ReadOnly
		switch {
		case want.Place == "":
			entries, err = f.Agent.list(ctx, want.Dir, want.Filter)
		case browse:
			var r protocol.FilesListResult
			r, err = feed.Call(ctx, f.feed, protocol.FilesList, protocol.FilesListParams{Node: want.Place, Path: want.Dir, Watch: watch, Below: watch})
			entries = lists.Map(r.Entries, func(e protocol.FileInfo) Entry { return entryOf(want.Dir, e) })
			if r.Cut {
				note = fmt.Sprintf("Showing the first %d entries.", len(entries))
			}
			readOnly = r.ReadOnly
			f.adoptWatch(request, r.WatchID)
		default:
			var all fileList
			all, err = f.search(ctx, want)
			entries, note = entriesOf(all.paths, want), all.note
		}
		if f.isGone(request, err) {
			f.Enter("")
			return
		}
		f.update(request, func(v *View) {
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
			if r, err := feed.Call(ctx, f.feed, protocol.FilesChanges, protocol.FilesChangesParams{Node: want.Place}); err == nil {
				f.update(request, func(v *View) { v.Changed = r.Changes })
			}
		}
	})
}

// isGone reports whether a remembered folder could not be listed.
func (f *Model) isGone(request uint64, err error) bool {
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
func (f *Model) update(request uint64, change func(*View)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if request == f.request {
		f.Value.Update(change)
	}
}
