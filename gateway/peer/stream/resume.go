package stream

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"
)

// checkpoints has the hash states of one end's files of one transfer, by announced name, so that a
// later attempt in the same process does not hash them again. A lost checkpoint costs only time. A
// nil map stores nothing. Only one attempt at a time uses it.
type checkpoints map[string]fileState

// fileState is the state of a file when it was last read or written.
type fileState struct {
	content string // identity of its content ([identity])
	states  []checkpoint
	// A complete file at the destination, and its name there.
	isComplete bool
	name       string
}

// fileIdentity identifies a file's content. content changes with the file's content or metadata; it
// is empty if the system does not provide it.
type fileIdentity struct {
	content string
	age     time.Duration // time since the last change
}

const (
	// maxCheckpointFiles is the maximum number of files of a transfer with checkpoints,
	// maxCheckpointTransfers that of transfers.
	maxCheckpointFiles     = 10_000
	maxCheckpointTransfers = 64
)

// minFileAge is the minimum age of the last change of a file that other programs may write, so that
// the clock can distinguish the next change. Tests change it.
var minFileAge = 2 * time.Second

// add stores the state of a file.
func (c checkpoints) add(name string, s fileState) {
	if _, known := c[name]; c != nil && s.content != "" && (known || len(c) < maxCheckpointFiles) {
		c[name] = s
	}
}

// hasher returns a hasher with the stored states of a file up to an offset, if its content is still
// the same.
func (c checkpoints) hasher(name string, f *os.File, upTo int64) *hasher {
	s := c[name]
	if s.content == "" || s.content != identity(f).content {
		return newHasher(nil)
	}
	return newHasher(slices.DeleteFunc(slices.Clone(s.states), func(c checkpoint) bool { return c.n > upTo }))
}

// The ends of a transfer, each with checkpoints of its own.
const (
	atSource      = "out"
	atDestination = "in"
)

// latestCheckpoints has the checkpoints of the latest transfers. It is safe for concurrent use.
type latestCheckpoints struct {
	mu    sync.Mutex // guards the fields below
	all   map[string]checkpoints
	order []string // the keys of all, oldest first
}

// of returns the checkpoints of one end of a transfer.
func (l *latestCheckpoints) of(key string) checkpoints {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all[key] == nil {
		l.all[key] = make(checkpoints)
		if len(l.order) >= maxCheckpointTransfers {
			delete(l.all, l.order[0])
			l.order = l.order[1:]
		}
		l.order = append(l.order, key)
	}
	return l.all[key]
}

// checkpoints returns the checkpoints of a transfer's files at one of its ends.
func (l *UnfinishedFiles) checkpoints(mark, where string) checkpoints {
	if l == nil {
		return nil
	}
	return l.latest.of(l.path(mark) + where)
}

// decide determines how much of a large file exists: a part file of an earlier attempt, or a file
// of the same size under its name, which may be identical.
func (r *Receiver) decide(ctx context.Context, x *incomingFile) error {
	v := verdict{index: x.index}
	f, size := r.candidate(x)
	if f == nil {
		return sendRecord(ctx, r.ID, r.Out, recVerdict, v.encode())
	}
	defer f.Close()
	x.content = identity(f).content
	x.hasher = r.checkpoints.hasher(x.name, f, size)
	err := r.withKeepAlive(ctx, func() error {
		if err := x.hasher.hashUpTo(ctx, f, size); err != nil || x.isComplete {
			return err
		}
		return f.Sync()
	})
	r.rehashed += x.hasher.rehashed
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		x.hasher, x.isComplete = nil, false
	default:
		r.checkpoints.add(x.name, fileState{content: x.content, states: x.hasher.states(), isComplete: x.isComplete, name: x.found})
		v.have, v.sums = size, x.hasher.sums()
		if x.isComplete { // all or nothing
			for i := range v.sums[:len(v.sums)-1] {
				v.sums[i] = make([]byte, sumSize)
			}
		}
	}
	return sendRecord(ctx, r.ID, r.Out, recVerdict, v.encode())
}

// candidate opens existing data of a file, and returns the size to hash. A part file is preferred:
// it exists only if the file under the name was a different one.
func (r *Receiver) candidate(x *incomingFile) (f *os.File, size int64) {
	part := partName(r.Transfer, x.name)
	if info, err := r.Root.Lstat(part); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		if f, err := r.Root.OpenFile(part, os.O_RDWR|nonblock, 0); err == nil {
			return f, min(info.Size(), x.size)
		}
	}
	x.found = x.name
	if s := r.checkpoints[x.name]; s.isComplete {
		x.found = s.name
	}
	if f, info := r.target.regular(x.found); f != nil {
		if info.Size() == x.size {
			x.isComplete = true
			return f, x.size
		}
		f.Close()
	}
	return nil, 0
}

// addComplete stores that a file is complete under this name.
func (r *Receiver) addComplete(in *incomingFile, name string) {
	if r.checkpoints == nil || in.size <= smallFile {
		return
	}
	f, info := r.target.regular(name)
	if f == nil {
		return
	}
	defer f.Close()
	if info.Size() == in.size && info.ModTime().UnixNano() == in.mtime { // otherwise another program changed it already
		r.checkpoints.add(in.name, fileState{content: identity(f).content, states: []checkpoint{in.hasher.state()}, isComplete: true, name: name})
	}
}
