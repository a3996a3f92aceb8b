package stream

import (
	"context"
	"os"
)

// decide determines how much of a large file exists: a part file of an earlier attempt, or a file
// of the same size under its name, which may be identical.
func (r *Receiver) decide(ctx context.Context, x *announcedFile) error {
	v := verdict{index: x.index}
	f, size, tell, end := r.candidate(x)
	if f == nil {
		return r.sendRecord(ctx, recVerdict, v.encode())
	}
	defer f.Close()
	var said error
	x.hasher.onCheckpoint = tell
	err := x.hasher.hashUpTo(ctx, f, size, func() {
		if said == nil {
			said = r.sendProgressIfDue(ctx)
		}
	})
	x.hasher.onCheckpoint = nil
	r.rehashed += x.hasher.rehashed
	if lost := end(); err == nil {
		err = lost
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case said != nil:
		return said
	case err != nil:
		x.hasher, x.isComplete = nil, false
	default:
		if x.isComplete {
			tell(x.hasher.state())
		}
		x.hasData = true
		v.have, v.sums = size, x.hasher.sums()
		if x.isComplete { // all or nothing
			for i := range v.sums[:len(v.sums)-1] {
				v.sums[i] = make([]byte, sumSize)
			}
		}
	}
	return r.sendRecord(ctx, recVerdict, v.encode())
}

// candidate opens existing data of a file, and returns the size to hash, a function that receives
// checkpoints, and one to call at the end. A part file is preferred: it exists only if the file
// under the name was a different one.
func (r *Receiver) candidate(x *announcedFile) (f *os.File, size int64, tell func(checkpoint), end func() error) {
	part := r.partName(x.name)
	if info, err := r.lstat(part); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		if f, err := r.openFile(part, os.O_RDWR|nonblock, 0); err == nil {
			size := min(info.Size(), x.size)
			id := identity(f)
			k, file := r.newCheckpointWriter(f), id.file
			key := recordKeyOf(partFileRecord, x.name)
			if r.checkpoints.isModified(x.name, id.content) {
				if r.checkpoints.truncate(key, "", 0) != nil {
					f.Close()
					return nil, 0, nil, nil // its checkpoints may be wrong
				}
				r.checkpoints.recordClosed(x.name, id.content) // record its present identity, so that it is hashed only once even if that is interrupted
			}
			x.content = id.content
			x.hasher = newHasher(r.checkpoints.checkpoints(key, file, size))
			return f, size, func(m checkpoint) { k.enqueue(keyedRecord{key, logRecord{checkpoint: m, file: file}}) }, func() error { return k.close(false) }
		}
	}
	key := recordKeyOf(completeFileRecord, x.name)
	x.found = x.name
	if s, ok := r.checkpoints.latest(key); ok && s.name != "" {
		x.found = s.name
	}
	if f, info := r.regular(x.found); f != nil {
		if info.Size() == x.size {
			w := newFileCheckpoints(r.checkpoints, key, x.found, f)
			x.isComplete, x.hasher = true, newHasher(w.upTo(x.size))
			return f, x.size, w.add, func() error { return nil }
		}
		f.Close()
	}
	return nil, 0, nil, nil
}

// newCheckpointWriter creates the writer for a part file.
func (r *Receiver) newCheckpointWriter(f *os.File) *checkpointWriter {
	return &checkpointWriter{log: r.checkpoints, sync: f.Sync}
}

const (
	// settleEvery is the number of bytes after which smaller files are synced together and recorded
	// as complete; settleMost is the number of files.
	settleEvery = 64 << 20
	settleMost  = 256
)

// recordPlaced records that a file is complete under this name, so that a later attempt need not
// hash it.
func (r *Receiver) recordPlaced(in *receivingFile, name string, synced bool) {
	if r.checkpoints == nil || in.size <= smallFile {
		return
	}
	f, info := r.regular(name)
	if f == nil {
		return
	}
	defer f.Close()
	if info.Size() != in.size || info.ModTime().UnixNano() != in.mtime { // another program changed it already
		return
	}
	n := keyedRecord{recordKeyOf(completeFileRecord, in.announced), logRecord{checkpoint: in.hasher.state(), file: identity(f).content, name: name}}
	if synced {
		r.checkpoints.add(n)
		return
	}
	r.unsynced = append(r.unsynced, n)
	if r.unsyncedBytes += in.size; r.unsyncedBytes < settleEvery && len(r.unsynced) < settleMost {
		return
	}
	if r.writer == nil {
		r.writer = &checkpointWriter{log: r.checkpoints, sync: func() error { return syncAll(r.rootDir) }}
	}
	r.writer.enqueue(r.unsynced...)
	r.unsynced, r.unsyncedBytes = nil, 0
}

// recordSynced writes the remaining records, whose files were synced.
func (r *Receiver) recordSynced() {
	r.checkpoints.add(r.unsynced...)
	r.unsynced = nil
}
