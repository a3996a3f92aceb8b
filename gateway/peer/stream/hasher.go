package stream

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"slices"
)

const (
	sumSize = sha256.Size
	// checkpointEvery is the distance in bytes of the retained states of files with one block:
	// about as much is hashed again after an interruption.
	checkpointEvery = minBlock / stepsPerBlock
	stepsPerBlock   = 4
	// minBlock is the distance in bytes of the checksums that tell how much of an unfinished file
	// is valid, for files with at most maxBlocks of them.
	minBlock  = 64 << 20
	maxBlocks = 1024
)

// blockSize returns the distance of the checksums of n bytes.
func blockSize(n int64) int64 {
	b := int64(minBlock)
	for n/b > maxBlocks {
		b *= 2
	}
	return b
}

// blockCount returns the number of checksums of n bytes.
func blockCount(n int64) int {
	b := blockSize(n)
	return int((n + b - 1) / b)
}

// checkpoint is the state of a SHA-256 after a number of bytes.
type checkpoint struct {
	n    int64
	hash hash.Hash // never written to
}

func clone(h hash.Hash) hash.Hash {
	copied, _ := h.(hash.Cloner).Clone() // never fails for SHA-256
	return copied
}

// hasher hashes a file from its beginning and retains states on the way, those at the ends of
// blocks among them.
type hasher struct {
	h        hash.Hash
	n        int64
	retained []checkpoint
	rehashed int64 // existing bytes that were hashed again
}

// newHasher continues from the last of a hasher's states.
func newHasher(states []checkpoint) *hasher {
	if len(states) == 0 {
		return &hasher{h: sha256.New()}
	}
	last := states[len(states)-1]
	return &hasher{h: clone(last.hash), n: last.n, retained: states}
}

// states returns the retained states and the current one.
func (l *hasher) states() []checkpoint {
	states := slices.Clone(l.retained)
	if k := len(states); k > 0 && states[k-1].n == l.n {
		return states
	}
	return append(states, l.state())
}

func (l *hasher) state() checkpoint { return checkpoint{l.n, clone(l.h)} }

// add hashes the next bytes.
func (l *hasher) add(p []byte) {
	for len(p) > 0 {
		k := min(int64(len(p)), checkpointEvery-l.n%checkpointEvery)
		l.h.Write(p[:k])
		l.n += k
		if p = p[k:]; l.n%checkpointEvery == 0 {
			l.retain()
		}
	}
}

var zeros [256 << 10]byte

// addZeros hashes n zeros.
func (l *hasher) addZeros(ctx context.Context, n int64) error {
	for n > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		k := min(n, int64(len(zeros)))
		l.add(zeros[:k])
		n -= k
	}
	return nil
}

// retain retains the current state, and drops those that are too close together by now.
func (l *hasher) retain() {
	step := blockSize(l.n) / stepsPerBlock
	l.retained = slices.DeleteFunc(l.retained, func(c checkpoint) bool { return c.n%step != 0 })
	if l.n%step == 0 {
		l.retained = append(l.retained, l.state())
	}
}

// hashUpTo hashes r from the current offset to n. A shorter r is io.ErrUnexpectedEOF.
func (l *hasher) hashUpTo(ctx context.Context, r io.ReaderAt, n int64) error {
	buf := make([]byte, 128<<10)
	for l.n < n {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		k, err := r.ReadAt(buf[:min(int64(len(buf)), n-l.n)], l.n)
		l.add(buf[:k])
		l.rehashed += int64(k)
		if err != nil && l.n < n {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// sums returns the checksums up to the end of each block, and of everything that was hashed.
func (l *hasher) sums() [][]byte {
	list := make([][]byte, blockCount(l.n))
	for i := range list {
		list[i] = l.sum(int64(i+1) * blockSize(l.n))
	}
	if len(list) > 0 {
		list[len(list)-1] = l.h.Sum(nil)
	}
	return list
}

// sum returns the checksum up to an offset; all zeros if there is no state for it.
func (l *hasher) sum(n int64) []byte {
	if n == l.n {
		return l.h.Sum(nil)
	}
	if i := l.find(n); i >= 0 {
		return l.retained[i].hash.Sum(nil)
	}
	return make([]byte, sumSize)
}

// rewind returns to an earlier state, or to the beginning, and reports whether there was a state at
// n.
func (l *hasher) rewind(n int64) bool {
	if n == l.n {
		return true
	}
	i := l.find(n)
	*l = hasher{retained: l.retained[:i+1], h: sha256.New(), rehashed: l.rehashed}
	if i >= 0 {
		l.h, l.n = clone(l.retained[i].hash), n
	}
	return i >= 0 || n == 0
}

// find returns the index of the retained state at an offset; -1 if none exists.
func (l *hasher) find(n int64) int {
	return slices.IndexFunc(l.retained, func(c checkpoint) bool { return c.n == n })
}
