package watch

import (
	"errors"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
	"fairlead/node/workspace"
)

const (
	// collectTime is how long changes of a folder are collected before they are reported.
	collectTime = 100 * time.Millisecond
	// maxDirtyNames is the maximum number of names that are checked one by one; a folder with more
	// changes is listed again.
	maxDirtyNames = 2000
	// checkInterval is the interval at which the locations of the folders are checked: the system
	// does not report the removal of an open folder, nor that a folder above was renamed.
	checkInterval = time.Second
	// maxFolders is the maximum number of folders that are watched at the same time.
	maxFolders = 64
	// pollPause is the minimum time between two rounds of polling a tree, and pollEntries the
	// maximum number of its entries: changes in a larger tree would be reported minutes late.
	pollPause, pollEntries = time.Second, 200_000
)

// Change is a change in a watched folder. With MustRelist, the folder must be listed again: it no
// longer exists, or the change is unknown.
type Change struct {
	Dir        string           // absolute, as returned by Add
	Entries    []workspace.Info // new or changed
	Removed    []string
	MustRelist bool

	// Of a folder that is watched with its tree:

	// Folders lists the folders below Dir in which something changed, as paths relative to Dir with
	// slashes, sorted.
	Folders []string
	// AllFolders means that all of them may have changed: there are too many changes, or the system
	// lost events.
	AllFolders  bool
	TreeProblem string // why the tree below is not watched; the folder itself is
}

func (c Change) isEmpty() bool {
	return !c.MustRelist && !c.AllFolders && c.TreeProblem == "" && len(c.Entries)+len(c.Removed)+len(c.Folders) == 0
}

// Watcher reports changes in folders. It describes entries only by the open folder's handle, so a
// link that replaces the folder reveals nothing.
type Watcher struct {
	ws            *workspace.Root
	publish       func(Change)
	notifier      *fsnotify.Watcher
	maxSubfolders int // maximum number of watched folders below others
	// byTree says that everything below a folder is watched or polled as a whole: with this minimum
	// pause, and at most so many entries.
	byTree         bool
	pollPause      time.Duration
	maxPollEntries int
	done           chan struct{}
	quit           chan struct{}
	wake           wake.Signal // contains a token when there is work besides events
	treeReports    chan treeReport

	mu      sync.Mutex // guards the fields below
	folders map[string]*folder
	subfolders
}

// folder is a folder with its last reported content.
type folder struct {
	users      int
	dir        *workspace.Dir
	known      map[string]workspace.Info
	dirty      map[string]bool
	stale      bool // list it again: the system lost events, or it is another folder now
	tree       *treeChanges
	treeCloser io.Closer // watches its whole tree, where the system supports that
}

// New starts a watcher without folders. publish is called on one goroutine and must not block
// for long. Close stops the watcher.
func New(ws *workspace.Root, publish func(Change)) (*Watcher, error) {
	fsn, err := fsnotify.NewBufferedWatcher(4096)
	if err != nil {
		return nil, err
	}
	w := &Watcher{
		ws: ws, publish: publish, notifier: fsn, maxSubfolders: subfolderLimit(), byTree: watchesByTree, pollPause: pollPause, maxPollEntries: pollEntries,
		done: make(chan struct{}), quit: make(chan struct{}), wake: wake.New(),
		treeReports: make(chan treeReport), folders: make(map[string]*folder), subfolders: newSubfolders(),
	}
	crash.Go(func() { w.run() })
	return w, nil
}

// Close stops the watcher and waits for it.
func (w *Watcher) Close() {
	close(w.quit)
	w.notifier.Close()
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.folders {
		d.closeTree()
		d.dir.Close()
	}
	clear(w.folders)
}

// Add starts watching a folder and returns its path without symbolic links. Nothing is reported
// before SetContent. Each Add needs a Remove. With deep, the tree below the folder is watched too,
// as far as the system permits; that is prepared after Add has returned. Where the system does not
// report changes there (macOS, the BSDs), the tree is polled at 3 % of a core: changes are reported
// after a second, in a large tree after up to a minute.
func (w *Watcher) Add(p workspace.Path, deep bool) (abs string, err error) {
	d, err := w.ws.OpenDir(p)
	if err != nil {
		return "", err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	have := w.folders[d.Abs]
	if have == nil {
		if len(w.folders) >= maxFolders {
			d.Close()
			return "", errors.New("too many folders are watched")
		}
		if err := w.notifier.Add(d.Abs); err != nil {
			d.Close()
			return "", err
		}
		have = &folder{dir: d, dirty: make(map[string]bool)}
		w.folders[d.Abs] = have
	} else {
		d.Close()
	}
	have.users++
	if deep && have.tree == nil {
		have.tree = &treeChanges{changed: make(map[string]bool)}
		w.watchTree(have)
	}
	return have.dir.Abs, nil
}

// wakeUp wakes the watcher's goroutine.
func (w *Watcher) wakeUp() {
	w.wake.Send()
}

// SetContent sets the content that the folder had when it was listed, after Add: changes from then
// on are reported.
func (w *Watcher) SetContent(abs string, known []workspace.Info) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.folders[abs]; d != nil && d.known == nil {
		d.known = make(map[string]workspace.Info, len(known))
		for _, i := range known {
			d.known[i.Name] = i
		}
		w.wakeUp()
	}
}

// Remove undoes one Add.
func (w *Watcher) Remove(abs string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.folders[abs]; d != nil {
		if d.users--; d.users <= 0 {
			w.stopWatching(abs, d)
		}
	}
}

func (w *Watcher) stopWatching(abs string, d *folder) {
	delete(w.folders, abs)
	if !w.watched[abs] {
		w.notifier.Remove(abs)
	}
	if d.tree != nil {
		w.removeTree(abs)
	}
	d.closeTree()
	d.dir.Close()
}

func (w *Watcher) run() {
	defer close(w.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	check := time.NewTicker(checkInterval)
	defer check.Stop()
	armed := false
	for {
		select {
		case e, ok := <-w.notifier.Events:
			if !ok {
				return
			}
			w.handleEvent(e)
		case err, ok := <-w.notifier.Errors:
			if !ok {
				return
			}
			_ = err // whatever the error is, events may be lost
			w.handleLoss()
		case n := <-w.treeReports:
			w.handleTreeReport(n)
		case <-w.wake:
		case <-check.C:
			if !w.checkMoved() {
				continue
			}
		case <-timer.C:
			armed = false
			w.updateTrees()
			w.publishChanges()
			continue
		}
		if !armed {
			timer.Reset(collectTime)
			armed = true
		}
	}
}

func (w *Watcher) handleEvent(e fsnotify.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.folders[e.Name]; d != nil && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
		d.stale = true
	}
	w.recordBelow(e)
	if d := w.folders[filepath.Dir(e.Name)]; d != nil {
		d.dirty[filepath.Base(e.Name)] = true
		if len(d.dirty) > maxDirtyNames {
			d.stale = true
		}
	}
}

func (w *Watcher) handleLoss() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for abs, d := range w.folders {
		d.stale = true
		if d.tree.isWatched() {
			d.tree.overflow = true
			if !w.byTree {
				w.removeTree(abs) // its tree is walked again: folders may have come and gone unseen
				w.pending = append(w.pending, abs)
			}
		}
	}
}
