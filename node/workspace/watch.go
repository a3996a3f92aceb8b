package workspace

import (
	"errors"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// watchPause is how long changes of a folder are collected before they are reported.
	watchPause = 100 * time.Millisecond
	// watchNames is the maximum number of names that are checked one by one; a folder with more
	// changes is listed again.
	watchNames = 2000
	// watchCheck is the interval at which the locations of the folders are checked: the system does
	// not report the removal of an open folder, nor that a folder above was renamed.
	watchCheck = time.Second
	// watchFolders is the maximum number of folders that are watched at the same time.
	watchFolders = 64
	// pollPause is the minimum time between two rounds of polling a tree, and pollEntries the
	// maximum number of its entries: changes in a larger tree would be reported minutes late.
	pollPause, pollEntries = time.Second, 200_000
)

// Changed is a change in a watched folder. With Again, the folder must be listed again: it no
// longer exists, or the change is unknown.
type Changed struct {
	Dir     string // absolute, as returned by Add
	Entries []Info // new or changed
	Gone    []string
	Again   bool

	// Of a folder that is watched with its tree:

	// Below lists the folders below Dir in which something changed, as paths relative to Dir with
	// slashes, sorted.
	Below []string
	// Rescan means that all of them may have changed: there are too many changes, or the system
	// lost events.
	Rescan  bool
	Shallow string // why the tree below is not watched; the folder itself is
}

func (c Changed) empty() bool {
	return !c.Again && !c.Rescan && c.Shallow == "" && len(c.Entries)+len(c.Gone)+len(c.Below) == 0
}

// Watcher reports changes in folders. It describes entries only by the open folder's handle, so a
// link that replaces the folder reveals nothing.
type Watcher struct {
	ws    *Root
	tell  func(Changed)
	fsn   *fsnotify.Watcher
	limit int // maximum number of watched folders below others
	// whole says that everything below a folder is watched or polled as a whole: with this minimum
	// pause, and at most so many entries.
	whole bool
	pause time.Duration
	most  int
	done  chan struct{}
	quit  chan struct{}
	wake  chan struct{} // contains a token when there is work besides events
	trees chan treeNews

	mu   sync.Mutex // guards the fields below
	dirs map[string]*watched
	wood
}

// watched is a folder with its last reported content.
type watched struct {
	users int
	dir   *Dir
	known map[string]Info
	dirty map[string]bool
	all   bool // list it again: the system lost events, or it is another folder now
	below *below
	tree  io.Closer // watches its whole tree, where the system supports that
}

// NewWatcher starts a watcher without folders. tell is called on one goroutine and must not block
// for long. Close stops the watcher.
func (r *Root) NewWatcher(tell func(Changed)) (*Watcher, error) {
	fsn, err := fsnotify.NewBufferedWatcher(4096)
	if err != nil {
		return nil, err
	}
	w := &Watcher{
		ws: r, tell: tell, fsn: fsn, limit: deepLimit(), whole: wholeTrees, pause: pollPause, most: pollEntries,
		done: make(chan struct{}), quit: make(chan struct{}), wake: make(chan struct{}, 1),
		trees: make(chan treeNews), dirs: make(map[string]*watched), wood: newWood(),
	}
	go w.run()
	return w, nil
}

// Close stops the watcher and waits for it.
func (w *Watcher) Close() {
	close(w.quit)
	w.fsn.Close()
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.dirs {
		d.closeTree()
		d.dir.Release()
	}
	clear(w.dirs)
}

// Add starts watching a folder and returns its path without symbolic links. Nothing is reported
// before Know. Each Add needs a Remove. With deep, the tree below the folder is watched too, as far
// as the system permits; that is prepared after Add has returned. Where the system does not report
// changes there (macOS, the BSDs), the tree is polled at 3 % of a core: changes are reported after
// a second, in a large tree after up to a minute.
func (w *Watcher) Add(p Path, deep bool) (abs string, err error) {
	d, err := w.ws.OpenDir(p)
	if err != nil {
		return "", err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	have := w.dirs[d.Abs]
	if have == nil {
		if len(w.dirs) >= watchFolders {
			d.Release()
			return "", errors.New("too many folders are watched")
		}
		if err := w.fsn.Add(d.Abs); err != nil {
			d.Release()
			return "", err
		}
		have = &watched{dir: d, dirty: make(map[string]bool)}
		w.dirs[d.Abs] = have
	} else {
		d.Release()
	}
	have.users++
	if deep && have.below == nil {
		have.below = &below{changed: make(map[string]bool)}
		w.deepen(have)
	}
	return have.dir.Abs, nil
}

// nudge wakes the watcher's goroutine.
func (w *Watcher) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Know sets the content that the folder had when it was listed, after Add: changes from then on are
// reported.
func (w *Watcher) Know(abs string, known []Info) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.dirs[abs]; d != nil && d.known == nil {
		d.known = make(map[string]Info, len(known))
		for _, i := range known {
			d.known[i.Name] = i
		}
		w.nudge()
	}
}

// Remove undoes one Add.
func (w *Watcher) Remove(abs string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.dirs[abs]; d != nil {
		if d.users--; d.users <= 0 {
			w.drop(abs, d)
		}
	}
}

func (w *Watcher) drop(abs string, d *watched) {
	delete(w.dirs, abs)
	if !w.under[abs] {
		w.fsn.Remove(abs)
	}
	if d.below != nil {
		w.uncover(abs)
	}
	d.closeTree()
	d.dir.Release()
}

func (w *Watcher) run() {
	defer close(w.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	check := time.NewTicker(watchCheck)
	defer check.Stop()
	armed := false
	for {
		select {
		case e, ok := <-w.fsn.Events:
			if !ok {
				return
			}
			w.note(e)
		case err, ok := <-w.fsn.Errors:
			if !ok {
				return
			}
			_ = err // whatever the error is, events may be lost
			w.lost()
		case n := <-w.trees:
			w.hear(n)
		case <-w.wake:
		case <-check.C:
			if !w.check() {
				continue
			}
		case <-timer.C:
			armed = false
			w.grow()
			w.flush()
			continue
		}
		if !armed {
			timer.Reset(watchPause)
			armed = true
		}
	}
}

func (w *Watcher) note(e fsnotify.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.dirs[e.Name]; d != nil && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
		d.all = true
	}
	w.noteBelow(e)
	if d := w.dirs[filepath.Dir(e.Name)]; d != nil {
		if d.dirty[filepath.Base(e.Name)] = true; len(d.dirty) > watchNames {
			d.all = true
		}
	}
}

func (w *Watcher) lost() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for abs, d := range w.dirs {
		d.all = true
		if d.below.open() {
			d.below.much = true
			if !w.whole {
				w.uncover(abs) // its tree is walked again: folders may have come and gone unseen
				w.walks = append(w.walks, abs)
			}
		}
	}
}
