package stream

import (
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"hash"
	"io"
)

const (
	sumSize = sha256.Size
	// checkpointEvery is the distance of stored checkpoints in bytes: about as much is hashed again
	// after an interruption.
	checkpointEvery = 16 << 20
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

// hasher hashes a file from its beginning and retains the states at the ends of blocks.
type hasher struct {
	h            hash.Hash
	n            int64
	checkpoints  []checkpoint
	onCheckpoint func(checkpoint) // called with each checkpoint; may be nil
	rehashed     int64            // existing bytes that were hashed again
}

// newHasher continues from the last checkpoint of a file.
func newHasher(marks []checkpoint) *hasher {
	l := &hasher{h: sha256.New()}
	if len(marks) == 0 {
		return l
	}
	last := marks[len(marks)-1]
	if l.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(last.state) != nil {
		l.h = sha256.New()
		return l
	}
	l.n = last.n
	if l.checkpoints = marks; last.n%blockSize(last.n) != 0 {
		l.checkpoints = marks[:len(marks)-1]
	}
	return l
}

func (l *hasher) state() checkpoint {
	state, _ := l.h.(encoding.BinaryMarshaler).MarshalBinary() // never fails for SHA-256
	return checkpoint{l.n, state}
}

// add hashes the next bytes.
func (l *hasher) add(p []byte) {
	for len(p) > 0 {
		k := min(int64(len(p)), checkpointEvery-l.n%checkpointEvery)
		l.h.Write(p[:k])
		l.n += k
		if p = p[k:]; l.n%checkpointEvery == 0 {
			l.addCheckpoint()
		}
	}
}

func (l *hasher) addCheckpoint() {
	m := l.state()
	if b := blockSize(m.n); m.n%b == 0 {
		if k := len(l.checkpoints); k > 0 && l.checkpoints[0].n < b { // the blocks are twice as long from now on
			kept := l.checkpoints[:0]
			for _, old := range l.checkpoints {
				if old.n%b == 0 {
					kept = append(kept, old)
				}
			}
			l.checkpoints = kept
		}
		l.checkpoints = append(l.checkpoints, m)
	}
	if l.onCheckpoint != nil {
		l.onCheckpoint(m)
	}
}

// hashUpTo hashes r from the current offset to n. A shorter r is io.ErrUnexpectedEOF.
func (l *hasher) hashUpTo(ctx context.Context, r io.ReaderAt, n int64, alive func()) error {
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
		alive()
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
	for _, m := range l.checkpoints {
		h := sha256.New()
		if m.n == n && h.(encoding.BinaryUnmarshaler).UnmarshalBinary(m.state) == nil {
			return h.Sum(nil)
		}
	}
	return make([]byte, sumSize)
}

// rewind returns to an earlier state, or to the beginning, and reports whether there was a state at
// n.
func (l *hasher) rewind(n int64) bool {
	if n == l.n {
		return true
	}
	for i, m := range l.checkpoints {
		if m.n == n && l.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(m.state) == nil {
			l.n, l.checkpoints = n, l.checkpoints[:i+1]
			return true
		}
	}
	l.h, l.n, l.checkpoints = sha256.New(), 0, nil
	return n == 0
}
