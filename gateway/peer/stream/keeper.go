package stream

import (
	"os"
	"sync"
	"time"
)

// keeper writes checkpoints to a trail once they are reliable, which is when the disk has the data.
//
// For a part file that is being written, a checkpoint asserts that the disk has the bytes before it
// and that the hash covers exactly those. So the part file is synced first. A crash of the program
// leaves everything that it wrote. A crash of the machine may lose data or leave zeros, but only
// after the last checkpoint; that range is hashed again on resume, and the result is compared with
// the source's checksum. If another program writes to the part file between two attempts, its times
// change ([trail.rest]), and the whole part file is hashed again. The same happens if the first
// attempt was killed, because then nobody knows who changed the times last.
//
// For a file that other programs may write, a checkpoint asserts the content at certain file times,
// to the resolution of the clock ([watcher]). So it counts only if those times were old enough when
// the file was read, and the file is synced first, because a crash of the machine could otherwise
// keep the times and lose the data.
type keeper struct {
	t    *trail
	sync func() error

	mu      sync.Mutex // guards the fields below
	pending []note
	busy    bool
	stop    bool
	err     error // of sync
	wg      sync.WaitGroup
}

// note is a record that waits to be written.
type note struct {
	key trailKey
	step
}

// keep queues records. It does not wait for the disk.
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

// end waits until the disk has everything, unless the file was removed. An error means that the
// disk may have lost data: the system reports that only to the first sync.
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
	// settles is the minimum age of the last change of a file before it is read, so that the
	// resolution of the clock can distinguish the next change.
	settles = 2 * time.Second
	// written is the time after which the system has written a change to the disk by itself.
	written = time.Minute
)

// watcher stores checkpoints for a file that other programs may write. It belongs to one goroutine.
type watcher struct {
	t      *trail
	key    trailKey
	name   string // its name, if that is not the announced one
	id     fileIdentity
	f      *os.File
	synced bool
}

// watch must be called before anything of the file is read.
func watch(t *trail, key trailKey, name string, f *os.File) *watcher {
	w := &watcher{t: t, key: key, name: name, f: f}
	if t != nil {
		w.id = identity(f)
	}
	return w
}

// marks returns the checkpoints of the file up to an offset.
func (w *watcher) marks(upTo int64) []mark { return w.t.marks(w.key, w.id.content, upTo) }

// keep stores a checkpoint.
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
