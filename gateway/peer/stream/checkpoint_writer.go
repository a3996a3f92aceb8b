package stream

import (
	"os"
	"sync"
	"time"
)

// checkpointWriter writes checkpoints to a log once they are reliable, which is when the disk has
// the data.
//
// For a part file that is being written, a checkpoint asserts that the disk has the bytes before it
// and that the hash covers exactly those. So the part file is synced first. A crash of the program
// leaves everything that it wrote. A crash of the machine may lose data or leave zeros, but only
// after the last checkpoint; that range is hashed again on resume, and the result is compared with
// the source's checksum. If another program writes to the part file between two attempts, its times
// change ([checkpointLog.recordClosed]), and the whole part file is hashed again. The same happens
// if the first attempt was killed, because then nobody knows who changed the times last.
//
// For a file that other programs may write, a checkpoint asserts the content at certain file times,
// to the resolution of the clock ([fileCheckpoints]). So it counts only if those times were old
// enough when the file was read, and the file is synced first, because a crash of the machine could
// otherwise keep the times and lose the data.
type checkpointWriter struct {
	log  *checkpointLog
	sync func() error

	mu      sync.Mutex // guards the fields below
	pending []keyedRecord
	busy    bool
	stop    bool
	err     error // of sync
	wg      sync.WaitGroup
}

// keyedRecord is a record that waits to be written.
type keyedRecord struct {
	key recordKey
	logRecord
}

// enqueue queues records. It does not wait for the disk.
func (k *checkpointWriter) enqueue(notes ...keyedRecord) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pending = append(k.pending, notes...); !k.busy && k.err == nil {
		k.busy = true
		k.wg.Go(k.run)
	}
}

func (k *checkpointWriter) run() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.pending) > 0 && !k.stop && k.err == nil {
		ready := k.pending
		k.pending = nil
		k.mu.Unlock()
		err := k.sync()
		k.mu.Lock()
		if k.err = err; err == nil && !k.stop {
			k.log.add(ready...)
		}
	}
	k.busy = false
}

// close waits until the disk has everything, unless the file was removed. An error means that the
// disk may have lost data: the system reports that only to the first sync.
func (k *checkpointWriter) close(removed bool) error {
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
	// minFileAge is the minimum age of the last change of a file before it is read, so that the
	// resolution of the clock can distinguish the next change.
	minFileAge = 2 * time.Second
	// writebackAge is the time after which the system has written a change to the disk by itself.
	writebackAge = time.Minute
)

// fileCheckpoints stores checkpoints for a file that other programs may write. It belongs to one
// goroutine.
type fileCheckpoints struct {
	log    *checkpointLog
	key    recordKey
	name   string // its name, if that is not the announced one
	id     fileIdentity
	f      *os.File
	synced bool
}

// newFileCheckpoints must be called before anything of the file is read.
func newFileCheckpoints(t *checkpointLog, key recordKey, name string, f *os.File) *fileCheckpoints {
	w := &fileCheckpoints{log: t, key: key, name: name, f: f}
	if t != nil {
		w.id = identity(f)
	}
	return w
}

// upTo returns the checkpoints of the file up to an offset.
func (w *fileCheckpoints) upTo(upTo int64) []checkpoint {
	return w.log.checkpoints(w.key, w.id.content, upTo)
}

// add stores a checkpoint.
func (w *fileCheckpoints) add(m checkpoint) {
	if w.id.content == "" || w.id.age < w.log.minAge {
		return
	}
	if !w.synced && w.id.age < writebackAge && w.f.Sync() != nil || identity(w.f).content != w.id.content {
		w.id.content = ""
		return
	}
	w.synced = true
	w.log.add(keyedRecord{w.key, logRecord{checkpoint: m, file: w.id.content, name: w.name}})
}
