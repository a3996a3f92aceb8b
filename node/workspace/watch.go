package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// watchPause is for how long changes of a folder are gathered before they are told.
	watchPause = 150 * time.Millisecond
	// watchNames is how many names are looked at one by one; a folder in which more change is listed anew.
	watchNames = 2000
	// watchFolders bounds the folders that are watched at once.
	watchFolders = 64
)

// Changed is what happened in a watched folder. With Again it has to be listed anew: it is not there any more, or nobody knows what happened.
type Changed struct {
	Dir     string // absolute, as it was given to Add
	Entries []Info // new or changed
	Gone    []string
	Again   bool
}

// Watcher tells of changes in folders. It says of a name only what the folder's own handle says: a link that is put in the folder's place tells nothing.
type Watcher struct {
	ws   *Root
	tell func(Changed)
	fsn  *fsnotify.Watcher
	done chan struct{}
	wake chan struct{} // holds a token when a list came

	mu   sync.Mutex // guards what follows
	dirs map[string]*watched
}

// watched is a folder with what was last told of it.
type watched struct {
	users int
	dir   *Dir
	known map[string]Info
	dirty map[string]bool
	all   bool // list it anew: the system lost events, or it is another folder now
}

// NewWatcher begins to watch nothing. tell is called on one goroutine and must not block long. Close ends it.
func (r *Root) NewWatcher(tell func(Changed)) (*Watcher, error) {
	fsn, err := fsnotify.NewBufferedWatcher(4096)
	if err != nil {
		return nil, err
	}
	w := &Watcher{ws: r, tell: tell, fsn: fsn, done: make(chan struct{}), wake: make(chan struct{}, 1), dirs: make(map[string]*watched)}
	go w.run()
	return w, nil
}

// Close ends the watching and waits for it.
func (w *Watcher) Close() {
	w.fsn.Close()
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.dirs {
		d.dir.Release()
	}
	clear(w.dirs)
}

// Add begins to watch a folder and says where it is without symbolic links. Nothing is told before Know. Each Add needs a Remove.
func (w *Watcher) Add(p Path) (abs string, err error) {
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
	return have.dir.Abs, nil
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
		select {
		case w.wake <- struct{}{}:
		default:
		}
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
	w.fsn.Remove(abs)
	d.dir.Release()
	delete(w.dirs, abs)
}

func (w *Watcher) run() {
	defer close(w.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
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
		case <-w.wake:
		case <-timer.C:
			armed = false
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
		return
	}
	if d := w.dirs[filepath.Dir(e.Name)]; d != nil {
		if d.dirty[filepath.Base(e.Name)] = true; len(d.dirty) > watchNames {
			d.all = true
		}
	}
}

func (w *Watcher) lost() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.dirs {
		d.all = true
	}
}

// flush tells what was gathered.
func (w *Watcher) flush() {
	w.mu.Lock()
	var out []Changed
	for abs, d := range w.dirs {
		switch {
		case d.known == nil: // its first list is on the way
			continue
		case d.all:
			out = append(out, w.again(abs, d))
		case len(d.dirty) > 0:
			out = append(out, d.look(abs))
		default:
			continue
		}
		clear(d.dirty)
		d.all = false
	}
	w.mu.Unlock()
	for _, c := range out {
		if c.Again || len(c.Entries)+len(c.Gone) > 0 {
			w.tell(c)
		}
	}
}

// look asks the folder for the names that may have changed.
func (d *watched) look(abs string) Changed {
	c := Changed{Dir: abs}
	for name := range d.dirty {
		if own(name) {
			continue
		}
		d.compare(&c, name)
	}
	return c
}

func (d *watched) compare(c *Changed, name string) {
	info, err := d.dir.Info(name)
	was, had := d.known[name]
	switch {
	case err == nil && (!had || info != was):
		d.known[name] = info
		c.Entries = append(c.Entries, info)
	case errors.Is(err, fs.ErrNotExist) && had:
		delete(d.known, name)
		c.Gone = append(c.Gone, name)
	}
}

// again lists a folder anew and tells the difference. One that is not the folder any more that was watched is given up.
func (w *Watcher) again(abs string, d *watched) Changed {
	fresh, err := w.ws.OpenDir(Path{Abs: abs})
	if err != nil || fresh.Abs != abs || !sameDir(fresh, d.dir) {
		if err == nil {
			fresh.Release()
		}
		w.drop(abs, d)
		return Changed{Dir: abs, Again: true}
	}
	defer fresh.Release()
	c := Changed{Dir: abs}
	seen := make(map[string]bool, len(d.known))
	err = fresh.Infos(func(i Info) bool {
		seen[i.Name] = true
		if d.known[i.Name] != i {
			d.known[i.Name] = i
			c.Entries = append(c.Entries, i)
		}
		return true
	})
	if err != nil {
		return Changed{Dir: abs, Again: true}
	}
	for name := range d.known {
		if !seen[name] {
			delete(d.known, name)
			c.Gone = append(c.Gone, name)
		}
	}
	return c
}
