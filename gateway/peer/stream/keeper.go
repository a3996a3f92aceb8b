package stream

import (
	"os"
	"sync"
	"time"
)

// keeper writes records to a trail when they may be believed, which is when the disk has what they are of.
//
// Of a part that is being written, a mark says that the bytes before it are on the disk, and that the sum was made of just those: so the part is
// synced first. A crash of the program leaves what it had written; one of the machine may leave less of it, or zeros, but only behind the last mark.
// What is behind it is hashed again when the part is gone on with, and all of that is compared with the source's sum. Who writes to the part between two
// attempts is noticed by its times ([trail.rest]), and then all of it is hashed again. So it is when the first one was killed: then its last times are
// its own or somebody else's, and nobody knows whose.
//
// Of a file that somebody else may write, a mark says that it was so while it had these times, to the tick of the clock ([watcher]): so it counts only
// if they were a while ago when it was read, and the file is synced before, lest a crash of the machine leaves the times and not the bytes.
type keeper struct {
	t    *trail
	sync func() error

	mu      sync.Mutex // guards what follows
	pending []note
	busy    bool
	stop    bool
	err     error // of sync
	wg      sync.WaitGroup
}

// note is a record that waits.
type note struct {
	key trailKey
	step
}

// keep takes records. It does not wait for the disk.
func (k *keeper) keep(notes ...note) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pending = append(k.pending, notes...); !k.busy && k.err == nil {
		k.busy = true
		k.wg.Go(k.run)
	}
}

func (k *keeper) run() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.pending) > 0 && !k.stop && k.err == nil {
		ready := k.pending
		k.pending = nil
		k.mu.Unlock()
		err := k.sync()
		k.mu.Lock()
		if k.err = err; err == nil && !k.stop {
			k.t.add(ready...)
		}
	}
	k.busy = false
}

// end waits until the disk has everything, unless what it is of is removed. An error says that it may have lost something: the system tells only whoever
// syncs first.
func (k *keeper) end(removed bool) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	k.stop = k.stop || removed
	k.mu.Unlock()
	k.wg.Wait()
	return k.err
}

const (
	// settles is how long ago a file must have changed last before it is read, so that the clock's tick tells the next change from that one.
	settles = 2 * time.Second
	// written is after how long the system has written out a change by itself.
	written = time.Minute
)

// watcher is a keeper's like for a file that somebody else may write. It belongs to one goroutine.
type watcher struct {
	t      *trail
	key    trailKey
	name   string // what it is called, where that is not its own name
	id     fileIdentity
	f      *os.File
	synced bool
}

// watch is called before anything of the file is read.
func watch(t *trail, key trailKey, name string, f *os.File) *watcher {
	w := &watcher{t: t, key: key, name: name, f: f}
	if t != nil {
		w.id = identity(f)
	}
	return w
}

// marks gives what is known of the file up to a number of bytes.
func (w *watcher) marks(upTo int64) []mark { return w.t.marks(w.key, w.id.content, upTo) }

// keep takes a mark.
func (w *watcher) keep(m mark) {
	if w.id.content == "" || w.id.age < w.t.settles {
		return
	}
	if !w.synced && w.id.age < written && w.f.Sync() != nil || identity(w.f).content != w.id.content {
		w.id.content = ""
		return
	}
	w.synced = true
	w.t.add(note{w.key, step{mark: m, file: w.id.content, name: w.name}})
}
