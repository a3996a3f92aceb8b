package stream

import (
	"context"
	"os"
)

// decide determines how much of a large file exists: a part file of an earlier attempt, or a file
// of the same size under its name, which may be identical.
func (r *Receiver) decide(ctx context.Context, x *expected) error {
	v := verdict{index: x.index}
	f, size, tell, end := r.candidate(x)
	if f == nil {
		return r.say(ctx, recVerdict, v.encode())
	}
	defer f.Close()
	var said error
	x.sum.tell = tell
	err := x.sum.climb(ctx, f, size, func() {
		if said == nil {
			said = r.alive(ctx)
		}
	})
	x.sum.tell = nil
	r.reread += x.sum.read
	if lost := end(); err == nil {
		err = lost
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case said != nil:
		return said
	case err != nil:
		x.sum, x.whole = nil, false
	default:
		if x.whole {
			tell(x.sum.state())
		}
		x.some = true
		v.have, v.sums = size, x.sum.sums()
		if x.whole { // all or nothing
			for i := range v.sums[:len(v.sums)-1] {
				v.sums[i] = make([]byte, sumSize)
			}
		}
	}
	return r.say(ctx, recVerdict, v.encode())
}

// candidate opens existing data of a file, and returns the size to hash, a function that receives
// checkpoints, and one to call at the end. A part file is preferred: it exists only if the file
// under the name was a different one.
func (r *Receiver) candidate(x *expected) (f *os.File, size int64, tell func(mark), end func() error) {
	part := r.partName(x.name)
	if info, err := r.lstat(part); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		if f, err := r.openFile(part, os.O_RDWR|nonblock, 0); err == nil {
			size := min(info.Size(), x.size)
			id := identity(f)
			k, file := r.keeper(f), id.file
			key := keyOf(ofPart, x.name)
			if r.trail.touched(x.name, id.content) {
				if r.trail.cut(key, "", 0) != nil {
					f.Close()
					return nil, 0, nil, nil // its checkpoints may be wrong
				}
				r.trail.rest(x.name, id.content) // record its present identity, so that it is hashed only once even if that is interrupted
			}
			x.content = id.content
			x.sum = newLadder(r.trail.marks(key, file, size))
			return f, size, func(m mark) { k.keep(note{key, step{mark: m, file: file}}) }, func() error { return k.end(false) }
		}
	}
	key := keyOf(ofWhole, x.name)
	x.found = x.name
	if s, ok := r.trail.newest(key); ok && s.name != "" {
		x.found = s.name
	}
	if f, info := r.regular(x.found); f != nil {
		if info.Size() == x.size {
			w := watch(r.trail, key, x.found, f)
			x.whole, x.sum = true, newLadder(w.marks(x.size))
			return f, x.size, w.keep, func() error { return nil }
		}
		f.Close()
	}
	return nil, 0, nil, nil
}

// keeper creates the keeper of a part file.
func (r *Receiver) keeper(f *os.File) *keeper { return &keeper{t: r.trail, sync: f.Sync} }

const (
	// settleEvery is the number of bytes after which smaller files are synced together and recorded
	// as complete; settleMost is the number of files.
	settleEvery = 64 << 20
	settleMost  = 256
)

// placed records that a file is complete under this name, so that a later attempt need not hash it.
func (r *Receiver) placed(in *incoming, name string, synced bool) {
	if r.trail == nil || in.size <= eager {
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
	n := note{keyOf(ofWhole, in.announced), step{mark: in.sum.state(), file: identity(f).content, name: name}}
	if synced {
		r.trail.add(n)
		return
	}
	r.unsettled = append(r.unsettled, n)
	if r.unsynced += in.size; r.unsynced < settleEvery && len(r.unsettled) < settleMost {
		return
	}
	if r.settler == nil {
		r.settler = &keeper{t: r.trail, sync: func() error { return syncAll(r.disk) }}
	}
	r.settler.keep(r.unsettled...)
	r.unsettled, r.unsynced = nil, 0
}

// settled writes the remaining records, whose files were synced.
func (r *Receiver) settled() {
	r.trail.add(r.unsettled...)
	r.unsettled = nil
}
