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
	// watchPause is for how long changes of a folder are gathered before they are told.
	watchPause = 100 * time.Millisecond
	// watchNames is how many names are looked at one by one; a folder in which more change is listed anew.
	watchNames = 2000
	// watchCheck is how often it is looked whether the folders are still where they were: of a folder that is held open the system does not tell that it
	// was removed, and of no folder that one above it has another name now.
	watchCheck = time.Second
	// watchFolders bounds the folders that are watched at once.
	watchFolders = 64
	// pollPause is the least time between two rounds through a tree, where that is what it takes, and pollEntries bounds the files and folders that are looked
	// at: changes in a larger tree would be told of minutes late.
	pollPause, pollEntries = time.Second, 200_000
)

// Changed is what happened in a watched folder. With Again it has to be listed anew: it is not there any more, or nobody knows what happened.
type Changed struct {
	Dir     string // absolute, as it was given to Add
	Entries []Info // new or changed
	Gone    []string
	Again   bool

	// Of a folder that is watched with what is below it:

	Below   []string // the folders below in which something changed, as paths from Dir with slashes, sorted
	Rescan  bool     // in all of them something may have changed: there is too much to name it, or the system lost events
	Shallow string   // why what is below is not watched any more, or was never; the folder itself is
}

func (c Changed) empty() bool {
	return !c.Again && !c.Rescan && c.Shallow == "" && len(c.Entries)+len(c.Gone)+len(c.Below) == 0
}

// Watcher tells of changes in folders. It says of a name only what the folder's own handle says: a link that is put in the folder's place tells nothing.
type Watcher struct {
	ws    *Root
	tell  func(Changed)
	fsn   *fsnotify.Watcher
	limit int // of the folders that are watched below others
	// whole says that all below a folder is told of, or looked through, as one: with this pause at least, and so many entries at most.
	whole bool
	pause time.Duration
	most  int
	done  chan struct{}
	quit  chan struct{}
	wake  chan struct{} // holds a token when there is something to do beside events
	trees chan treeNews

	mu   sync.Mutex // guards what follows
	dirs map[string]*watched
	wood
}

// watched is a folder with what was last told of it.
type watched struct {
	users int
	dir   *Dir
	known map[string]Info
	dirty map[string]bool
	all   bool // list it anew: the system lost events, or it is another folder now
	below *below
	tree  io.Closer // what tells of all below it, where the system has that
}

// NewWatcher begins to watch nothing. tell is called on one goroutine and must not block long. Close ends it.
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

// Close ends the watching and waits for it.
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

// Add begins to watch a folder and says where it is without symbolic links. Nothing is told before Know. Each Add needs a Remove. With deep, what
// is below the folder is watched too, as far as the system lets it: that is prepared after Add has returned. Where the system does not tell of changes
// there (macOS, the BSDs) it is looked through again and again, for 3 % of a core: they are told of after a second, in a large tree after up to a minute.
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

// nudge has the watcher's goroutine look for what is to be done.
func (w *Watcher) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Know says what the folder held when it was listed, after Add: changes are told from there on.
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

// Remove ends one Add.
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
			_ = err // whatever it is: events may be lost
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
				w.uncover(abs) // it is walked anew: folders may have come and gone unseen
				w.walks = append(w.walks, abs)
			}
		}
	}
}
